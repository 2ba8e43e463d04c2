"""The table of types: what it says of kinds that everybody knows, in each version."""

from __future__ import annotations

import pytest

from muntin.kit.errors import Unsupported
from muntin.model import resources, schema

NOW = schema.load("1.34")
POD_SPEC = "io.k8s.api.core.v1.PodSpec"


def test_versions() -> None:
    known = schema.versions()
    assert known[0] == "1.20"
    assert {f"1.{minor}" for minor in range(25, 38)} <= set(known)
    with pytest.raises(Unsupported, match=r"known versions: 1\.20, 1\.25"):
        schema.load("1.22")


def test_a_patch_release_has_the_types_of_its_minor_release() -> None:
    assert schema.load("v1.34.2").type_names == NOW.type_names


def test_fields_that_came_later_are_not_in_old_versions() -> None:
    assert "os" in NOW.type(POD_SPEC).fields
    assert "os" not in schema.load("1.20").type(POD_SPEC).fields


def test_merge_facts() -> None:
    fields = NOW.type(POD_SPEC).fields
    assert fields["containers"].merge_key == "name"
    assert fields["containers"].strategies == ("merge",)
    assert fields["containers"].list_map_keys == ("name",)
    assert fields["volumes"].strategies == ("merge", "retainKeys")
    assert fields["nodeSelector"].map_type == "atomic"
    ports = NOW.type("io.k8s.api.core.v1.ServiceSpec").fields["ports"]
    assert (ports.merge_key, ports.list_map_keys) == ("port", ("port", "protocol"))


def test_required_fields() -> None:
    assert NOW.type("io.k8s.api.core.v1.ServicePort").required == ("port",)
    assert NOW.type("io.k8s.api.core.v1.Container").required == ("name",)


@pytest.mark.parametrize("version", schema.versions())
def test_every_reference_leads_to_a_type(version: str) -> None:
    types = schema.load(version)
    for name in types.type_names:
        for shape in types.type(name).fields.values():
            while shape.items is not None:
                shape = shape.items
            assert not shape.ref or types.has_type(shape.ref)


@pytest.mark.parametrize("version", schema.versions())
def test_every_version_serves_what_a_cluster_needs(version: str) -> None:
    types = schema.load(version)
    served = {row.plural for row in resources.served(types)}
    assert {"pods", "nodes", "services", "deployments", "leases", "endpointslices"} <= served
    assert {"cronjobs", "poddisruptionbudgets", "clusterroles", "events"} <= served


def test_old_versions_serve_the_beta_rows() -> None:
    old = {(row.plural, row.version) for row in resources.served(schema.load("1.20"))}
    new = {(row.plural, row.version) for row in resources.served(NOW)}
    assert ("endpointslices", "v1beta1") in old - new
    assert ("endpointslices", "v1") in new - old


def test_eviction_speaks_the_version_that_is_there() -> None:
    def eviction(version: str) -> str:
        rows = resources.served(schema.load(version))
        pods = next(row for row in rows if row.plural == "pods")
        sub = pods.subresource("eviction")
        assert sub is not None
        return sub.version

    assert (eviction("1.34"), eviction("1.20")) == ("v1", "v1beta1")
