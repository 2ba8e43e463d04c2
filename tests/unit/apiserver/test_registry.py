"""What is served now: rows come and go, lookups and the generation follow."""

from __future__ import annotations

from dataclasses import dataclass

from muntin.apiserver.registry import Registry, version_rank
from muntin.model.resources import CONFIG_MAPS, PODS, Resource


@dataclass(frozen=True)
class FakeDefinition:
    rows: tuple[Resource, ...]

    @property
    def storage(self) -> Resource:
        return self.rows[-1]


def crontab(version: str, group: str = "stable.example.com") -> Resource:
    return Resource(group, version, "CronTab", "crontabs", True)


def test_versions_are_ranked_as_discovery_shows_them() -> None:
    shown = ["v10", "v2", "v1", "v11beta2", "v10beta3", "v3beta1", "v12alpha1", "v11alpha2", "foo1"]
    assert sorted(shown[::-1], key=version_rank) == shown


def test_definitions_come_and_go() -> None:
    registry = Registry((PODS, CONFIG_MAPS))
    heard: list[int] = []
    registry.listen(lambda: heard.append(registry.generation))
    old, new = crontab("v1beta1"), crontab("v1")
    name = new.storage_name

    assert registry.definition(PODS) is None
    registry.replace(name, FakeDefinition((old, new)))
    assert registry.rows == (PODS, CONFIG_MAPS, new, old)
    assert registry.find("stable.example.com", "v1beta1", "crontabs") is old
    assert registry.stored(old) is new
    assert registry.definition(old) is registry.definitions[name]

    registry.replace(name, FakeDefinition((new,)))
    assert registry.find("stable.example.com", "v1beta1", "crontabs") is None

    registry.remove(name)
    registry.remove(name)
    assert registry.rows == (PODS, CONFIG_MAPS)
    assert name not in registry.storage_rows
    assert heard == [2, 3, 4]


def test_a_definition_never_hides_what_is_built_in() -> None:
    registry = Registry((PODS,))
    registry.replace("pods", FakeDefinition((Resource("", "v1", "Fake", "pods", True),)))
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
