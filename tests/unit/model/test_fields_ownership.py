"""What writes do to the managers of objects: examples of upstream, and properties."""

from __future__ import annotations

import copy
from collections.abc import Generator
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muntin.kit.errors import Invalid
from muntin.model import schema
from muntin.model.fields import last_applied, managers, ownership, sets
from muntin.model.fields.builtin import BuiltinTypes
from muntin.model.fields.managers import APPLY, UPDATE, Entry, Key, Managers
from muntin.model.fields.tree import applied
from muntin.model.fields.types import DEDUCED, SCALAR, FieldType, mapping, sequence, struct

TYPES = BuiltinTypes(schema.load("1.34"))
Object = dict[str, Any]


def done(asking: Generator[ownership.Form, Object | None, Any], forms: Any = None) -> Any:
    try:
        wanted = next(asking)
        while True:
            wanted = asking.send(forms(*wanted))
    except StopIteration as stop:
        return stop.value


def writer(name: str, operation: str = UPDATE, **more: Any) -> ownership.Writer:
    found: Object = {"api_version": "v1", "time": "2026-01-01T00:00:00Z", "unwritable": {}}
    return ownership.Writer(manager=name, operation=operation, **{**found, **more})


def updated(known: Managers, old: Object, new: Object, name: str = "m", **more: Any) -> Managers:
    kind = (new or old)["kind"]
    result: Managers = done(ownership.update(writer(name, **more), known, TYPES, kind, old, new))
    return result


def apply(
    known: Managers,
    live: Object,
    config: Object,
    name: str = "m",
    *,
    force: bool = False,
    **more: Any,
) -> ownership.Applied:
    asking = last_applied.apply(
        writer(name, APPLY, **more), known, TYPES, config["kind"], live, config, force=force
    )
    result: ownership.Applied = done(asking)
    return result


def config_map(**data: Any) -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": data}


def shown(known: Managers) -> dict[str, Object]:
    return {row["manager"]: row["fieldsV1"] for row in orjson.loads(managers.dump(known) or b"[]")}


def test_a_new_pod_is_its_creators() -> None:
    pod: Object = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "uid": "u", "labels": {"a": "b"}},
        "spec": {
            "containers": [
                {
                    "name": "m",
                    "command": ["x"],
                    "ports": [{"containerPort": 80, "protocol": "TCP"}],
                    "resources": {},
                }
            ],
            "nodeSelector": {"os": "linux"},
            "securityContext": {},
        },
        "status": {"phase": "Pending"},
    }
    found = updated({}, {}, pod, unwritable={"f:status": {}})
    assert shown(found)["m"] == {
        "f:metadata": {"f:labels": {".": {}, "f:a": {}}},
        "f:spec": {
            "f:containers": {
                'k:{"name":"m"}': {
                    ".": {},
                    "f:command": {},
                    "f:name": {},
                    "f:ports": {
                        ".": {},
                        'k:{"containerPort":80,"protocol":"TCP"}': {
                            ".": {},
                            "f:containerPort": {},
                            "f:protocol": {},
                        },
                    },
                    "f:resources": {},
                }
            },
            "f:nodeSelector": {},
            "f:securityContext": {},
        },
    }


def test_who_changes_a_value_has_it_and_nobody_else_does() -> None:
    known = updated({}, {}, config_map(a="1", b="2"), "one")
    known = updated(known, config_map(a="1", b="2"), config_map(a="1", b="3", c="4"), "two")
    assert shown(known) == {
        "one": {"f:data": {".": {}, "f:a": {}}},
        "two": {"f:data": {"f:b": {}, "f:c": {}}},
    }
    known = updated(known, config_map(a="1", b="3", c="4"), config_map(c="4"), "three")
    assert shown(known) == {"one": {"f:data": {}}, "two": {"f:data": {"f:c": {}}}}


def test_nothing_is_tracked_of_what_has_no_managers_until_it_is_applied() -> None:
    assert updated({}, config_map(a="1"), config_map(a="2")) == {}
    found = apply({}, config_map(a="2"), config_map(b="1"))
    assert shown(found.managers) == {
        "m": {"f:data": {"f:b": {}}},
        "before-first-apply": {"f:data": {".": {}, "f:a": {}}},
    }


