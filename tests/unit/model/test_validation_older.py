"""Rules that older versions of the API have otherwise."""

from __future__ import annotations

from typing import Any

import pytest

from muntin.model import defaults, validation
from muntin.model.resources import EVENTS, JOBS, PODS

CONTAINER = {"name": "c", "image": "i"}
SIDE = {"name": "d", "image": "i"}


def problems(server: tuple[int, int], meta: Any = None, **spec: Any) -> list[str]:
    pod: dict[str, Any] = {
        "metadata": {"name": "a", "namespace": "default", **(meta or {})},
        "spec": {"containers": [dict(CONTAINER)], **spec},
    }
    defaults.apply(PODS, pod)
    causes = validation.validate_create(PODS, pod, server=server)
    return [f"{cause.field}: {cause.message}" for cause in causes]


def test_names_of_variables_were_those_of_shells() -> None:
    wrong = [{**CONTAINER, "env": [{"name": "ProgramFiles(x86)"}]}]
    assert problems((1, 32), containers=wrong) == []
    (text,) = problems((1, 31), containers=wrong)
    assert text.startswith('spec.containers[0].env[0].name: Invalid value: "ProgramFiles(x86)": ')
    assert "and must not start with a digit" in text


@pytest.mark.parametrize(("server", "unit"), [((1, 35), "bytes"), ((1, 34), "characters")])
def test_lengths_are_in_bytes(server: tuple[int, int], unit: str) -> None:
    (text,) = problems(server, {"labels": {"a": "b" * 64}})
    assert text.endswith(f"must be no more than 63 {unit}")


def test_containers_had_no_restart_policy_of_their_own() -> None:
    never = [{**CONTAINER, "restartPolicy": "Never"}]
    assert problems((1, 35), containers=never) == []
    assert problems((1, 34), containers=never) == [
        "spec.containers[0].restartPolicy: Forbidden: may not be set for non-init containers"
    ]
    started = [{**SIDE, "restartPolicy": "Never"}]
    assert problems((1, 34), initContainers=started) == [
        'spec.initContainers[0].restartPolicy: Unsupported value: "Never": supported values: '
        '"Always"'
    ]
    ruled = [{**SIDE, "restartPolicy": "Always", "restartPolicyRules": [{"action": "Restart"}]}]
    assert problems((1, 35), initContainers=ruled) == [
        "spec.initContainers[0].restartPolicyRules: Forbidden: restartPolicyRules are not allowed "
        "for init containers with restart policy Always"
    ]


def test_init_containers_had_no_resize_policy() -> None:
    policy = [{"resourceName": "cpu", "restartPolicy": "NotRequired"}]
    resized = [{**SIDE, "resizePolicy": policy}]
    assert problems((1, 36), initContainers=resized) == []
    (text,) = problems((1, 35), initContainers=resized)
    assert text.endswith("must not be set for init containers")


def test_users_of_a_pods_own_had_another_name() -> None:
    for server, name in (((1, 36), "hostUsers"), ((1, 35), "pod.Spec.HostUsers")):
        assert problems(server, hostUsers=False, hostPID=True) == [
            f"spec.HostPID: Forbidden: when `{name}` is false"
        ]


def test_places_of_selectors_and_aliases() -> None:
    term = {"topologyKey": "z", "labelSelector": {"matchLabels": {"a": "b c"}}}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    (text,) = problems((1, 20), affinity={"podAffinity": required})
    assert ".matchExpressions.matchLabels: " in text
    (text,) = problems((1, 20), hostAliases=[{"ip": "x"}])
    assert text.startswith("spec.hostAliases.ip: ")
    spread = [{**term, "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}]
    assert problems((1, 20), topologySpreadConstraints=spread) == []
    (text,) = problems((1, 25), topologySpreadConstraints=spread)
    assert text.startswith("spec.topologySpreadConstraints[0].labelSelector.matchLabels: ")


def test_a_jobs_selector_that_is_none_is_refused_as_such() -> None:
    template = {"spec": {"restartPolicy": "Never", "containers": [dict(CONTAINER)]}}
    selector = {"matchExpressions": [{"key": "a", "operator": "x"}]}
    spec = {"selector": selector, "template": template}
    job = {"metadata": {"name": "a", "namespace": "default", "uid": "u"}, "spec": spec}
    defaults.apply(JOBS, job)
    found = [cause.field for cause in validation.validate_create(JOBS, job)]
    assert "spec.selector.matchExpressions[0].operator" in found


@pytest.mark.parametrize(("server", "fields"), [((1, 20), []), ((1, 25), ["message"])])
def test_events_could_be_changed(server: tuple[int, int], fields: list[str]) -> None:
    """Upstream's conformance spec of 1.20 patches the note of an event of events.k8s.io/v1."""
    old = {
        "metadata": {"name": "e", "namespace": "default", "resourceVersion": "1"},
        "involvedObject": {"namespace": "default"},
        "message": "before",
    }
    new = {**old, "message": "after"}
    causes = validation.validate_update(EVENTS, new, old, asked="events.k8s.io/v1", server=server)
    assert [cause.field for cause in causes] == fields
