"""What a cluster needs so that it asks the linter: certificates and a manifest.

Source: Kubernetes API reference, admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration.
"""

from __future__ import annotations

import base64
import datetime
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any

from muntin.kit import urls
from muntin.kit.errors import Invalid
from muntin.lint.webhook import HEALTH, PATH

NAME = "muntin-lint"
PORT = 8443
_DAYS = 3650
_BACKDATE = datetime.timedelta(minutes=5)
# What holds pods or leads to them, in all versions that a cluster may still be asked in.
_RULES = (
    ("", ("pods", "podtemplates", "replicationcontrollers", "services")),
    ("apps", ("daemonsets", "deployments", "replicasets", "statefulsets")),
    ("batch", ("cronjobs", "jobs")),
)
Object = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Identity:
    """A certificate that signs itself, and its key, both PEM."""

    certificate: bytes
    key: bytes


def identity(host: str, now: datetime.datetime) -> Identity:
    """A certificate for ``host``, a name or an address, valid for ten years."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NAME)])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _BACKDATE)
        .not_valid_after(now + datetime.timedelta(days=_DAYS))
        .add_extension(x509.SubjectAlternativeName([_general_name(host)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    return Identity(
        made.public_bytes(pem),
        key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()),
    )


def _general_name(host: str) -> Any:
    from cryptography import x509

    try:
        return x509.IPAddress(ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def host_of(url: str) -> str:
    """The host of an address that a webhook may have.

    Raises:
        Invalid: it is not ``https://HOST[:PORT]``.
    """
    parts = urls.split(url)
    if parts.scheme != "https" or not parts.hostname or parts.path not in ("", "/"):
        raise Invalid(f"{url!r} is not the address of a webhook: write https://HOST[:PORT]")
    return parts.hostname


def service_host(namespace: str) -> str:
    """The name under which the API server calls the Service of a webhook in the cluster."""
    return f"{NAME}.{namespace}.svc"


def outside(url: str, certificate: bytes) -> list[Object]:
    """Objects for a webhook that runs outside the cluster, at ``url``."""
    return [_configuration({"url": url.rstrip("/") + PATH}, certificate)]


def inside(
    namespace: str, image: str, found: Identity, arguments: tuple[str, ...] = ()
) -> list[Object]:
    """Objects for a webhook in the cluster, on Linux, from ``image``, which has Muntin."""
    labels = {"app.kubernetes.io/name": NAME}
    meta = {"name": NAME, "namespace": namespace, "labels": labels}
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": meta,
        "type": "kubernetes.io/tls",
        "data": {"tls.crt": _text(found.certificate), "tls.key": _text(found.key)},
    }
    ports = [{"name": "https", "port": 443, "targetPort": PORT}]
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": meta,
        "spec": {"selector": labels, "ports": ports},
    }
    where = {"service": {"namespace": namespace, "name": NAME, "path": PATH}}
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}},
        secret,
        service,
        _deployment(meta, labels, image, arguments),
        _configuration(where, found.certificate),
    ]


def _deployment(meta: Object, labels: Object, image: str, arguments: tuple[str, ...]) -> Object:
    container = {
        "name": NAME,
        "image": image,
        "command": ["muntin", "webhook"],
        "args": ["--tls-cert", "/tls/tls.crt", "--tls-key", "/tls/tls.key", *arguments],
        "ports": [{"containerPort": PORT}],
        "readinessProbe": {"httpGet": {"path": HEALTH, "port": PORT, "scheme": "HTTPS"}},
        "resources": {"requests": {"cpu": "10m", "memory": "64Mi"}, "limits": {"memory": "256Mi"}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "runAsNonRoot": True,
            "runAsUser": 65532,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "volumeMounts": [{"name": "tls", "mountPath": "/tls", "readOnly": True}],
    }
    spec = {
        "nodeSelector": {"kubernetes.io/os": "linux"},
        "automountServiceAccountToken": False,
        "containers": [container],
        "volumes": [{"name": "tls", "secret": {"secretName": NAME}}],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": meta,
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }


def _configuration(where: Object, certificate: bytes) -> Object:
    """Nothing is kept waiting by a webhook that is not there; the cluster's own is left alone."""
    rules = [
        {
            "apiGroups": [group],
            "apiVersions": ["*"],
            "operations": ["CREATE", "UPDATE"],
            "resources": list(resources),
            "scope": "Namespaced",
        }
        for group, resources in _RULES
    ]
    own = {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["kube-system"]}
    webhook = {
        "name": "lint.muntin.dev",
        "admissionReviewVersions": ["v1", "v1beta1"],
        "clientConfig": {**where, "caBundle": _text(certificate)},
        "failurePolicy": "Ignore",
        "matchPolicy": "Equivalent",
        "namespaceSelector": {"matchExpressions": [own]},
        "rules": rules,
        "sideEffects": "None",
        "timeoutSeconds": 5,
    }
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": NAME},
        "webhooks": [webhook],
    }


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()
