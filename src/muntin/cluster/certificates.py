"""The cluster's own certificate authority and what it signs, kept in the state directory.

Everything is made once and kept; a certificate is made anew when it soon runs out, when its names
or addresses changed, or when another authority signed it. Identities: the plan of RBAC's default
roles (Kubernetes documentation, "PKI certificates and requirements").
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from ipaddress import IPv4Address, ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from muntin.cluster.certificate_names import (
    ADMIN,
    API_SERVER,
    CA,
    CONTROLLER_MANAGER,
    ETCD_CA,
    ETCD_CLIENT,
    ETCD_PEER,
    ETCD_SERVER,
    FRONT_PROXY_CA,
    FRONT_PROXY_CLIENT,
    KUBE_PROXY,
    KUBELET_CLIENT,
    METRICS_SERVER,
    SCHEDULER,
    SERVICE_ACCOUNT,
    SIMULATED_NODES,
    kubelet_client,
    kubelet_server,
)
from muntin.cluster.config import ClusterConfig
from muntin.cluster.seats import seats
from muntin.cluster.store_config import StoreKind
from muntin.kit import files
from muntin.kit.errors import Internal

_CA_DAYS, _LEAF_DAYS, _RENEW_DAYS = 3650, 365, 30
# Clocks of a machine and its namespaces are one, yet a step back must not break the cluster.
_BACKDATE = datetime.timedelta(minutes=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One certificate: its file name in the pki directory, its subject and what it is for.

    ``authority`` is the file name of who signs it; who serves may also be ``calling`` others by it.
    """

    file: str
    common_name: str
    authority: str = CA
    organization: str = ""
    dns_names: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    calling: bool = False

    @property
    def serves(self) -> bool:
        return bool(self.dns_names or self.addresses)


def requests(config: ClusterConfig) -> list[Request]:
    """All certificates that ``config`` needs. Pure."""
    net = config.networking
    service = ("kubernetes", "kubernetes.default", "kubernetes.default.svc")
    rows = [
        Request(
            file=API_SERVER,
            common_name="kube-apiserver",
            dns_names=(*service, f"{service[-1]}.{net.dns_domain}", "localhost", "master"),
            addresses=_of_api_servers(config),
        ),
        Request(file=ADMIN, common_name="kubernetes-admin", organization="system:masters"),
        Request(file=KUBELET_CLIENT, common_name="kube-apiserver-kubelet-client"),
        Request(
            file=FRONT_PROXY_CLIENT, common_name="front-proxy-client", authority=FRONT_PROXY_CA
        ),
        Request(file=CONTROLLER_MANAGER, common_name="system:kube-controller-manager"),
        Request(file=SCHEDULER, common_name="system:kube-scheduler"),
        Request(file=KUBE_PROXY, common_name="system:kube-proxy"),
        Request(
            file=METRICS_SERVER,
            common_name="metrics-server",
            dns_names=("metrics-server.kube-system.svc",),
        ),
    ]
    if config.store.kind is StoreKind.ETCD:
        rows += _of_etcd(config)
    if config.simulated_nodes:
        rows.append(Request(file=SIMULATED_NODES, common_name="muntin:simulated-nodes"))
    for node in config.nodes:
        name = f"system:node:{node.name}"
        rows.append(
            Request(file=kubelet_client(node.name), common_name=name, organization="system:nodes")
        )
        rows.append(
            Request(
                file=kubelet_server(node.name),
                common_name=name,
                organization="system:nodes",
                dns_names=(node.name,),
                addresses=(str(node.address),),
            )
        )
    return rows


def _of_api_servers(config: ClusterConfig) -> tuple[str, ...]:
    net = config.networking
    own = (seat.address for seat in seats(config) if seat.address != net.master_address)
    return tuple(
        map(str, (IPv4Address("127.0.0.1"), net.master_address, net.kubernetes_service_ip, *own))
    )


def _of_etcd(config: ClusterConfig) -> list[Request]:
    """Its authority is another one: who may write there may write everything."""
    addresses = ("127.0.0.1", str(config.networking.master_address))
    rows = [
        Request(
            file=file,
            common_name="master",
            authority=ETCD_CA,
            dns_names=("localhost", "master"),
            addresses=addresses,
            calling=True,
        )
        for file in (ETCD_SERVER, ETCD_PEER)
    ]
    name = "kube-apiserver-etcd-client"
    return [*rows, Request(file=ETCD_CLIENT, common_name=name, authority=ETCD_CA)]


def ensure(config: ClusterConfig, directory: Path) -> list[str]:
    """Make what is missing or outdated in ``directory``; the names of the files made anew.

    Raises:
        Internal: a file there is neither a certificate nor a key.
    """
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    now = datetime.datetime.now(datetime.UTC)
    made: list[str] = []
    # Two authorities, as kubeadm has them: who is signed by the second may speak for any user.
    authorities = {
        CA: _authority(directory, CA, f"muntin-{config.name}", now, made),
        FRONT_PROXY_CA: _authority(
            directory, FRONT_PROXY_CA, f"muntin-{config.name}-front-proxy", now, made
        ),
    }
    if config.store.kind is StoreKind.ETCD:
        name = f"muntin-{config.name}-etcd"
        authorities[ETCD_CA] = _authority(directory, ETCD_CA, name, now, made)
    for request in requests(config):
        ca, ca_key = authorities[request.authority]
        current, key = _load(directory, request.file)
        if current is None or key is None or not _fits(current, request, ca, now):
            key = ec.generate_private_key(ec.SECP256R1())
            _store(directory, request.file, _signed(request, key, ca, ca_key, now), key)
            made.append(request.file)
    if not (directory / f"{SERVICE_ACCOUNT}.key").exists():
        _store_service_account_key(directory)
        made.append(SERVICE_ACCOUNT)
    return made


