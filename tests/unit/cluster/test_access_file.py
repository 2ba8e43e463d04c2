"""The section apiServer of the Cluster file."""

import re
from dataclasses import fields
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from muntin.apiserver.access_config import AccessConfig
from muntin.cluster import cluster_info, config_store
from muntin.cluster.settings import resolve
from muntin.cluster.settings_file import read
from muntin.kit.errors import Invalid

HEAD = "apiVersion: muntin.dev/v1alpha1\nkind: Cluster\n"
POLICY = "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n"
KUBECONFIG = """
clusters: [{name: c, cluster: {server: https://hook.example.com/ask,
  certificate-authority-data: Q0E=}}]
users: [{name: u, user: {token: abc}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
"""


def written(folder, text, **files):
    for name, content in files.items():
        (folder / name.replace("_", ".")).write_text(content)
    path = folder / "cluster.yaml"
    path.write_text(HEAD + text)
    return resolve(read(path))


def test_without_the_section_everything_is_as_it_was(tmp_path):
    assert written(tmp_path, "").access == AccessConfig()


def test_all_of_it(tmp_path):
    config = written(
        tmp_path,
        """
apiServer:
  anonymous: true
  anonymousPaths: [/healthz, /readyz]
  apiAudiences: [api, other]
  serviceAccountIssuers: [https://old.example.com]
  staticTokens: tokens.csv
  oidc:
  - issuerURL: https://login.example.com
    clientID: kubernetes
    usernameClaim: email
    groupsClaim: groups
    groupsPrefix: "oidc:"
    requiredClaims: {hd: example.com}
  authenticationWebhook: {kubeconfig: hook.yaml, cacheSeconds: 5}
  authorizationModes: [Node, RBAC, Webhook]
  authorizationWebhook: {kubeconfig: hook.yaml, failurePolicy: Deny}
  audit:
    policy: policy.yaml
    log: {path: /tmp/audit.log, mode: batch, maxSizeMB: 5, maxBackups: 3}
    webhook: hook.yaml
""",
        tokens_csv='t,jane,1,"dev,ops"\n',
        hook_yaml=KUBECONFIG,
        policy_yaml=POLICY,
    )
    access = config.access
    assert access.anonymous_paths == ("/healthz", "/readyz")
    assert access.more_issuers == ("https://old.example.com",)
    assert access.oidc[0].required_claims == {"hd": "example.com"}
    remote = access.authentication_webhook.remote
    assert (remote.url, remote.ca, remote.token) == ("https://hook.example.com/ask", b"CA", "abc")
    assert access.authorization_modes[-1] == "Webhook"
    assert access.authorization_webhook.failure_policy == "Deny"
    assert access.audit.log.max_size_mb == 5
    assert access.audit.policy["rules"] == [{"level": "Metadata"}]
    assert config_store.decode(config_store.encode(config)) == config


@pytest.mark.parametrize(
    "text, message",
    [
        ("{authorizationModes: [RBAC, Rules]}", r"5:.*'Rules' is unknown"),
        ("{authorizationModes: [RBAC, Webhook]}", "belong together"),
        ("{authorizationModes: [RBAC, RBAC]}", "RBAC appears twice"),
        ("{staticTokens: none.csv}", "none.csv: No such file"),
        ("{staticTokens: short.csv}", "line 1: must have the columns"),
        ("{oidc: [{issuerURL: http://x, clientID: k}]}", "must begin with https://"),
        ("{oidc: [{issuerURL: https://x}]}", "clientID is missing"),
        ("{audit: {policy: bad.yaml, log: {path: /tmp/x}}}", "level: 'All' must be one of"),
        ("{audit: {policy: good.yaml}}", "give log or webhook"),
        ("{audit: {policy: good.yaml, log: {path: x.log}}}", "must be an absolute path"),
        ("{audit: {policy: good.yaml, log: {path: /x, mode: fast}}}", "mode 'fast'"),
        ("{anonymus: true}", "did you mean anonymous"),
        ("{serviceAccountKeys: [good.yaml]}", "no PEM block"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(tmp_path, text, message):
    files = {
        "short_csv": "t,jane\n",
        "good_yaml": POLICY,
        "bad_yaml": POLICY.replace("Metadata", "All"),
    }
    with pytest.raises(Invalid, match=message) as caught:
        written(tmp_path, f"# a line\n# another\napiServer: {text}\n", **files)
    assert "cluster.yaml:5:" in caught.value.message


def test_cluster_info_is_for_everybody():
    (_, info), (_, role), (_, binding) = cluster_info.objects("https://172.31.0.10:6443", b"CA")
    assert "server: https://172.31.0.10:6443" in info["data"]["kubeconfig"]
    assert "certificate-authority-data: Q0E=" in info["data"]["kubeconfig"]
    assert role["rules"][0]["resourceNames"] == ["cluster-info"]
    assert binding["subjects"][0]["name"] == "system:anonymous"


def test_the_page_shows_every_field_and_is_right(tmp_path):
    page = Path(__file__).parent.parent.parent.parent / "docs/reference/access.md"
    (text,) = re.findall(r"```yaml\n(.*?)```", page.read_text(), re.DOTALL)
    modes = text.replace("[Node, RBAC]", "[Node, RBAC, Webhook]")
    key = ec.generate_private_key(ec.SECP256R1()).public_key()
    pem = key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    (tmp_path / "old-sa.pub").write_bytes(pem)
    (tmp_path / "audit-policy.yaml").write_text(POLICY)
    for name in ("authn", "authz", "audit"):
        (tmp_path / f"{name}.kubeconfig").write_text(KUBECONFIG)
    files = {"tokens_csv": "t,jane,1\n", "login-ca_pem": "CA"}
    found = written(tmp_path, modes, **files).access
    taken = {field.name for field in fields(AccessConfig)} - {"client_ca", "request_header"}
    default = AccessConfig()
    same = {name for name in taken if getattr(found, name) == getattr(default, name)}
    assert same == {"anonymous", "bootstrap_tokens", "extend_token_expiration",
                    "max_token_expiration_s"}  # fmt: skip
    assert all(
        word in text
        for word in ("anonymous:", "bootstrapTokens:", "extendToken", "maxTokenExpirationSeconds:")
    )
