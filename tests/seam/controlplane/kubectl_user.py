"""kubectl against a control plane of this process, as an account with the role cluster-admin."""

import asyncio
import datetime
import ipaddress
import os
import socket

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from muntin.apiserver.loop import Listener, server_context
from muntin.model.resources import CLUSTER_ROLE_BINDINGS, SERVICE_ACCOUNTS

PATIENCE_S = 60
RBAC = "rbac.authorization.k8s.io"


class Kubectl:
    def __init__(self, binary, port, token, home):
        server = ["--server", f"https://127.0.0.1:{port}", "--certificate-authority", home / "crt"]
        self._command = [binary, *server, "--token", token]
        self._environment = {**os.environ, "HOME": str(home), "KUBECONFIG": "/dev/null"}

    async def run(self, *arguments, stdin=""):
        process = await asyncio.create_subprocess_exec(
            *self._command,
            *arguments,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=self._environment,
        )
        out, err = await asyncio.wait_for(process.communicate(stdin.encode()), PATIENCE_S)
        return process.returncode, out.decode(), err.decode()

    async def __call__(self, *arguments, **more):
        code, out, err = await self.run(*arguments, **more)
        assert code == 0, err
        return out + err

    async def fails(self, *arguments, **more):
        code, out, err = await self.run(*arguments, **more)
        assert code != 0, out
        return err


async def kubectl_for(plane, binary, home):
    """Serve the plane over TLS, and kubectl for it; ``home`` is a directory of its own."""
    _write_pair(home)
    sock = socket.socket()
    sock.bind(("127.0.0.1", 0))
    context = server_context(certificate=str(home / "crt"), key=str(home / "key"))
    await plane.server.serve([Listener(sock, context)])
    return Kubectl(binary, sock.getsockname()[1], await _token(plane), home)


def _write_pair(home):
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "kube-apiserver")])
    now = datetime.datetime.now(datetime.UTC)
    loopback = [x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(minutes=5))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(loopback), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    (home / "crt").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    (home / "key").write_bytes(key.private_bytes(serialization.Encoding.PEM, *plain))


async def _token(plane):
    meta = {"name": "operator", "namespace": "default"}
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta}
    await plane.admin.create(SERVICE_ACCOUNTS, account)
    binding = {
        "apiVersion": f"{RBAC}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "operator"},
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"kind": "ServiceAccount", **meta}],
    }
    await plane.admin.create(CLUSTER_ROLE_BINDINGS, binding)
    request = {"kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1", "metadata": meta}
    answer = await plane.admin.create(
        SERVICE_ACCOUNTS, {**request, "spec": {}}, "default", subresource="token"
    )
    return answer["status"]["token"]