def _authority(
    directory: Path, file: str, name: str, now: datetime.datetime, made: list[str]
) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    """The authority in ``file``, made anew (and added to ``made``) if it has to be."""
    certificate, key = _load(directory, file)
    if certificate is None or key is None or _runs_out(certificate, now):
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = _self_signed(name, key, now)
        _store(directory, file, certificate, key)
        made.append(file)
    return certificate, key


def _fits(
    certificate: x509.Certificate, request: Request, ca: x509.Certificate, now: datetime.datetime
) -> bool:
    if _runs_out(certificate, now) or certificate.subject != _subject(request):
        return False
    try:
        certificate.verify_directly_issued_by(ca)
    except Exception:  # whatever the library says: not ours
        return False
    return _names(certificate) == (set(request.dns_names), set(request.addresses))


def _runs_out(certificate: x509.Certificate, now: datetime.datetime) -> bool:
    end = certificate.not_valid_after_utc
    return end - now < datetime.timedelta(days=_RENEW_DAYS)


def _names(certificate: x509.Certificate) -> tuple[set[str], set[str]]:
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return set(), set()
    addresses = names.get_values_for_type(x509.IPAddress)
    return set(names.get_values_for_type(x509.DNSName)), {str(row) for row in addresses}


def _subject(request: Request) -> x509.Name:
    rows = [x509.NameAttribute(NameOID.COMMON_NAME, request.common_name)]
    if request.organization:
        rows.insert(0, x509.NameAttribute(NameOID.ORGANIZATION_NAME, request.organization))
    return x509.Name(rows)


def _self_signed(
    name: str, key: ec.EllipticCurvePrivateKey, now: datetime.datetime
) -> x509.Certificate:
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    builder = _builder(subject, subject, key, now, _CA_DAYS)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    builder = builder.add_extension(_usage(signs_certificates=True), critical=True)
    identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    return builder.add_extension(identifier, critical=False).sign(key, hashes.SHA256())


def _signed(
    request: Request,
    key: ec.EllipticCurvePrivateKey,
    ca: x509.Certificate,
    ca_key: ec.EllipticCurvePrivateKey,
    now: datetime.datetime,
) -> x509.Certificate:
    builder = _builder(_subject(request), ca.subject, key, now, _LEAF_DAYS)
    builder = builder.add_extension(
        x509.BasicConstraints(ca=False, path_length=None), critical=True
    )
    builder = builder.add_extension(_usage(signs_certificates=False), critical=True)
    purposes = [ExtendedKeyUsageOID.SERVER_AUTH] if request.serves else []
    if request.calling or not request.serves:
        purposes.append(ExtendedKeyUsageOID.CLIENT_AUTH)
    builder = builder.add_extension(x509.ExtendedKeyUsage(purposes), critical=False)
    authority = x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key())
    builder = builder.add_extension(authority, critical=False)
    if request.serves:
        names: list[x509.GeneralName] = [x509.DNSName(name) for name in request.dns_names]
        names += [x509.IPAddress(_ip(text)) for text in request.addresses]
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    return builder.sign(ca_key, hashes.SHA256())


def _ip(text: str) -> IPv4Address:
    address = ip_address(text)
    assert isinstance(address, IPv4Address)
    return address


def _builder(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePrivateKey,
    now: datetime.datetime,
    days: int,
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _BACKDATE)
        .not_valid_after(now + datetime.timedelta(days=days))
    )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=not signs_certificates,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _load(
    directory: Path, name: str
) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey] | tuple[None, None]:
    try:
        certificate_pem = (directory / f"{name}.crt").read_bytes()
        key_pem = (directory / f"{name}.key").read_bytes()
    except FileNotFoundError:
        return None, None
    try:
        key = serialization.load_pem_private_key(key_pem, password=None)
        certificate = x509.load_pem_x509_certificate(certificate_pem)
    except ValueError as err:
        path = directory / name
        raise Internal(f"{path}.crt or .key is damaged; remove both to have new ones") from err
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        return None, None
    return certificate, key


def _store(
    directory: Path,
    name: str,
    certificate: x509.Certificate,
    key: ec.EllipticCurvePrivateKey,
) -> None:
    _write(directory / f"{name}.key", _private_pem(key))
    _write(directory / f"{name}.crt", certificate.public_bytes(serialization.Encoding.PEM))


def _store_service_account_key(directory: Path) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    public = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    _write(directory / f"{SERVICE_ACCOUNT}.pub", public)
    _write(directory / f"{SERVICE_ACCOUNT}.key", _private_pem(key))


def _private_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def _write(path: Path, data: bytes) -> None:
    """Replace ``path`` in one step; keys are never readable by others, not even for a moment."""
    files.put(path, data, mode=0o600 if path.suffix == ".key" else 0o644)