def test_conflicts_are_listed_and_forced() -> None:
    known = updated({}, {}, config_map(a="1", b="2"), "kubectl", api_version="v1")
    with pytest.raises(ownership.ApplyConflict) as refused:
        apply(known, config_map(a="1", b="2"), config_map(a="x", b="y"))
    assert refused.value.message == (
        'Apply failed with 2 conflicts: conflicts with "kubectl" using v1:\n- .data.a\n- .data.b'
    )
    with pytest.raises(ownership.ApplyConflict) as refused:
        apply(known, config_map(a="1", b="2"), config_map(a="x"))
    assert refused.value.message == (
        'Apply failed with 1 conflict: conflict with "kubectl" using v1: .data.a'
    )
    found = apply(known, config_map(a="1", b="2"), config_map(a="x"), force=True)
    assert found.obj["data"] == {"a": "x", "b": "2"}
    assert shown(found.managers) == {
        "m": {"f:data": {"f:a": {}}},
        "kubectl": {"f:data": {".": {}, "f:b": {}}},
    }


def test_an_apply_that_changes_nothing_leaves_the_time() -> None:
    first = apply({}, {}, config_map(a="1"))
    again = apply(first.managers, first.obj, config_map(a="1"), time="2027-01-01T00:00:00Z")
    assert managers.dump(again.managers) == managers.dump(first.managers)
    other = apply(first.managers, first.obj, config_map(a="1"), "other")
    assert [entry.time for key, entry in other.managers.items() if key.manager == "other"] == [""]


def test_empty_and_null_name_a_place_and_leave_what_others_have_there() -> None:
    known = updated({}, {}, config_map(a="1"), "one")
    for value in ({}, None):
        config = {**config_map(), "data": value}
        found = apply(known, config_map(a="1"), config)
        assert found.obj["data"] == {"a": "1"}
        assert shown(found.managers)["m"] == {"f:data": {}}


def deployment(*containers: Object, **spec: Any) -> Object:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": list(containers)}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "d"},
        "spec": {"template": template, **spec},
    }


def test_elements_of_lists_come_and_go_with_who_names_them() -> None:
    apps = {"api_version": "apps/v1"}
    first = apply({}, {}, deployment({"name": "a", "image": "i"}), "one", **apps)
    two = deployment(
        {"name": "b", "image": "j", "env": [{"name": "X", "value": "1"}]}, {"name": "a"}
    )
    second = apply(first.managers, first.obj, two, "two", **apps)
    names = [row["name"] for row in second.obj["spec"]["template"]["spec"]["containers"]]
    assert names == ["b", "a"]
    third = apply(second.managers, second.obj, deployment({"name": "b"}), "two", **apps)
    assert third.obj["spec"]["template"]["spec"]["containers"] == [
        {"name": "b"},
        {"name": "a", "image": "i"},
    ]


@pytest.mark.parametrize(
    ("config", "why"),
    [
        (deployment({"name": "a"}, {"name": "a"}),
         '.spec.template.spec.containers: duplicate entries for key [name="a"]'),
        (deployment({"name": "a", "ports": [{"containerPort": 1}, {"containerPort": 1,
                                                                   "protocol": "TCP"}]}),
         '.spec.template.spec.containers[name="a"].ports: duplicate entries for key '
         '[containerPort=1,protocol="TCP"]'),
        (deployment(nope=1), ".spec.nope: field not declared in schema"),
        (deployment({"name": "a", "env": {}}),
         '.spec.template.spec.containers[name="a"].env: expected list, got &{map[]}'),
        (deployment(replicas="3"), ".spec.replicas: expected numeric (int or float), got string"),
        (deployment(paused="x"), ".spec.paused: expected boolean, got &{x}"),
        (deployment({"name": "a", "image": 1}),
         '.spec.template.spec.containers[name="a"].image: expected string, got '
         "&value.valueUnstructured{Value:1}"),
        (deployment(None),
         ".spec.template.spec.containers: element 0: associative list with keys may not have a "
         "null element"),
    ],
)  # fmt: skip
def test_configurations_that_do_not_fit(config: Object, why: str) -> None:
    with pytest.raises(Invalid) as refused:
        apply({}, {}, config, api_version="apps/v1")
    assert refused.value.message == why


