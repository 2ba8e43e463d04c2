"""Nothing but the administrator is in ``system:masters``: who else needs something has a role."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
GROUP = "system:" + "masters"
ADMINS = {"admin", "kubernetes-admin", "root"}
# Files of the package that may name the group, each with the reason.
NAMED_IN = {
    "src/muntin/apiserver/aggregation/availability.py": "how the server asks those behind it",
    "src/muntin/apiserver/authz/rbac.py": "the group that may do everything",
    "src/muntin/apiserver/bootstrap/objects.py": "what the server writes at its own start",
    "src/muntin/apiserver/bootstrap/roles.py": "the binding of cluster-admin",
    "src/muntin/apiserver/flowcontrol/defaults.py": "whose requests are never queued",
    "src/muntin/cluster/certificates.py": "the administrator's certificate",
    "src/muntin/cluster/control_plane.py": "the steps of kubeadm: cluster DNS and cluster-info",
}
# Users of the group, as tests ask for them: in process, or with a certificate.
USERS = re.compile(rf'\.(?:user|http_client|client|issue)\(\s*"([\w:.-]+)",\s*"{GROUP}"')
CERTIFICATES = re.compile(rf'\.pair\(\s*[^,()]+,\s*"([\w:.-]+)",\s*"{GROUP}"')
# Files of the tests that speak of the group without being in it, each with the reason.
SPOKEN_OF = {
    "tests/attacks/test_attacks_clients.py": "an impersonation that is refused",
    "tests/docs/test_identities.py": "this file",
    "tests/seam/apiserver/kubectl_world.py": "the subject of the administrator's certificate",
    "tests/seam/apiserver/test_admission_plugins.py": "nobody may ask for a certificate of it",
    "tests/seam/apiserver/test_admission_policies.py": "a policy that exempts the administrator",
    "tests/seam/apiserver/test_admission_webhooks.py": "what a webhook is told of its caller",
    "tests/seam/apiserver/test_apiserver_aggregation.py": "groups that an extension server is told",
    "tests/seam/apiserver/test_apiserver_authorization.py": "a review of what the group may do",
    "tests/seam/apiserver/transcript_run.py": "says that its users are not in it",
    "tests/seam/apiserver/test_apiserver_zpages.py": "who may read the pages of the server",
    "tests/unit/apiserver/test_flow_control.py": "how requests of the group are queued",
    "tests/unit/apiserver/test_rbac.py": "what the group may do",
    "tests/unit/apiserver/test_signing_requests.py": "who asked for a certificate",
    "tests/unit/controllers/test_rule_certificates.py": "nobody gets a certificate of it",
    "tests/unit/cluster/test_certificates.py": "the subject of the administrator's certificate",
    "tests/seam/apiserver/test_apiserver_audit.py": "what the log says of the administrator",
    "tests/seam/apiserver/test_apiserver_old_manifests.py": "an old review that names it",
}


def texts(folder):
    for path in sorted((ROOT / folder).rglob("*.py")):
        yield str(path.relative_to(ROOT)), path.read_text()


def test_the_package_names_the_group_where_it_must():
    assert {path for path, text in texts("src") if GROUP in text} == NAMED_IN.keys()


def test_tests_use_it_as_the_administrator_alone():
    found = {
        (path, name)
        for path, text in texts("tests")
        for pattern in (USERS, CERTIFICATES)
        for name in pattern.findall(text)
    }
    others = {(path, name) for path, name in found if name not in ADMINS}
    assert others == set()
    assert len(found) > 3
    assert USERS.findall(f'server.user("bob", "{GROUP}")') == ["bob"]
    assert USERS.findall(f'lab.http_client("bob", "{GROUP}")') == ["bob"]
    assert CERTIFICATES.findall(f'authority.pair("file", "bob", "{GROUP}")') == ["bob"]


def test_every_place_that_names_the_group_is_one_of_these():
    """Whatever its form: a place that no pattern knows is to be looked at."""
    unknown = {}
    for path, text in texts("tests"):
        known = sum(len(pattern.findall(text)) for pattern in (USERS, CERTIFICATES))
        if path not in SPOKEN_OF and text.count(GROUP) > known:
            unknown[path] = text.count(GROUP) - known
    assert unknown == {}
    assert {path for path in SPOKEN_OF if GROUP not in (ROOT / path).read_text()} <= {
        "tests/docs/test_identities.py"
    }
