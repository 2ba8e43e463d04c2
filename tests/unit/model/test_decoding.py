"""Bodies against the schema; the words are those kube-apiserver answers with."""

from __future__ import annotations

from typing import Any

import pytest

from muntin.model import decoding, schema
from muntin.model.decoding import Undecodable
from muntin.model.exact import OFTEN
from muntin.model.resources import (
    CONFIG_MAPS,
    CUSTOM_RESOURCE_DEFINITIONS,
    DEPLOYMENTS,
    LEASES,
    NODES,
    PODS,
    SECRETS,
    STATEFUL_SETS,
)

TYPES = schema.load("1.34")


def pod(**spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "a"}, "spec": {"containers": [{"name": "c"}], **spec}}


def test_unknown_fields_are_named_with_their_paths_and_dropped() -> None:
    body = pod(foo=1, containers=[{"name": "c", "ports": [{"containerPort": 1, "nam": "x"}]}])
    found = decoding.decode(TYPES, PODS, body)
    assert found.strict_errors == [
        'unknown field "spec.containers[0].ports[0].nam"',
        'unknown field "spec.foo"',
    ]
    container = {"name": "c", "ports": [{"containerPort": 1}], "resources": {}}
    assert found.object == {**pod(containers=[container]), "status": {}}


def test_strict_sentence() -> None:
    text = decoding.strict_error("Deployment", "v1", ['unknown field "spec.x"'])
    assert text == (
        'Deployment in version "v1" cannot be handled as a Deployment: strict decoding error: '
        'unknown field "spec.x"'
    )


def test_duplicates_are_found_at_any_depth() -> None:
    body = b'{"a":1,"b":[{"c":1,"c":2},{"c":1}],"a":3,"d":{"e":{"f":1,"f":1,"f":1}}}'
    assert decoding.duplicate_fields(body) == ["a", "b[0].c", "d.e.f"]
    with pytest.raises(Undecodable, match="not JSON"):
        decoding.duplicate_fields(b"{")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            pod(hostNetwork="x"),
            "json: cannot unmarshal string into Go struct field PodSpec.spec.hostNetwork of type "
            "bool",
        ),
        (
            pod(containers={}),
            "json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type "
            "[]v1.Container",
        ),
        (
            pod(containers=[{"name": "c", "env": [{"name": "A", "value": 5}]}]),
            "json: cannot unmarshal number into Go struct field EnvVar.spec.containers.env.value "
            "of type string",
        ),
        (
            {"metadata": {"labels": {"a": 1}}},
            "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of "
            "type string",
        ),
        (
            pod(priority=2**40),
            "json: cannot unmarshal number 1099511627776 into Go struct field "
            "PodSpec.spec.priority of type int32",
        ),
        (
            {"spec": []},
            "json: cannot unmarshal array into Go struct field Pod.spec of type v1.PodSpec",
        ),
        (
            pod(containers=[{"name": "c", "resources": {"limits": {"cpu": "1x"}}}]),
            "unable to parse quantity's suffix",
        ),
        (
            {"metadata": {"creationTimestamp": "yesterday"}},
            'parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as '
            '"2006"',
        ),
    ],
)
def test_wrong_types(body: Any, message: str) -> None:
    with pytest.raises(Undecodable) as caught:
        decoding.decode(TYPES, PODS, body)
    assert caught.value.message == f'Pod in version "v1" cannot be handled as a Pod: {message}'


def test_bad_base64() -> None:
    with pytest.raises(Undecodable, match="illegal base64 data at input byte 1"):
        decoding.decode(TYPES, SECRETS, {"data": {"a": "x!"}})


def test_values_come_out_in_canonical_form() -> None:
    resources = {"requests": {"cpu": 0.5, "memory": "1024Mi"}, "limits": {}}
    body = pod(containers=[{"name": "c", "resources": resources}])
    found = decoding.decode(TYPES, PODS, body).object["spec"]["containers"][0]["resources"]
    assert found == {"requests": {"cpu": "500m", "memory": "1Gi"}}
    spec = {"renewTime": "2024-05-01T14:00:00.5+02:00"}
    lease = decoding.decode(TYPES, LEASES, {"spec": spec}).object
    assert lease["spec"] == {"renewTime": "2024-05-01T12:00:00.500000Z"}
    meta = {"creationTimestamp": "2024-05-01T14:00:00.9+02:00"}
    found = decoding.decode(TYPES, PODS, {"metadata": meta}).object["metadata"]
    assert found == {"creationTimestamp": "2024-05-01T12:00:00Z"}


