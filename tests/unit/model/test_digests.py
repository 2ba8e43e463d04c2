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
    assert len({digest({"a": [1]}), digest({"a": ["1"]}), digest({"a": [1]}, ""), digest({})}) == 4


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
