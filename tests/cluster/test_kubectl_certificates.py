"""A certificate that kubectl asks for and approves is one that the API server knows."""

from __future__ import annotations

import base64

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from whole_cluster import Cluster, eventually


def asked(common_name: str, organization: str) -> tuple[bytes, str]:
    """A key in PEM, and the request of a certificate for it."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, organization),
            x509.NameAttribute(NameOID.COMMON_NAME, common_name),
        ]
    )
    builder = x509.CertificateSigningRequestBuilder().subject_name(subject)
    request = builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return private, base64.b64encode(request).decode()


def request(name: str, text: str, signer: str) -> dict[str, object]:
    return {
        "apiVersion": "certificates.k8s.io/v1",
        "kind": "CertificateSigningRequest",
        "metadata": {"name": name},
        "spec": {
            "request": text,
            "signerName": f"kubernetes.io/{signer}",
            "usages": ["client auth", "digital signature"],
            "expirationSeconds": 3600,
        },
    }


def certificate(cluster: Cluster, name: str) -> bytes:
    text = eventually(lambda: cluster.get("csr", name)["status"].get("certificate"))
    return base64.b64decode(text)


def test_an_approved_request_yields_a_certificate_that_works(cluster: Cluster) -> None:
    key, text = asked("jane", "developers")
    cluster.apply(request("jane", text, "kube-apiserver-client"))
    cluster.kubectl("certificate", "approve", "jane")
    files = [cluster.folder / name for name in ("jane.crt", "jane.key")]
    for file, content in zip(files, (certificate(cluster, "jane"), key), strict=True):
        file.write_bytes(content)
    assert "Approved,Issued" in cluster.kubectl("get", "csr", "jane").stdout
    cluster.kubectl("create", "clusterrolebinding", "jane-views", "--clusterrole=view",
                    "--group=developers")  # fmt: skip
    ca = cluster.folder / "jane-ca.crt"
    path = "jsonpath={.clusters[0].cluster.certificate-authority-data}"
    config = cluster.kubectl("config", "view", "--raw", "-o", path)
    ca.write_bytes(base64.b64decode(config.stdout))
    jane = (
        "--kubeconfig=/dev/null",
        f"--server=https://127.0.0.1:{cluster.port}",
        f"--certificate-authority={ca}",
        f"--client-certificate={files[0]}",
        f"--client-key={files[1]}",
    )
    assert eventually(lambda: cluster.kubectl(*jane, "get", "pods", check=False).returncode == 0)
    refused = cluster.kubectl(*jane, "get", "secrets", check=False)
    assert 'User "jane" cannot list resource "secrets"' in refused.stderr


def test_a_denied_request_gets_none_and_a_wrong_one_fails(cluster: Cluster) -> None:
    _, text = asked("system:node:n1", "people")
    cluster.apply(request("denied", text, "kube-apiserver-client"))
    cluster.apply(request("wrong", text, "kube-apiserver-client-kubelet"))
    cluster.kubectl("certificate", "deny", "denied")
    cluster.kubectl("certificate", "approve", "wrong")

    def failed() -> list[str]:
        rows = cluster.get("csr", "wrong")["status"]["conditions"]
        return [row["message"] for row in rows if row["type"] == "Failed"]

    assert eventually(failed) == ["subject organization is not system:nodes"]
    assert "certificate" not in cluster.get("csr", "denied")["status"]


def test_a_kubelet_with_the_role_is_approved_unasked(cluster: Cluster) -> None:
    _, text = asked("system:node:n1", "system:nodes")
    cluster.kubectl(
        "create",
        "clusterrolebinding",
        "admins-bootstrap",
        "--clusterrole=system:certificates.k8s.io:certificatesigningrequests:nodeclient",
        "--user=kubernetes-admin",
    )
    cluster.apply(request("node", text, "kube-apiserver-client-kubelet"))
    made = x509.load_pem_x509_certificate(certificate(cluster, "node"))
    assert made.subject.rfc4514_string() == "CN=system:node:n1,O=system:nodes"
    (row,) = cluster.get("csr", "node")["status"]["conditions"]
    assert (row["type"], row["reason"]) == ("Approved", "AutoApproved")
    text = "Auto approving kubelet client certificate after SubjectAccessReview."
    assert row["message"] == text
