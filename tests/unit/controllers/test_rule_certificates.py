"""CertificateSigningRequests: approval of kubelets, signers, certificates, and what is old."""

import base64
import datetime
import ipaddress

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from objects import NOW, at

from muntin.controllers.rules import certificate_requests as rule
from muntin.controllers.rules import certificate_signing as signing
from muntin.kit.errors import Invalid

NODE, NODES = "system:node:n1", "system:nodes"
CLIENT = ["client auth", "digital signature"]
SERVING = ["server auth", "digital signature", "key encipherment"]
KEY = ec.generate_private_key(ec.SECP256R1())


def subject(common_name, *organizations):
    rows = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, name) for name in organizations]
    return x509.Name([*rows, x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def pem(common_name=NODE, organizations=(NODES,), names=()):
    builder = x509.CertificateSigningRequestBuilder()
    builder = builder.subject_name(subject(common_name, *organizations))
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName(list(names)), critical=False)
    made = builder.sign(KEY, hashes.SHA256())
    return base64.b64encode(made.public_bytes(serialization.Encoding.PEM)).decode()


def request(text=None, signer=rule.KUBELET_CLIENT, usages=CLIENT, conditions=(), **spec):
    rows = [{"type": kind, "status": "True", "lastUpdateTime": at(-60)} for kind in conditions]
    return {
        "apiVersion": "certificates.k8s.io/v1",
        "kind": "CertificateSigningRequest",
        "metadata": {"name": "r", "uid": "u", "creationTimestamp": at(-60)},
        "spec": {
            "request": text or pem(),
            "signerName": signer,
            "usages": list(usages),
            "username": "bootstrapper",
            **spec,
        },
        "status": {"conditions": rows} if rows else {},
    }


DNS, IP = x509.DNSName("n1"), x509.IPAddress(ipaddress.ip_address("172.31.0.11"))
MAIL, URI = x509.RFC822Name("a@example.com"), x509.UniformResourceIdentifier("spiffe://a")


@pytest.mark.parametrize(
    ("found", "subresources"),
    [
        (request(), ["nodeclient"]),
        (request(username=NODE), ["selfnodeclient", "nodeclient"]),
        (request(usages=[*CLIENT, "key encipherment"]), ["nodeclient"]),
        (request(usages=["client auth"]), []),
        (request(pem("jane")), []),
        (request(pem(organizations=[NODES, "other"])), []),
        (request(pem(names=[DNS])), []),
    ],
)
def test_what_is_recognized_as_a_kubelets(found, subresources):
    assert rule.awaits_approval(found)
    assert [row.subresource for row in rule.recognized(found)] == subresources


@pytest.mark.parametrize(
    "found",
    [
        request(signer=rule.KUBELET_SERVING),
        request(conditions=["Approved"]),
        request(conditions=["Denied"]),
        {**request(), "status": {"certificate": "eA=="}},
    ],
)
def test_what_is_not_approved_unasked(found):
    assert not rule.awaits_approval(found)


def test_the_user_is_asked_about_and_the_approval_says_why():
    found = request(username=NODE, groups=[NODES], extra={"a": ["b"]}, uid="7")
    first = rule.recognized(found)[0]
    spec = rule.review(found, first)["spec"]
    assert spec == {
        "user": NODE,
        "uid": "7",
        "groups": [NODES],
        "extra": {"a": ["b"]},
        "resourceAttributes": {
            "group": "certificates.k8s.io",
            "resource": "certificatesigningrequests",
            "verb": "create",
            "subresource": "selfnodeclient",
            "version": "*",
        },
    }
    update = rule.approve(found, first.message)
    assert update.subresource == "approval"
    assert update.obj["status"]["conditions"] == [
        {
            "type": "Approved",
            "status": "True",
            "reason": "AutoApproved",
            "message": "Auto approving self kubelet client certificate after SubjectAccessReview.",
        }
    ]


@pytest.mark.parametrize(
    ("found", "awaits"),
    [
        (request(), False),
        (request(conditions=["Approved"]), True),
        (request(conditions=["Approved", "Denied"]), False),
        (request(conditions=["Approved", "Failed"]), False),
        (request(conditions=["Approved"], signer="example.com/own"), False),
        ({**request(conditions=["Approved"]), "status": {"certificate": "eA=="}}, False),
    ],
)
def test_what_is_signed(found, awaits):
    assert rule.awaits_signature(found) is awaits


@pytest.mark.parametrize(
    ("signer", "text", "usages", "problem"),
    [
        (rule.KUBELET_CLIENT, pem(), CLIENT, ""),
        (
            rule.KUBELET_CLIENT,
            pem(organizations=["system:masters"]),
            CLIENT,
            "subject organization is not system:nodes",
        ),
        (rule.KUBELET_CLIENT, pem(names=[DNS]), CLIENT, "DNS subjectAltNames are not allowed"),
        (rule.KUBELET_CLIENT, pem(names=[MAIL]), CLIENT, "Email subjectAltNames are not allowed"),
        (rule.KUBELET_CLIENT, pem(names=[IP]), CLIENT, "IP subjectAltNames are not allowed"),
        (rule.KUBELET_CLIENT, pem(names=[URI]), CLIENT, "URI subjectAltNames are not allowed"),
        (
            rule.KUBELET_CLIENT,
            pem("n1"),
            CLIENT,
            "subject common name does not begin with system:node:",
        ),
        (
            rule.KUBELET_CLIENT,
            pem(),
            SERVING,
            "usages did not match [client auth digital signature key encipherment]",
        ),
        (rule.KUBELET_SERVING, pem(names=[DNS, IP]), SERVING, ""),
        (rule.KUBELET_SERVING, pem(), SERVING, "DNS or IP subjectAltName is required"),
        (
            rule.KUBELET_SERVING,
            pem(names=[IP, URI]),
            SERVING,
            "URI subjectAltNames are not allowed",
        ),
        (
            rule.KUBELET_SERVING,
            pem(names=[IP]),
            CLIENT,
            "usages did not match [digital signature key encipherment server auth]",
        ),
        (rule.API_CLIENT, pem("jane", ["dev"]), CLIENT, ""),
        (
            rule.API_CLIENT,
            pem("jane"),
            SERVING,
            "invalid usage for client certificate: server auth",
        ),
        (
            rule.API_CLIENT,
            pem("jane"),
            ["digital signature"],
            "missing required usage for client certificate: client auth",
        ),
        (rule.LEGACY, pem("anything"), ["cert sign"], ""),
    ],
)
def test_what_signers_take(signer, text, usages, problem):
    found = request(text, signer, usages, ["Approved"])
    assert rule.problem(found) == problem
    if problem:
        update = rule.fail(found, problem, NOW)
        row = update.obj["status"]["conditions"][-1]
        assert (row["type"], row["reason"]) == ("Failed", "SignerValidationFailure")
        assert (row["message"], update.subresource) == (problem, "status")


def moment(seconds):
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC)


