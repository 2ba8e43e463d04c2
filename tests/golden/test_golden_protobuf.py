"""What kubectl 1.32 sends when it creates things, recorded, and the JSON it stands for."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from muntin.model import decoding, protobuf, resources, schema

HERE = Path(__file__).parent / "protobuf"
INPUTS = sorted(HERE.glob("*.input.hex"))


@pytest.mark.parametrize("source", INPUTS, ids=lambda path: path.name.split(".")[0])
def test_recorded_body_is_read(source: Path, golden: Callable[[Path, str], None]) -> None:
    found = protobuf.decode_body(bytes.fromhex(source.read_text()))
    output = source.with_name(source.name.replace(".input.hex", ".output.json"))
    golden(output, json.dumps(found, indent=2) + "\n")


@pytest.mark.parametrize("source", INPUTS, ids=lambda path: path.name.split(".")[0])
def test_recorded_body_fits_the_schema(source: Path) -> None:
    found = protobuf.decode_body(bytes.fromhex(source.read_text()))
    types = schema.load("1.34")
    group, _, version = found["apiVersion"].rpartition("/")
    type_ = types.kind_type(group, version, found["kind"])
    assert type_ is not None
    assert decoding.decode_as(types, type_, found, version, found["kind"]).unknown == []


def test_there_are_recordings() -> None:
    assert len(INPUTS) >= 19
    kinds = {protobuf.decode_body(bytes.fromhex(path.read_text()))["kind"] for path in INPUTS}
    assert {"ConfigMap", "Deployment", "Service", "TokenRequest"} <= kinds
    assert resources.by_kind("apps/v1", "Deployment") is not None