def test_kubectl_takes_over_what_client_side_apply_left_unchanged() -> None:
    old = deployment({"name": "a", "image": "i"}, replicas=1)
    text = orjson.dumps(old).decode()
    live = copy.deepcopy(old)
    live["metadata"]["annotations"] = {last_applied.ANNOTATION: text}
    apps = {"api_version": "apps/v1"}
    known = updated({}, {}, live, "kubectl-client-side-apply", **apps)
    wanted = deployment({"name": "a", "image": "j"}, replicas=1)
    with pytest.raises(ownership.ApplyConflict):
        apply(known, live, wanted, "other", **apps)
    found = apply(known, live, wanted, "kubectl", **apps)
    annotation = found.obj["metadata"]["annotations"][last_applied.ANNOTATION]
    assert orjson.loads(annotation) == wanted
    assert annotation.endswith("}\n")
    changed = {**live, "spec": {**live["spec"], "replicas": 5}}
    known = updated(known, live, changed, "scaler", **apps)
    with pytest.raises(ownership.ApplyConflict) as refused:
        apply(known, changed, wanted, "kubectl", **apps)
    assert [row[1] for row in refused.value.conflicts] == [("f:spec", "f:replicas")]


def test_the_oldest_updates_become_one_entry() -> None:
    known: Managers = {}
    for index in range(13):
        key = Key(f"m{index:02}", UPDATE, "v1", "")
        time = f"2026-01-01T00:00:{index:02}Z"
        known[key] = Entry("v1", time, {"f:data": {f"f:{index}": {}}})
    found = managers.capped(known)
    assert len(found) == managers.MOST_UPDATERS
    ancient = found[Key(managers.ANCIENT, UPDATE, "v1", "")]
    assert ancient.fields == {"f:data": {f"f:{index}": {} for index in range(4)}}
    assert ancient.time == "2026-01-01T00:00:03Z"
    again = {
        **found,
        Key("new", UPDATE, "v1", ""): Entry("v1", "2026-02-01T00:00:00Z", {"f:x": {}}),
    }
    assert len(managers.capped(again)) == managers.MOST_UPDATERS


def test_thousands_of_updates_are_put_together_by_halves() -> None:
    known: Managers = {}
    for index in range(3000):
        entry = Entry("v1", "2026-01-01T00:00:00Z", {"f:data": {f"f:{index}": {}}})
        known[Key(f"m{index:05}", UPDATE, "v1", "")] = entry
    found = managers.capped(known)
    assert len(found) == managers.MOST_UPDATERS
    ancient = found[Key(managers.ANCIENT, UPDATE, "v1", "")]
    assert ancient.fields == {"f:data": {f"f:{index}": {} for index in range(2991)}}
    assert set(ancient.fields["f:data"]).isdisjoint(
        element for key, entry in found.items() if key.manager != managers.ANCIENT
        for element in entry.fields["f:data"]
    )  # fmt: skip


def test_versions_that_are_gone_take_their_entries_along() -> None:
    known = updated({}, {}, config_map(a="1"), "one")
    known[Key("old", UPDATE, "v0", "")] = Entry("v0", "", {"f:data": {"f:a": {}}})
    assert set(shown(updated(known, config_map(a="1"), config_map(a="2"), "two"))) == {"one", "two"}


def test_other_versions_are_compared_in_their_own_form() -> None:
    old: Object = {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "h"},
        "spec": {"maxReplicas": 3, "minReplicas": 1},
    }
    new = {**old, "spec": {"maxReplicas": 4, "minReplicas": 1}}
    key = Key("one", UPDATE, "autoscaling/v1", "")
    spec = {"f:maxReplicas": {}, "f:minReplicas": {}}
    known = {key: Entry("autoscaling/v1", "", {"f:spec": spec})}
    asked = []

    def forms(obj: Object, version: str) -> Object:
        asked.append(version)
        return {**obj, "apiVersion": version}

    who = writer("two", api_version="autoscaling/v2")
    found = done(ownership.update(who, known, TYPES, old["kind"], old, new), forms)
    assert asked == ["autoscaling/v1"] * 2
    assert found[key].fields == {"f:spec": {"f:minReplicas": {}}}


