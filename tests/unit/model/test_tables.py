"""The Table form of every kind; the cells themselves are golden cases."""

from __future__ import annotations

import json

import pytest

from muntin.model import resources, tables
from muntin.model.resources import PODS, RESOURCES, Resource

OBJECT = {"metadata": {"name": "a", "uid": "u"}}


@pytest.mark.parametrize("resource", RESOURCES, ids=lambda row: f"{row.group_resource}")
def test_even_an_empty_object_has_a_cell_for_each_column(resource: Resource) -> None:
    table = json.loads(tables.table(resource, [OBJECT], now_s=0))
    assert table["kind"] == "Table"
    assert len(table["rows"][0]["cells"]) == len(table["columnDefinitions"])


def test_what_a_row_includes() -> None:
    raw = json.dumps(OBJECT).encode()

    def included(include: str) -> object:
        return json.loads(tables.table(PODS, [raw], now_s=0, include=include))["rows"][0]["object"]

    assert included("Object") == OBJECT
    assert included("None") is None
    assert included("Metadata") == {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        **OBJECT,
    }


def test_metadata_of_the_list_and_columns_on_demand() -> None:
    table = json.loads(
        tables.table(
            PODS, [], now_s=0, version="v1beta1", metadata={"resourceVersion": "7"},
            with_columns=False,
        )
    )  # fmt: skip
    assert table["apiVersion"] == "meta.k8s.io/v1beta1"
    assert table["metadata"] == {"resourceVersion": "7"}
    assert table["columnDefinitions"] == []


def test_ended_pods_carry_a_condition() -> None:
    done = {**OBJECT, "status": {"phase": "Succeeded"}}
    (row,) = json.loads(tables.table(PODS, [done], now_s=0))["rows"]
    assert row["conditions"][0]["type"] == "Completed"


def test_wide_columns_come_last_in_priority() -> None:
    columns = tables.printer(resources.NODES).columns
    assert [column.name for column in columns if not column.priority] == [
        "Name", "Status", "Roles", "Age", "Version",
    ]  # fmt: skip
