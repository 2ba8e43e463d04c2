"""A webhook of these tests: HTTPS on loopback, with a certificate of an authority of its own."""

import asyncio
import base64
import datetime
import ipaddress
import json
import ssl
import tempfile
from contextlib import asynccontextmanager
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from muntin.kit.http.messages import Response
from muntin.kit.http.server import HttpServer


def _name(text):
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _certificate(subject, key, issuer, issuer_key, *extensions):
    now = datetime.datetime.now(datetime.UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(_name(subject))
        .issuer_name(_name(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(hours=1))
    )
    for extension, critical in extensions:
        builder = builder.add_extension(extension, critical)
    return builder.sign(issuer_key, hashes.SHA256())


class Authority:
    """Signs the certificates of webhooks; ``bundle`` is its own, as a caBundle has it."""

    def __init__(self):
        self.key = ec.generate_private_key(ec.SECP256R1())
        basic = x509.BasicConstraints(ca=True, path_length=None)
        self.certificate = _certificate("hooks", self.key, "hooks", self.key, (basic, True))
        pem = self.certificate.public_bytes(serialization.Encoding.PEM)
        self.bundle = base64.b64encode(pem).decode()

    def context(self, *names):
        """The TLS context of a server with those DNS names, besides 127.0.0.1."""
        key = ec.generate_private_key(ec.SECP256R1())
        alternatives = [x509.DNSName(name) for name in names]
        alternatives.append(x509.IPAddress(ipaddress.ip_address("127.0.0.1")))
        found = _certificate(
            "hook", key, "hooks", self.key, (x509.SubjectAlternativeName(alternatives), False)
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        with tempfile.TemporaryDirectory() as directory:
            file = Path(directory) / "pair"
            file.write_bytes(
                found.public_bytes(serialization.Encoding.PEM)
                + key.private_bytes(
                    serialization.Encoding.PEM,
                    serialization.PrivateFormat.PKCS8,
                    serialization.NoEncryption(),
                )
            )
            context.load_cert_chain(file)
        return context


AUTHORITY = Authority()


class WebhookServer:
    """``answers`` by path: a function of the AdmissionRequest that gives the response's members,
    or what `Response` to send instead. ``seen`` holds the requests by path, in order."""

    def __init__(self):
        self.answers = {}
        self.seen = {}
        self.reviews = []
        self.queries = []
        self.http = HttpServer(self._handle)
        self.port = 0

    async def _handle(self, request):
        review = json.loads(request.body)
        asked = review["request"]
        self.reviews.append(review)
        self.queries.append(request.query)
        self.seen.setdefault(request.path, []).append(asked)
        answer = self.answers.get(request.path, lambda _: {"allowed": True})(asked)
        if asyncio.iscoroutine(answer):
            answer = await answer
        if isinstance(answer, Response):
            return answer
        found = {**review, "request": None, "response": {"uid": asked["uid"], **answer}}
        return Response(200, {"Content-Type": "application/json"}, json.dumps(found).encode())

    def client_config(self, path, **changes):
        """The clientConfig that leads here."""
        url = f"https://127.0.0.1:{self.port}{path}"
        return {"url": url, "caBundle": AUTHORITY.bundle, **changes}


@asynccontextmanager
async def webhook_server(*names):
    """A running server, whose certificate is for 127.0.0.1 and ``names``."""
    found = WebhookServer()
    found.port = await found.http.listen_tcp("127.0.0.1", 0, AUTHORITY.context(*names))
    try:
        yield found
    finally:
        await found.http.close(0.1)


def patch(*operations):
    """The members of a response that allows with a JSON patch."""
    text = base64.b64encode(json.dumps(operations).encode()).decode()
    return {"allowed": True, "patchType": "JSONPatch", "patch": text}


def rule(resources=("pods",), operations=("*",), groups=("",), versions=("*",), **more):
    """A rule of a webhook."""
    return {"apiGroups": list(groups), "apiVersions": list(versions),
            "resources": list(resources), "operations": list(operations), **more}  # fmt: skip


def hook(server, path, *rules, name="", **more):
    """One webhook of a configuration, called at ``path``."""
    return {
        "name": name or f"{path[1:]}.example.com",
        "clientConfig": server.client_config(path),
        "rules": list(rules) or [rule()],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        **more,
    }


def configuration(kind, *webhooks, name="hooks"):
    """A MutatingWebhookConfiguration or ValidatingWebhookConfiguration."""
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": f"{kind}WebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": list(webhooks),
    }


MUTATING = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
VALIDATING = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