def test_managers_from_clients_are_checked() -> None:
    row = {"manager": "m", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1",
           "fieldsV1": {"f:data": {}}}  # fmt: skip
    assert shown(managers.parse([row])) == {"m": {"f:data": {}}}
    for wrong in ({"operation": "Foo"}, {"apiVersion": ""}, {"fieldsType": ""}, {"fieldsType": "X"},
                  {"fieldsV1": {"x": {}}}):  # fmt: skip
        with pytest.raises(Invalid):
            managers.parse([{**row, **wrong}])
    assert managers.is_reset([])
    assert managers.is_reset([{}])
    assert not managers.is_reset(None)
    assert not managers.is_reset([row])


def test_what_loses_its_last_member_is_left_empty() -> None:
    live = widget({"labels": {"x": 1}, "free": {"y": {"z": 1}}})
    known = done(ownership.update(writer("tool"), {}, Widgets(), "Widget", {}, live))
    found = put(known, live, {"labels": {"x": 2}, "free": {"y": {"z": 2}}}, "m", force=True)
    assert owned(found.managers, "tool") == {("f:labels",), ("f:free",), ("f:free", "f:y")}
    found = put(found.managers, found.obj, {}, "m", force=True)
    assert found.obj["labels"] == {}
    zero = put(found.managers, live, {"free": {"y": 0}}, "m", force=True)
    assert zero.obj["free"] == {"y": 0}


# -- properties ----------------------------------------------------------------------------------

WIDGET: FieldType = struct(
    {
        "apiVersion": SCALAR,
        "kind": SCALAR,
        "metadata": struct({"name": SCALAR}),
        "size": SCALAR,
        "labels": mapping(SCALAR),
        "colours": sequence(SCALAR, "set"),
        "parts": sequence(
            struct({"name": SCALAR, "weight": SCALAR, "tags": mapping(SCALAR)}), "map", ("name",)
        ),
        "order": sequence(SCALAR),
        "whole": mapping(SCALAR, atomic=True),
    },
    rest=DEDUCED,
)


class Widgets:
    def field_type(self, api_version: str, kind: str) -> FieldType | None:
        return WIDGET if api_version == "v1" else None


letters = st.sampled_from("abc")
small = st.integers(0, 2)
maps = st.dictionaries(letters, small, min_size=1, max_size=3)
bodies = st.fixed_dictionaries(
    {},
    optional={
        "size": small,
        "labels": maps,
        "colours": st.lists(letters, unique=True, min_size=1, max_size=3),
        "parts": st.lists(
            st.fixed_dictionaries({"name": letters}, optional={"weight": small, "tags": maps}),
            unique_by=lambda row: row["name"],
            min_size=1,
            max_size=3,
        ),
        "order": st.lists(small, min_size=1, max_size=3),
        "whole": maps,
        "free": maps,
    },
)


def widget(body: Object) -> Object:
    return {"apiVersion": "v1", "kind": "Widget", "metadata": {"name": "w"}, **copy.deepcopy(body)}


def put(
    known: Managers, live: Object, body: Object, name: str, *, force: bool
) -> ownership.Applied:
    who = writer(name, APPLY)
    result: ownership.Applied = done(
        ownership.apply(who, known, Widgets(), "Widget", live, widget(body), force=force)
    )
    return result


def owned(known: Managers, name: str) -> set[sets.Path]:
    entries = [entry for key, entry in known.items() if key.manager == name]
    return set(sets.paths(entries[0].fields)) if entries else set()


def named(obj: Object) -> set[sets.Path]:
    return set(sets.paths(sets.difference(applied(WIDGET, obj), ownership.STRIPPED)))


def naive(live: Object, body: Object) -> Object:
    """A model of merging without any order of lists."""
    result = {**live, **{key: body[key] for key in ("size", "order", "whole") if key in body}}
    for key in ("labels", "free"):
        if key in body:
            result[key] = {**live.get(key, {}), **body[key]}
    if "colours" in body:
        result["colours"] = sorted({*live.get("colours", ()), *body["colours"]})
    if "parts" in body:
        parts = {row["name"]: row for row in live.get("parts", ())}
        for row in body["parts"]:
            old = parts.get(row["name"], {})
            tags = {**old.get("tags", {}), **row.get("tags", {})}
            parts[row["name"]] = {**old, **row, **({"tags": tags} if tags else {})}
        result["parts"] = sorted(parts.values(), key=lambda row: row["name"])
    return result