def authority(ends_s=NOW + 10 * 365 * 86400):
    key = ec.generate_private_key(ec.SECP256R1())
    name = subject("ca")
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(moment(NOW - 86400))
        .not_valid_after(moment(ends_s))
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return signing.Authority(made.public_bytes(serialization.Encoding.PEM), private)


AUTHORITY = authority()


def issued(found, by=AUTHORITY):
    update = signing.issue(found, by, NOW, 42)
    assert update.subresource == "status"
    return x509.load_pem_x509_certificate(base64.b64decode(update.obj["status"]["certificate"]))


def test_a_certificate_says_what_was_asked_for_and_no_more():
    found = request(pem(names=[DNS, IP]), rule.KUBELET_SERVING, SERVING, ["Approved"])
    made = issued(found)
    made.verify_directly_issued_by(AUTHORITY.certificate)
    assert (made.subject, made.serial_number) == (subject(NODE, NODES), 42)
    assert made.public_key() == KEY.public_key()
    kinds = [(type(row.value), row.critical) for row in made.extensions]
    assert kinds == [
        (x509.KeyUsage, True),
        (x509.ExtendedKeyUsage, False),
        (x509.BasicConstraints, True),
        (x509.AuthorityKeyIdentifier, False),
        (x509.SubjectAlternativeName, False),
    ]
    usage, extended, basic, _, names = (row.value for row in made.extensions)
    assert usage.digital_signature
    assert usage.key_encipherment
    assert not usage.key_cert_sign
    assert list(extended) == [ExtendedKeyUsageOID.SERVER_AUTH]
    assert not basic.ca
    assert list(names) == [DNS, IP]