def test_nulls_and_empty_optional_members_go_empty_objects_stay() -> None:
    body = {
        "metadata": {"name": "a", "creationTimestamp": None, "labels": {}, "finalizers": []},
        "spec": {"volumes": [{"name": "v", "emptyDir": {}}], "nodeSelector": {}, "containers": []},
        "status": {},
    }
    assert decoding.decode(TYPES, PODS, body).object == {
        "metadata": {"name": "a"},
        "spec": {"volumes": [{"name": "v", "emptyDir": {}}], "containers": []},
        "status": {},
    }


def test_int_or_string_keeps_its_kind() -> None:
    rolling = {"maxSurge": "25%", "maxUnavailable": 1}
    body = {"spec": {"strategy": {"rollingUpdate": rolling}}}
    found = decoding.decode(TYPES, DEPLOYMENTS, body).object
    assert found["spec"]["strategy"]["rollingUpdate"] == rolling
    with pytest.raises(Undecodable, match="cannot unmarshal bool"):
        decoding.decode(
            TYPES, DEPLOYMENTS, {"spec": {"strategy": {"rollingUpdate": {"maxSurge": True}}}}
        )


def test_a_null_value_of_a_map_is_the_empty_text() -> None:
    found = decoding.decode(TYPES, CONFIG_MAPS, {"data": {"a": None}}).object
    assert found["data"] == {"a": ""}


def test_a_null_quantity_of_a_map_is_0() -> None:
    container = {"name": "c", "resources": {"limits": {"cpu": None}}}
    found = decoding.decode(TYPES, PODS, {"spec": {"containers": [container]}}).object
    assert found["spec"]["containers"][0]["resources"] == {"limits": {"cpu": "0"}}


def test_zero_values_that_upstream_writes_are_there() -> None:
    condition = {"type": "Ready", "status": "True"}
    found = decoding.decode(TYPES, PODS, {**pod(), "status": {"conditions": [condition]}}).object
    assert found["status"]["conditions"] == [
        {**condition, "lastProbeTime": None, "lastTransitionTime": None}
    ]
    set_ = decoding.decode(TYPES, STATEFUL_SETS, {"metadata": {}, "spec": {"template": {}}}).object
    assert set_["spec"] == {
        "serviceName": "", "updateStrategy": {}, "template": {"metadata": {}, "spec": {}}
    }  # fmt: skip
    assert set_["status"] == {"replicas": 0, "availableReplicas": 0}
    node = decoding.decode(TYPES, NODES, {}).object["status"]
    assert node["daemonEndpoints"] == {"kubeletEndpoint": {"Port": 0}}
    assert node["nodeInfo"]["bootID"] == ""
    older = decoding.decode(schema.load("1.20"), STATEFUL_SETS, {}).object["status"]
    assert older == {"replicas": 0}


def test_the_body_must_be_an_object() -> None:
    with pytest.raises(Undecodable, match=r"Go value of type v1\.Pod"):
        decoding.decode(TYPES, PODS, [])


def test_zero_values_are_kept_where_they_are_told_apart_from_none() -> None:
    body = {
        "metadata": {"name": "a", "generateName": ""},
        "spec": {
            "hostNetwork": False,
            "hostname": "",
            "terminationGracePeriodSeconds": 0,
            "automountServiceAccountToken": False,
            "containers": [
                {"name": "c", "tty": False, "ports": [{"containerPort": 0, "hostPort": 0}]}
            ],
        },
    }
    for _ in range(2 * OFTEN):  # walked at first, and compiled later
        found = decoding.decode(TYPES, PODS, body).object
        assert found["metadata"] == {"name": "a"}
        assert found["spec"] == {
            "terminationGracePeriodSeconds": 0,
            "automountServiceAccountToken": False,
            "containers": [{"name": "c", "ports": [{"containerPort": 0}], "resources": {}}],
        }


def test_a_null_in_a_list_of_objects_has_the_members_that_upstream_writes() -> None:
    status = {"addresses": [None], "conditions": [None], "images": [None]}
    decoded = decoding.decode(TYPES, NODES, {"status": status}).object["status"]
    assert decoded["addresses"] == [{"type": "", "address": ""}]
    assert decoded["conditions"][0] == {
        "type": "",
        "status": "",
        "lastHeartbeatTime": None,
        "lastTransitionTime": None,
    }
    # What may hold anything, stays null.
    schema = {"enum": [None, "a"], "type": "string"}
    names = {"plural": "things", "kind": "Thing"}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    spec = {"group": "x.y", "names": names, "scope": "Cluster", "versions": [version]}
    decoded = decoding.decode(TYPES, CUSTOM_RESOURCE_DEFINITIONS, {"spec": spec}).object["spec"]
    assert decoded["versions"][0]["schema"]["openAPIV3Schema"]["enum"] == [None, "a"]
