"""Pod Security Standards: every control refuses what it names, and says so as upstream does.

Expectations are typed by hand from the Pod Security Standards page and upstream's check texts.
"""

import pytest

from muntin.model.pod_security.evaluation import evaluate
from muntin.model.pod_security.levels import LevelVersion, Policy, policy_of

NEWEST = 34
HARDENED = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}


def pod(security=None, container=None, metadata=None, **spec):
    row = {"name": "c", "image": "i", "securityContext": security or {}, **(container or {})}
    return {"metadata": {"name": "p", **(metadata or {})}, "spec": {"containers": [row], **spec}}


def detail(found, level="baseline", minor=None, newest=NEWEST):
    asked = LevelVersion(level, minor)
    return evaluate(asked, newest, found["metadata"], found["spec"]).detail


BASELINE = [
    (pod({"privileged": True}),
     'privileged (container "c" must not set securityContext.privileged=true)'),
    (pod(hostNetwork=True, hostIPC=True),
     "host namespaces (hostNetwork=true, hostIPC=true)"),
    (pod(volumes=[{"name": "v", "hostPath": {"path": "/"}}]), 'hostPath volumes (volume "v")'),
    (pod(container={"ports": [{"containerPort": 1, "hostPort": 80}]}),
     'hostPort (container "c" uses hostPort 80)'),
    (pod({"capabilities": {"add": ["SYS_ADMIN", "CHOWN"]}}),
     'non-default capabilities (container "c" must not include "SYS_ADMIN" in '
     "securityContext.capabilities.add)"),
    (pod({"procMount": "Unmasked"}),
     'procMount (container "c" must not set securityContext.procMount to "Unmasked")'),
    (pod({"seccompProfile": {"type": "Unconfined"}}),
     'seccompProfile (container "c" must not set securityContext.seccompProfile.type to '
     '"Unconfined")'),
    (pod(securityContext={"sysctls": [{"name": "kernel.msgmax", "value": "1"}]}),
     "forbidden sysctls (kernel.msgmax)"),
    (pod(securityContext={"windowsOptions": {"hostProcess": True}}),
     "hostProcess (pod must not set securityContext.windowsOptions.hostProcess=true)"),
    (pod({"seLinuxOptions": {"type": "x_t", "user": "u"}}),
     'seLinuxOptions (container "c" set forbidden securityContext.seLinuxOptions: type "x_t"; '
     "user may not be set)"),
    (pod({"appArmorProfile": {"type": "Unconfined"}}),
     'forbidden AppArmor profile (container "c" must not set AppArmor profile type to '
     '"Unconfined")'),
    (pod(metadata={"annotations": {"container.apparmor.security.beta.kubernetes.io/c": "x"}}),
     "forbidden AppArmor profile (annotation must not set AppArmor profile type to "
     '"container.apparmor.security.beta.kubernetes.io/c="x"")'),
    (pod(container={"livenessProbe": {"httpGet": {"host": "h", "port": 1}}}),
     'probe or lifecycle host (container "c" uses probe or lifecycle host "h")'),
]  # fmt: skip


@pytest.mark.parametrize(("found", "text"), BASELINE)
def test_baseline_refuses(found, text):
    assert detail(found) == text
    assert detail(found, "privileged") == ""


def test_ordinary_pods_are_baseline():
    assert detail(pod()) == ""
    assert detail(pod(HARDENED), "restricted") == ""


