"""What each version of the API serves by default, and what a runtime config changes of it.

The lists were written from the API reference of each version and from its `kubectl api-resources`;
a group version's resources stand in one line, subresources among them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from muntin.kit.errors import Invalid
from muntin.model import resources, schema
from muntin.model.resources import life_of, serving

HERE = Path(__file__).parent / "served"
# Of these versions the whole list is written down.
LISTS = sorted(HERE.glob("*.txt"))


def served(version: str, config: dict[str, bool] | None = None) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for row in resources.served(schema.load(version), config):
        names = found.setdefault(row.api_version, [])
        names += [row.plural, *(f"{row.plural}/{sub.name}" for sub in row.subresources)]
    return {api_version: sorted(names) for api_version, names in found.items()}


@pytest.mark.parametrize("path", LISTS, ids=lambda path: path.stem)
def test_served_by_default(path: Path) -> None:
    lines = (line.split(": ") for line in path.read_text().splitlines())
    wanted = {name: sorted(names.split()) for name, names in lines}
    assert served(path.stem) == wanted


def test_groups_come_in_the_order_of_upstream() -> None:
    """As `kubectl api-versions` does not show it, but discovery: by the priority of groups."""
    for path in LISTS:
        found = list(dict.fromkeys(name.rpartition("/")[0] for name in served(path.stem)))
        lines = path.read_text().splitlines()
        wanted = dict.fromkeys(line.split(": ")[0].rpartition("/")[0] for line in lines)
        assert sorted(found) == sorted(wanted)
        assert found.index("apps") < found.index("networking.k8s.io") < found.index("policy")


def test_every_version_serves_the_stable_form_of_what_its_schema_has() -> None:
    for version in schema.versions():
        types = schema.load(version)
        rows = {(row.group, row.version, row.kind) for row in resources.served(types)}
        for row in resources.RESOURCES:
            stable = "beta" not in row.version
            if stable and types.has_kind(row.group, row.version, row.kind):
                assert (row.group, row.version, row.kind) in rows, version


def test_an_eviction_is_of_the_version_that_is_there() -> None:
    for version, wanted in (("1.20", "v1beta1"), ("1.25", "v1")):
        pods = next(r for r in resources.served(schema.load(version)) if r.plural == "pods")
        eviction = pods.subresource("eviction")
        assert eviction is not None
        assert (eviction.group, eviction.version) == ("policy", wanted)


def test_verbs_that_came_later() -> None:
    for version, wanted in (("1.20", False), ("1.25", True)):
        rows = resources.served(schema.load(version))
        services = next(row for row in rows if row.plural == "services")
        assert ("deletecollection" in services.verbs) is wanted


def test_the_preferred_version_comes_first() -> None:
    old = [v for v in served("1.20") if v.startswith("autoscaling/")]
    assert old == ["autoscaling/v1", "autoscaling/v2beta1", "autoscaling/v2beta2"]
    new = [v for v in served("1.25") if v.startswith("autoscaling/")]
    assert new == ["autoscaling/v2", "autoscaling/v1", "autoscaling/v2beta2"]


@pytest.mark.parametrize("version", ["1.20", "1.37"])
def test_versions_that_are_gone_can_be_had_again(version: str) -> None:
    config = {"extensions/v1beta1": True, "apps/v1beta1": True, "apps/v1beta2/deployments": True}
    found = served(version, config)
    assert "deployments/scale" in found["extensions/v1beta1"]
    assert "daemonsets" in found["extensions/v1beta1"]
    assert found["apps/v1beta2"] == ["deployments", "deployments/scale", "deployments/status"]
    usual = served(version).keys()
    asked = {"extensions/v1beta1", "apps/v1beta1", "apps/v1beta2"}
    assert found.keys() - usual == asked - usual


def test_short_names_are_for_what_took_the_place_of_old_versions() -> None:
    for version, short in (("1.20", ("ing",)), ("1.34", ())):
        rows = resources.served(schema.load(version), {"extensions/v1beta1": True})
        old = {row.plural: row for row in rows if row.group == "extensions"}
        assert old["deployments"].short_names == ()
        assert old["ingresses"].short_names == short
        assert not any(row.categories for row in old.values())


def test_a_runtime_config_takes_away_too() -> None:
    assert "batch/v1" not in served("1.34", {"batch/v1": False})
    assert "cronjobs" not in served("1.34", {"batch/v1/cronjobs": False})["batch/v1"]
    assert not any("beta" in name for name in served("1.20", {"api/beta": False}))
    only = served("1.34", {"api/all": False, "v1": True})
    assert list(only) == ["v1"]


def test_what_came_later_cannot_be_had() -> None:
    assert "policy/v1" not in served("1.20", {"api/all": True})


def test_a_runtime_config_that_names_nothing_is_refused() -> None:
    serving.check({"apps/v1beta1": True, "api/beta": False, "v1/pods": True}, schema.load("1.34"))
    with pytest.raises(Invalid, match="apps/v1beta3"):
        serving.check({"apps/v1beta3": True}, schema.load("1.34"))
    with pytest.raises(Invalid, match="policy/v1"):
        serving.check({"policy/v1": True}, schema.load("1.20"))


@pytest.mark.parametrize(
    ("api_version", "kind", "version", "text"),
    [
        (
            "policy/v1beta1",
            "PodDisruptionBudget",
            (1, 21),
            "policy/v1beta1 PodDisruptionBudget is deprecated in v1.21+, unavailable in v1.25+; "
            "use policy/v1 PodDisruptionBudget",
        ),
        ("policy/v1beta1", "PodDisruptionBudget", (1, 20), ""),
        (
            "extensions/v1beta1",
            "Ingress",
            (1, 20),
            "extensions/v1beta1 Ingress is deprecated in v1.14+, unavailable in v1.22+; "
            "use networking.k8s.io/v1 Ingress",
        ),
        (
            "policy/v1beta1",
            "PodSecurityPolicy",
            (1, 21),
            "policy/v1beta1 PodSecurityPolicy is deprecated in v1.21+, unavailable in v1.25+",
        ),
        ("v1", "ComponentStatus", (1, 20), "v1 ComponentStatus is deprecated in v1.19+"),
        ("apps/v1", "Deployment", (1, 37), ""),
    ],
)
def test_deprecation_warnings(
    api_version: str, kind: str, version: tuple[int, int], text: str
) -> None:
    assert life_of(api_version, kind).warning(version, api_version, kind) == text
