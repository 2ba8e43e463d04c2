"""What is found out of one value holds for its equals, and for no others."""

from __future__ import annotations

import copy
from typing import Any

from muntin.model import schema
from muntin.model.digests import Recent, digest
from muntin.model.fields import sets
from muntin.model.fields.builtin import BuiltinTypes
from muntin.model.fields.compare import compare, first
from muntin.model.fields.types import DEDUCED
from muntin.model.resources import PODS
from muntin.model.spec_keys import spec_key
from muntin.model.validation import validate_create
from muntin.model.warnings import of_object

POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "a", "namespace": "n"},
    "spec": {
        "containers": [
            {
                "name": "c",
                "image": "i",
                "imagePullPolicy": "Always",
                "terminationMessagePolicy": "File",
            }
        ],
        "volumes": [{"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": {
            "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}},
        }}}}],
        "restartPolicy": "Always",
        "dnsPolicy": "ClusterFirst",
        "terminationGracePeriodSeconds": 30,
    },
}  # fmt: skip


def test_equal_values_have_equal_digests() -> None:
    assert digest({"a": [1]}) == digest({"a": [1]})
    assert len({digest({"a": [1]}), digest({"a": ["1"]}), digest({})}) == 3


def test_the_newest_are_known() -> None:
    recent: Recent[int] = Recent(2)
    for number in range(3):
        recent.keep(number, number + 1)
        recent.get(0)
    assert [recent.get(number) for number in range(3)] == [1, None, 3]


def test_a_spec_that_was_fine_is_fine_again_and_another_is_not() -> None:
    pod = copy.deepcopy(POD)
    assert validate_create(PODS, pod) == []
    assert validate_create(PODS, copy.deepcopy(pod)) == []
    pod["spec"]["dnsPolicy"] = "Other"
    assert [cause.field for cause in validate_create(PODS, pod)] == ["spec.dnsPolicy"]
    assert [cause.field for cause in validate_create(PODS, pod)] == ["spec.dnsPolicy"]


def test_the_name_of_a_pod_counts_where_claims_are_named_after_it() -> None:
    pod = copy.deepcopy(POD)
    assert validate_create(PODS, pod) == []
    pod["metadata"]["name"] = "a" * 252
    assert [cause.field for cause in validate_create(PODS, pod)] == ["spec.volumes[0].name"]


def with_token(name: str) -> dict[str, Any]:
    """A spec with a volume that the server would have named so."""
    spec = copy.deepcopy(POD["spec"])
    spec["volumes"] = [{"name": name, "emptyDir": {}}]
    spec["containers"][0]["volumeMounts"] = [{"name": name, "mountPath": "/t"}]
    return dict(spec)


def test_the_name_that_was_drawn_for_a_token_is_left_open_and_no_other() -> None:
    key = spec_key(with_token("kube-api-access-abcde"))
    assert key == spec_key(with_token("kube-api-access-x2456"))
    others = ["kube-api-access-", "kube-api-access-abcdef", "kube-api-access-ABCDE", "other"]
    assert len({key, *(spec_key(with_token(name)) for name in others)}) == 5
    twice = with_token("kube-api-access-abcde")
    twice["volumes"].append({"name": "kube-api-access-fghij", "emptyDir": {}})
    same = copy.deepcopy(twice)
    same["volumes"][1]["name"] = "kube-api-access-abcde"
    assert len({key, spec_key(twice), spec_key(same)}) == 3


def test_a_mount_of_a_token_that_is_not_there_is_found_among_pods_of_one_template() -> None:
    for name in ("kube-api-access-abcde", "kube-api-access-fghij"):
        assert validate_create(PODS, {**POD, "spec": with_token(name)}) == []
    spec = with_token("kube-api-access-abcde")
    spec["containers"][0]["volumeMounts"][0]["name"] = "kube-api-access-fghij"
    found = validate_create(PODS, {**POD, "spec": spec})
    assert [cause.field for cause in found] == ["spec.containers[0].volumeMounts[0].name"]


def test_a_warning_that_names_the_volume_of_a_token_names_that_of_its_own_pod() -> None:
    for name in ("kube-api-access-abcde", "kube-api-access-fghij"):
        pod = {**POD, "spec": with_token(name)}
        pod["spec"]["hostAliases"] = [{"ip": name}, {"ip": name}]
        assert f'spec.hostAliases[1].ip: duplicate ip "{name}"' in of_object(
            PODS, pod, None, (1, 36)
        )


def test_new_objects_of_one_spec_name_the_same_fields() -> None:
    type_ = BuiltinTypes(schema.load("1.34")).field_type("v1", "Pod")
    assert type_ is not None
    for labels in ({"a": "b"}, {"c": "d"}):
        pod = {**POD, "metadata": {"name": "a", "labels": labels}}
        assert first(type_, pod) == compare(type_, {}, pod)


def test_a_spec_too_deep_for_a_digest_is_compared_all_the_same() -> None:
    spec: dict[str, Any] = {}
    for _ in range(300):
        spec = {"a": spec}
    new = {"metadata": {"name": "a"}, "spec": spec}
    assert first(DEDUCED, new) == compare(DEDUCED, {}, new)


def test_managed_fields_of_a_spec_known_already_are_written_as_those_of_a_new_one() -> None:
    type_ = BuiltinTypes(schema.load("1.34")).field_type("v1", "Pod")
    assert type_ is not None
    whole = sets.text(compare(type_, {}, POD).taken)
    assert [sets.text(first(type_, POD).taken) for _ in range(3)] == [whole] * 3


def test_pods_of_one_spec_are_warned_of_alike_and_by_their_own_annotations() -> None:
    pod = copy.deepcopy(POD)
    env = [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]
    pod["spec"]["containers"][0]["env"] = env
    hidden = of_object(PODS, pod, None, (1, 36))
    assert ["hides previous definition" in text for text in hidden] == [True]
    assert of_object(PODS, copy.deepcopy(pod), None, (1, 36)) == hidden
    key = "seccomp.security.alpha.kubernetes.io/pod"
    pod["metadata"]["annotations"] = {key: "unconfined"}
    assert [key in text for text in of_object(PODS, pod, None, (1, 36))] == [True, False]
    env[1]["name"] = "B"
    assert len(of_object(PODS, pod, None, (1, 36))) == 1