def test_restricted_lists_all_that_is_missing_in_upstreams_order():
    assert detail(pod(), "restricted") == (
        'allowPrivilegeEscalation != false (container "c" must set '
        "securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container "
        '"c" must set securityContext.capabilities.drop=["ALL"]), runAsNonRoot != true (pod or '
        'container "c" must set securityContext.runAsNonRoot=true), seccompProfile (pod or '
        'container "c" must set securityContext.seccompProfile.type to "RuntimeDefault" or '
        '"Localhost")'
    )


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"runAsUser": 0}, 'runAsUser=0 (container "c" must not set runAsUser=0)'),
        ({"runAsNonRoot": False},
         'runAsNonRoot != true (container "c" must not set securityContext.runAsNonRoot=false)'),
        ({"capabilities": {"drop": ["ALL"], "add": ["CHOWN"]}},
         'unrestricted capabilities (container "c" must not include "CHOWN" in '
         "securityContext.capabilities.add)"),
        ({"capabilities": {"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]}}, ""),
    ],
)  # fmt: skip
def test_restricted_containers(change, text):
    assert detail(pod({**HARDENED, **change}), "restricted") == text


def test_restricted_volumes_stand_in_for_host_paths():
    found = pod(HARDENED, volumes=[{"name": "v", "hostPath": {}}, {"name": "w", "nfs": {}}])
    assert detail(found, "restricted") == (
        'restricted volume types (volumes "v", "w" use restricted volume types "hostPath", "nfs")'
    )


@pytest.mark.parametrize(
    ("found", "level", "since"),
    [
        (pod(), "restricted", 0),
        (pod({"runAsNonRoot": True}), "restricted", 8),
        (pod({"runAsNonRoot": True, "allowPrivilegeEscalation": False}), "restricted", 19),
        (pod({**HARDENED, "capabilities": {}}), "restricted", 22),
        (pod({**HARDENED, "runAsUser": 0}), "restricted", 23),
        (pod(container={"startupProbe": {"tcpSocket": {"host": "h"}}}), "baseline", 34),
    ],
)
def test_controls_begin_with_their_version(found, level, since):
    assert detail(found, level, since)
    if since:
        assert not detail(found, level, since - 1)


@pytest.mark.parametrize(
    ("name", "since"),
    [
        ("net.ipv4.ip_local_reserved_ports", 27),
        ("net.ipv4.tcp_fin_timeout", 29),
        ("net.ipv4.tcp_rmem", 32),
        ("net.ipv4.tcp_notsent_lowat", 37),
    ],
)
def test_sysctls_that_later_versions_allow(name, since):
    found = pod(securityContext={"sysctls": [{"name": name, "value": "1"}]})
    assert detail(found, minor=since - 1, newest=40)
    assert not detail(found, minor=since, newest=40)


def test_windows_pods_are_free_of_what_windows_does_not_have():
    found = pod({"runAsNonRoot": True}, os={"name": "windows"})
    assert detail(found, "restricted", 25) == ""
    assert "unrestricted capabilities" in detail(found, "restricted", 24)


def test_user_namespaces_relax_the_newest_policies():
    found = pod({**HARDENED, "runAsUser": 0, "runAsNonRoot": False}, hostUsers=False)
    assert detail(found, "restricted", newest=35) == ""
    assert detail(found, "restricted", newest=34)
    unmasked = pod({**HARDENED, "procMount": "Unmasked"}, hostUsers=False)
    assert detail(unmasked, newest=35) == ""
    assert detail(unmasked, "restricted", newest=35).startswith("procMount")


def test_latest_means_the_servers_release():
    found = pod(container={"startupProbe": {"tcpSocket": {"host": "h"}}})
    assert detail(found, newest=33) == ""
    assert detail(found, minor=99, newest=33) == ""


def test_reasons_in_short():
    found = pod({"privileged": True}, hostPID=True)
    result = evaluate(LevelVersion("baseline"), NEWEST, found["metadata"], found["spec"])
    assert result.reason == "host namespaces, privileged"


PREFIX = "pod-security.kubernetes.io/"


def labelled(**labels):
    return policy_of({PREFIX + key.replace("_", "-"): text for key, text in labels.items()})


def test_labels_make_a_policy():
    policy, causes = labelled(enforce="baseline", enforce_version="v1.7", audit="restricted")
    assert not causes
    assert str(policy.enforce) == "baseline:v1.7"
    assert str(policy.audit) == "restricted:latest"
    assert str(policy.warn) == "baseline:v1.7"  # follows enforce unless it has a label
    assert labelled(enforce="restricted", warn="privileged")[0].warn.level == "privileged"
    assert policy_of(None) == (Policy(), [])


def test_wrong_labels_are_told_and_fail_safe():
    policy, causes = labelled(enforce="strict", warn="loud", audit_version="1.7")
    assert policy.enforce.level == "restricted"
    assert policy.warn.level == "privileged"
    assert [cause.field for cause in causes] == [
        f"metadata.labels[{PREFIX}{name}]" for name in ("enforce", "audit-version", "warn")
    ]
    assert causes[0].message == (
        'Invalid value: "strict": must be one of privileged, baseline, restricted'
    )
    assert causes[1].message == 'Invalid value: "1.7": must be "latest" or "v1.x"'
