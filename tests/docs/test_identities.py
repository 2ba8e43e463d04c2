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
# In-process users, as tests ask a server for them.
PAIR = re.compile(rf'\.user\(\s*"([\w:.-]+)",\s*"{GROUP}"')


def texts(folder):
    for path in sorted((ROOT / folder).rglob("*.py")):
        yield str(path.relative_to(ROOT)), path.read_text()


def test_the_package_names_the_group_where_it_must():
    assert {path for path, text in texts("src") if GROUP in text} == NAMED_IN.keys()


def test_tests_use_it_as_the_administrator_alone():
    found = {(path, name) for path, text in texts("tests") for name in PAIR.findall(text)}
    others = {(path, name) for path, name in found if name not in ADMINS}
    assert others == set()
    assert len(found) > 3
    assert PAIR.findall(f'server.user("bob", "{GROUP}")') == ["bob"]
