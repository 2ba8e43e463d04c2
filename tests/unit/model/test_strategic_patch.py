"""Strategic merge patch; cases after upstream's design note strategic-merge-patch.md."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muntin.kit.errors import Invalid
from muntin.model import schema, strategic
from muntin.model.resources import DEPLOYMENTS, PODS, SERVICES, Resource

TYPES = schema.load("1.34")


def patched(resource: Resource, document: Any, patch: Any) -> Any:
    before = copy.deepcopy(document)
    result = strategic.apply(TYPES, TYPES.type_of(resource), document, patch)
    assert document == before
    return result


def containers(*names: str) -> dict[str, Any]:
    return {"spec": {"containers": [{"name": name, "image": "i"} for name in names]}}


def test_containers_merge_by_name() -> None:
    patch = {"spec": {"containers": [{"name": "b", "image": "j"}, {"name": "c"}]}}
    result = patched(PODS, containers("a", "b"), patch)
    assert result["spec"]["containers"] == [
        {"name": "a", "image": "i"},
        {"name": "b", "image": "j"},
        {"name": "c"},
    ]


def test_delete_directive_removes_an_element() -> None:
    patch = {"spec": {"containers": [{"name": "a", "$patch": "delete"}]}}
    result = patched(PODS, containers("a", "b"), patch)
    assert [row["name"] for row in result["spec"]["containers"]] == ["b"]


def test_replace_directive_in_a_list_and_in_a_map() -> None:
    patch: Any = {"spec": {"containers": [{"name": "n"}, {"$patch": "replace"}]}}
    assert patched(PODS, containers("a"), patch)["spec"]["containers"] == [{"name": "n"}]
    patch = {"metadata": {"labels": {"$patch": "replace", "x": "y"}}}
    result = patched(PODS, {"metadata": {"labels": {"a": "b"}, "name": "p"}}, patch)
    assert result["metadata"] == {"labels": {"x": "y"}, "name": "p"}


def test_null_removes_a_member() -> None:
    result = patched(PODS, {"metadata": {"labels": {"a": "b", "c": "d"}}},
                     {"metadata": {"labels": {"a": None}}})  # fmt: skip
    assert result == {"metadata": {"labels": {"c": "d"}}}


def test_lists_without_a_strategy_are_replaced() -> None:
    document = {"spec": {"containers": [{"name": "a", "command": ["x", "y"]}]}}
    patch = {"spec": {"containers": [{"name": "a", "command": ["z"]}]}}
    assert patched(PODS, document, patch)["spec"]["containers"][0]["command"] == ["z"]


def test_set_element_order_sorts_and_keeps_what_only_the_server_has() -> None:
    patch = {
        "spec": {
            "$setElementOrder/containers": [{"name": "new"}, {"name": "b"}, {"name": "a"}],
            "containers": [{"name": "new", "image": "n"}],
        }
    }
    result = patched(PODS, containers("injected", "a", "b"), patch)
    assert [row["name"] for row in result["spec"]["containers"]] == ["new", "injected", "b", "a"]


def test_set_element_order_must_list_what_is_patched() -> None:
    patch = {
        "spec": {"$setElementOrder/containers": [{"name": "a"}], "containers": [{"name": "b"}]}
    }
    with pytest.raises(Invalid) as refused:
        patched(PODS, containers("a"), patch)
    assert refused.value.message == (
        "The order in patch list:\n[map[name:b]]\n doesn't match $setElementOrder list:\n"
        "[map[name:a]]\n"
    )


def test_retain_keys_drops_the_other_members() -> None:
    volume = {"name": "v", "emptyDir": {"medium": "Memory"}}
    change = {"name": "v", "$retainKeys": ["name", "hostPath"], "hostPath": {"path": "/x"}}
    result = patched(PODS, {"spec": {"volumes": [volume]}}, {"spec": {"volumes": [change]}})
    assert result["spec"]["volumes"] == [{"name": "v", "hostPath": {"path": "/x"}}]
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}
    recreate = {"$retainKeys": ["type"], "type": "Recreate"}
    result = patched(
        DEPLOYMENTS, {"spec": {"strategy": strategy}}, {"spec": {"strategy": recreate}}
    )
    assert result["spec"]["strategy"] == {"type": "Recreate"}


def test_lists_of_primitives_merge_and_delete() -> None:
    document = {"metadata": {"finalizers": ["a", "b"]}}
    assert patched(PODS, document, {"metadata": {"finalizers": ["b", "c"]}}) == {
        "metadata": {"finalizers": ["a", "b", "c"]}
    }
    # Elements of the patch are in its order; others stay before those that they were before.
    assert patched(PODS, document, {"metadata": {"finalizers": ["e", "a"]}}) == {
        "metadata": {"finalizers": ["e", "a", "b"]}
    }
    drop = {"metadata": {"$deleteFromPrimitiveList/finalizers": ["a"]}}
    assert patched(PODS, document, drop) == {"metadata": {"finalizers": ["b"]}}
    both = {"metadata": {"$deleteFromPrimitiveList/finalizers": ["a"], "finalizers": ["c"]}}
    assert patched(PODS, document, both) == {"metadata": {"finalizers": ["c", "b"]}}
    odd = {"metadata": {"$deleteFromPrimitiveList/finalizers": "a"}}
    assert patched(PODS, document, odd) == document


def test_a_list_that_was_not_there_is_taken_as_it_is() -> None:
    ports = [{"containerPort": 80}, {"containerPort": 80, "protocol": "UDP"}]
    patch = {"spec": {"containers": [{"name": "a", "ports": ports}]}}
    assert patched(PODS, containers("a"), patch)["spec"]["containers"][0]["ports"] == ports


def test_ports_of_services_merge_by_port() -> None:
    document = {"spec": {"ports": [{"port": 80, "nodePort": 30000}, {"port": 443}]}}
    patch = {"spec": {"ports": [{"port": 80, "name": "web"}]}}
    assert patched(SERVICES, document, patch)["spec"]["ports"] == [
        {"port": 80, "nodePort": 30000, "name": "web"},
        {"port": 443},
    ]


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        ({"spec": {"containers": [{"image": "x"}]}}, "declared merge key: name"),
        ({"spec": {"$patch": "explode"}}, "unknown patch type: explode in map"),
        ({"spec": {"$retainKeys": ["a"], "b": 1}}, "invalid patch format of retainKeys"),
        ({"spec": {"$setElementOrder/containers": 1}}, "but received a int64"),
        ({"spec": {"containers": ["x"]}}, "list element types are not identical"),
        ([], "must be an object"),
    ],
)
def test_bad_patches_are_refused(patch: Any, message: str) -> None:
    with pytest.raises(Invalid, match=message):
        patched(PODS, containers("a"), patch)


def naive(have: list[str], wanted: list[str], gone: list[str]) -> set[str]:
    return ({*have} - {*gone}) | {*wanted}


@given(st.data())
def test_merging_and_deleting_elements_is_what_sets_say(data: st.DataObject) -> None:
    names = st.lists(st.sampled_from("abcdef"), unique=True, max_size=5)
    have, wanted = data.draw(names), data.draw(names)
    gone = [name for name in data.draw(names) if name not in wanted]
    rows: list[dict[str, str]] = [{"name": name, "image": "new"} for name in wanted]
    rows += [{"name": name, "$patch": "delete"} for name in gone]
    result = patched(PODS, containers(*have), {"spec": {"containers": rows}})["spec"]["containers"]
    assert {row["name"] for row in result} == (naive(have, wanted, gone) if have else
                                               {*wanted})  # fmt: skip
    assert {row["name"] for row in result if row["image"] == "new"} == {*wanted}


names = st.lists(st.sampled_from("abcdef"), unique=True, max_size=5)


@given(names, names)
def test_patching_twice_is_patching_once(have: list[str], wanted: list[str]) -> None:
    patch = containers(*wanted)
    patch["spec"]["$setElementOrder/containers"] = [{"name": name} for name in wanted]
    once = patched(PODS, containers(*have), patch)
    assert patched(PODS, once, patch) == once


@given(names, names)
def test_merging_keeps_all_and_orders_the_listed(have: list[str], wanted: list[str]) -> None:
    patch = containers(*wanted)
    patch["spec"]["$setElementOrder/containers"] = [{"name": name} for name in wanted]
    result = [row["name"] for row in patched(PODS, containers(*have), patch)["spec"]["containers"]]
    assert sorted(result) == sorted({*have, *wanted})
    assert [name for name in result if name in wanted] == wanted
    server_only = [name for name in have if name not in wanted]
    assert [name for name in result if name not in wanted] == server_only


@given(names)
def test_an_empty_patch_changes_nothing(have: list[str]) -> None:
    assert patched(PODS, containers(*have), {}) == containers(*have)