@pytest.mark.parametrize(
    ("asked_s", "lives_s"),
    [  # five minutes earlier at both ends; short ones keep their end
        (None, 365 * 86400 - 300),
        (86400, 86400 - 300),
        (8 * 3600, 8 * 3600 - 300),
        (3600, 3600),
        (60, 600),  # ten minutes at least
        (400 * 86400, 365 * 86400 - 300),
    ],
)
def test_how_long_it_lives(asked_s, lives_s):
    spec = {} if asked_s is None else {"expirationSeconds": asked_s}
    made = issued(request(conditions=["Approved"], **spec))
    assert made.not_valid_before_utc == moment(NOW - 300)
    assert made.not_valid_after_utc == moment(NOW + lives_s)


def test_none_outlives_its_signer():
    made = issued(request(), authority(NOW + 7200))
    assert made.not_valid_after_utc == moment(NOW + 7200)
    with pytest.raises(Invalid, match="refusing to sign"):
        issued(request(), authority(NOW - 1))


@pytest.mark.parametrize(
    ("usages", "extended"),
    [
        (["client auth", "any", "server auth"], ["2.5.29.37.0", "server", "client"]),
        (["s/mime", "email protection"], ["1.3.6.1.5.5.7.3.4"]),
        (["cert sign"], []),
    ],
)
def test_usages_stand_in_one_order(usages, extended):
    known = {
        "server": ExtendedKeyUsageOID.SERVER_AUTH.dotted_string,
        "client": ExtendedKeyUsageOID.CLIENT_AUTH.dotted_string,
    }
    made = issued(request(usages=usages, signer=rule.LEGACY))
    rows = [row.value for row in made.extensions if isinstance(row.value, x509.ExtendedKeyUsage)]
    assert [oid.dotted_string for row in rows for oid in row] == [
        known.get(oid, oid) for oid in extended
    ]


def test_usages_that_nobody_knows():
    with pytest.raises(Invalid, match="unrecognized usage values"):
        issued(request(usages=["world peace"]))


HOUR, DAY = 3600, 86400
GIVEN = {"certificate": "eA=="}


def aged(kind=None, seconds=0, **status):
    found = request()
    found["metadata"]["creationTimestamp"] = at(-seconds)
    if kind:
        row = {"type": kind, "status": "True", "lastUpdateTime": at(-seconds)}
        found["status"] = {"conditions": [row], **status}
    return found


@pytest.mark.parametrize(
    ("found", "expires", "old"),
    [
        (aged(None, DAY - 1), None, False),
        (aged(None, DAY + 1), None, True),
        (aged("Denied", HOUR - 1), None, False),
        (aged("Denied", HOUR + 1), None, True),
        (aged("Failed", HOUR + 1), None, True),
        (aged("Approved", HOUR - 1, **GIVEN), NOW + 60, False),
        (aged("Approved", HOUR + 1, **GIVEN), NOW + 60, True),
        (aged("Approved", 60, **GIVEN), NOW - 1, True),
        (aged("Approved", DAY - 1), None, False),
        (aged("Approved", DAY + 1), None, True),
    ],
)
def test_what_is_old_goes(found, expires, old):
    (action,) = rule.clean(found, expires, NOW)
    assert (type(action).__name__ == "Delete") is old


def test_when_a_certificate_ends():
    update = signing.issue(request(), AUTHORITY, NOW, 1)
    assert signing.expires(update.obj) == NOW + 365 * DAY - 300
    assert signing.expires(request()) is None
    assert signing.expires({"status": GIVEN}) is None
