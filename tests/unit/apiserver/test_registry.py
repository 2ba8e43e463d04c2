"""What is served now: rows come and go, lookups and the generation follow."""

from __future__ import annotations

from muntin.apiserver.registry import Registry
from muntin.model.custom.definition import Definition
from muntin.model.resources import CONFIG_MAPS, PODS
from muntin.model.versions import rank


def definition(
    *versions: str, group: str = "stable.example.com", plural: str = "crontabs"
) -> Definition:
    names = {"kind": "CronTab", "plural": plural, "singular": "crontab", "listKind": "CronTabList"}
    rows = [{"name": name, "served": True, "storage": name == versions[-1]} for name in versions]
    spec = {"group": group, "names": names, "scope": "Namespaced", "versions": rows}
    return Definition({"metadata": {"name": f"{plural}.{group}"}, "spec": spec})


def test_versions_are_ranked_as_discovery_shows_them() -> None:
    shown = ["v10", "v2", "v1", "v11beta2", "v10beta3", "v3beta1", "v12alpha1", "v11alpha2", "foo1"]
    mixed = shown[::-1]
    assert sorted(mixed, key=rank) == shown


def test_definitions_come_and_go() -> None:
    registry = Registry((PODS, CONFIG_MAPS))
    heard: list[int] = []
    registry.listen(lambda: heard.append(registry.generation))
    both = definition("v1beta1", "v1")
    old, new = both.rows

    assert registry.definition(PODS) is None
    registry.replace(both.storage_name, both)
    assert registry.rows == (PODS, CONFIG_MAPS, new, old)
    assert registry.find("stable.example.com", "v1beta1", "crontabs") is old
    assert registry.stored(old) is new
    assert registry.definition(old) is both

    registry.replace(both.storage_name, definition("v1"))
    assert registry.find("stable.example.com", "v1beta1", "crontabs") is None

    registry.remove(both.storage_name)
    registry.remove(both.storage_name)
    assert registry.rows == (PODS, CONFIG_MAPS)
    assert both.storage_name not in registry.storage_rows
    assert heard == [2, 3, 4]


def test_a_definition_never_hides_what_is_built_in() -> None:
    registry = Registry((PODS,))
    registry.replace("pods", definition("v1", group="", plural="pods"))
    assert registry.find("", "v1", "pods") is PODS
    assert registry.stored(PODS) is PODS


def test_remote_group_versions_change_the_generation() -> None:
    registry = Registry((PODS,))
    registry.serve_remote("metrics.k8s.io", "v1beta1", {"metadata": {"name": "v1beta1.metrics"}})
    assert list(registry.remote) == [("metrics.k8s.io", "v1beta1")]
    registry.drop_remote("metrics.k8s.io", "v1beta1")
    registry.drop_remote("metrics.k8s.io", "v1beta1")
    assert not registry.remote
    assert registry.generation == 3
