"""The CRI tables: complete, agreeing with the enums, and what the generator writes."""

from __future__ import annotations

import importlib.util
import json
from enum import IntEnum
from pathlib import Path

import pytest

from muntin.kit.errors import Conflict, Internal, Invalid, NotFound, TimedOut
from muntin.kit.protobuf import decode, encode
from muntin.seams.cri import Unknown, enums, rpc_error_text
from muntin.seams.cri.tables import tables

ROOT = Path(__file__).parents[3]


def test_every_message_that_is_named_exists() -> None:
    found = tables()
    for rpc in found.rpcs.values():
        assert rpc.request in found.messages
        assert rpc.response in found.messages
    for fields in found.messages.values():
        for field in fields.values():
            assert not field.message or field.message in found.messages


# Hand-typed from the CRI field tables in api.proto: message, number, name, kind, repeated.
@pytest.mark.parametrize(
    ("message", "number", "name", "kind", "repeated"),
    [
        ("PodSandboxConfig", 8, "linux", "message", False),
        ("PodSandboxConfig", 9, "windows", "message", False),
        ("ContainerConfig", 11, "log_path", "string", False),
        ("ContainerConfig", 6, "envs", "message", True),
        ("ContainerStatus", 7, "exit_code", "int32", False),
        ("StopContainerRequest", 2, "timeout", "int64", False),
        ("ExecSyncRequest", 2, "cmd", "string", True),
        ("PortForwardRequest", 2, "port", "int32", True),
        ("UInt64Value", 1, "value", "uint64", False),
    ],
)
def test_fields(message: str, number: int, name: str, kind: str, repeated: bool) -> None:
    field = tables().messages[message][number]
    assert (field.name, field.kind, field.repeated) == (name, kind, repeated)


def test_enums_agree_with_the_table() -> None:
    own = [
        value
        for value in vars(enums).values()
        if isinstance(value, type) and issubclass(value, IntEnum) and value is not IntEnum
    ]
    assert len(own) == 8
    for enum in own:
        assert {member.name: member.value for member in enum} == tables().enums[enum.__name__]


def test_the_table_is_what_the_generator_writes() -> None:
    spec = importlib.util.spec_from_file_location("gen", ROOT / "scripts" / "gen_cri_tables.py")
    assert spec is not None
    assert spec.loader is not None
    generator = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generator)
    lines = generator.lines(json.loads(generator.SOURCE.read_text()))
    assert generator.TARGET.read_text() == "\n".join(lines) + "\n"


def test_a_message_survives_the_wire() -> None:
    config = {
        "metadata": {"name": "p", "uid": "u", "namespace": "d", "attempt": 3},
        "labels": {"a": "1", "b": ""},
        "port_mappings": [{"protocol": 1, "container_port": 53}],
        "windows": {"security_context": {"run_as_username": "ContainerUser"}},
    }
    message = {"config": config, "runtime_handler": "x"}
    data = encode(tables().messages, "RunPodSandboxRequest", message)
    assert decode(tables().messages, "RunPodSandboxRequest", data) == message


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (NotFound("x"), "rpc error: code = NotFound desc = x"),
        (Invalid("x"), "rpc error: code = InvalidArgument desc = x"),
        (TimedOut("x"), "rpc error: code = DeadlineExceeded desc = x"),
        (Conflict("x"), "rpc error: code = Aborted desc = x"),
        (Internal("x"), "rpc error: code = Internal desc = x"),
        (Unknown("x"), "rpc error: code = Unknown desc = x"),
    ],
)
def test_errors_are_printed_as_go_does(error: Internal, text: str) -> None:
    assert rpc_error_text(error) == text