def unordered(obj: Object) -> Object:
    result = dict(obj)
    for key in ("colours", "parts"):
        if key in result:
            result[key] = sorted(
                result[key], key=lambda row: row["name"] if key == "parts" else row
            )
    return result


@given(bodies, bodies)
def test_a_forced_apply_is_the_naive_merge(one: Object, two: Object) -> None:
    first = put({}, {}, one, "one", force=True)
    second = put(first.managers, first.obj, two, "two", force=True)
    assert unordered(second.obj) == unordered(naive(widget(one), widget(two)))


@given(bodies, bodies)
def test_applying_is_idempotent(one: Object, two: Object) -> None:
    first = put({}, {}, one, "one", force=True)
    second = put(first.managers, first.obj, two, "two", force=True)
    third = put(second.managers, second.obj, two, "two", force=False)
    assert third.obj == second.obj
    assert managers.dump(third.managers) == managers.dump(second.managers)


@given(bodies, bodies)
def test_an_applier_has_exactly_what_it_names(one: Object, two: Object) -> None:
    first = put({}, {}, one, "one", force=True)
    second = put(first.managers, first.obj, two, "two", force=True)
    assert owned(second.managers, "two") == named(widget(two))
    assert owned(second.managers, "one") <= named(widget(one))
    everything = owned(second.managers, "one") | owned(second.managers, "two")
    leaves = set(sets.paths(sets.leaves(sets.difference(applied(WIDGET, second.obj),
                                                        ownership.STRIPPED))))  # fmt: skip
    assert leaves <= everything


@given(bodies, bodies, bodies)
def test_what_is_no_longer_applied_goes_unless_others_have_it(
    one: Object, two: Object, less: Object
) -> None:
    first = put({}, {}, one, "one", force=True)
    second = put(first.managers, first.obj, two, "two", force=True)
    less = {key: two[key] for key in less if key in two}
    third = put(second.managers, second.obj, less, "two", force=True)
    kept = owned(second.managers, "one") | named(widget(less))
    there = set(sets.paths(sets.leaves(sets.difference(applied(WIDGET, third.obj),
                                                       ownership.STRIPPED))))  # fmt: skip
    assert there <= kept
    assert owned(second.managers, "one") <= {
        path[:end] for path in named(third.obj) for end in range(1, len(path) + 1)
    } | named(third.obj)


def conflicts(first: Object, second: Object) -> set[sets.Path]:
    known = put({}, {}, first, "first", force=True)
    try:
        put(known.managers, known.obj, second, "second", force=False)
    except ownership.ApplyConflict as refused:
        return {path for _, path in refused.conflicts}
    return set()


@given(bodies, bodies)
def test_conflicts_of_two_appliers_are_symmetric(one: Object, two: Object) -> None:
    assert conflicts(one, two) == conflicts(two, one)


@given(bodies, bodies)
def test_updates_share_out_all_leaves(one: Object, two: Object) -> None:
    def write(known: Managers, old: Object, new: Object, name: str) -> Managers:
        asking = ownership.update(writer(name), known, Widgets(), "Widget", old, new)
        result: Managers = done(asking)
        return result

    first, second = widget(one), widget(two)
    known = write({}, {}, first, "one")
    known = write(known, first, second, "two") if known else {}
    mine, theirs = owned(known, "one"), owned(known, "two")
    assert not mine & theirs
    if one:
        leaves = set(sets.paths(sets.leaves(sets.difference(applied(WIDGET, second),
                                                            ownership.STRIPPED))))  # fmt: skip
        assert leaves <= mine | theirs


@given(bodies)
def test_managed_fields_survive_storing(body: Object) -> None:
    known = put({}, {}, body, "one", force=True).managers
    raw = managers.dump(known)
    assert managers.dump(managers.load(raw)) == raw
    rows = orjson.loads(raw or b"[]")
    assert managers.dump(managers.parse(rows)) == raw
