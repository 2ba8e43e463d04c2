"""Protobuf bodies built byte by byte; recorded ones are under tests/golden."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from muntin.kit import clock
from muntin.kit.protobuf import write_varint
from muntin.model import protobuf, schema, times
from muntin.model.decoding import Undecodable, decode
from muntin.model.resources import LEASES, PODS


def text(number: int, data: bytes | str) -> bytes:
    body = data.encode() if isinstance(data, str) else data
    return write_varint(number << 3 | 2) + write_varint(len(body)) + body


def number(field: int, value: int) -> bytes:
    return write_varint(field << 3) + write_varint(value)


def body(api_version: str, kind: str, raw: bytes) -> bytes:
    return b"k8s\0" + text(1, text(1, api_version) + text(2, kind)) + text(2, raw)


def decoded(api_version: str, kind: str, raw: bytes) -> dict[str, object]:
    found = protobuf.decode_body(body(api_version, kind, raw))
    assert (found.pop("apiVersion"), found.pop("kind")) == (api_version, kind)
    return found


def test_times_quantities_and_int_or_string() -> None:
    lease = text(2, text(1, "me") + text(4, number(1, 1714564800) + number(2, 500_000_000)))
    assert decoded("coordination.k8s.io/v1", "Lease", lease) == {
        "spec": {"holderIdentity": "me", "renewTime": "2024-05-01T12:00:00.500000Z"}
    }
    quota = text(2, text(1, text(1, "cpu") + text(2, text(1, "500m"))))
    assert decoded("v1", "ResourceQuota", quota) == {"spec": {"hard": {"cpu": "500m"}}}
    port = text(1, number(3, 80) + text(4, number(1, 1) + text(3, "web")))
    assert decoded("v1", "Service", text(2, port)) == {
        "spec": {"ports": [{"port": 80, "targetPort": "web"}]}
    }


def test_embedded_structs_are_flattened() -> None:
    volume = text(1, text(1, "v") + text(2, text(2, b"")))
    probe = text(10, text(1, text(2, text(1, "/"))) + number(4, 5))
    container = text(2, text(1, "c") + probe)
    assert decoded("v1", "Pod", text(2, volume + container)) == {
        "spec": {
            "volumes": [{"name": "v", "emptyDir": {}}],
            "containers": [
                {"name": "c", "livenessProbe": {"httpGet": {"path": "/"}, "periodSeconds": 5}}
            ],
        }
    }


def test_empty_plain_values_are_dropped_pointers_are_kept() -> None:
    spec = number(1, 0) + number(5, 0)  # replicas is a pointer in Go, minReadySeconds is not
    assert decoded("apps/v1", "Deployment", text(2, spec)) == {"spec": {"replicas": 0}}
    assert decoded("v1", "ConfigMap", text(1, text(1, "") + text(3, "ns"))) == {
        "metadata": {"namespace": "ns"}
    }


def test_a_zero_time_is_no_time() -> None:
    assert decoded("v1", "ConfigMap", text(1, text(8, b""))) == {"metadata": {}}


def test_years_before_1000_have_four_digits() -> None:
    first = number(1, -62135596800)  # year 1
    lease = decoded("coordination.k8s.io/v1", "Lease", text(2, text(4, first)))
    assert lease == {"spec": {"renewTime": "0001-01-01T00:00:00.000000Z"}}
    read = decode(schema.load("1.34"), LEASES, {
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {"creationTimestamp": "0999-12-31T23:59:59.5Z"},
        "spec": {"renewTime": "0001-01-01T01:00:00.000000+01:00"},
    })  # fmt: skip
    assert read.object["spec"] == lease["spec"]
    assert read.object["metadata"]["creationTimestamp"] == "0999-12-31T23:59:59Z"
    early = datetime(999, 12, 31, tzinfo=UTC).timestamp()
    assert times.text_of(early) == clock.rfc3339(early) == "0999-12-31T00:00:00Z"
    assert (
        times.micro_text_of(early)
        == clock.rfc3339(early, micros=True)
        == ("0999-12-31T00:00:00.000000Z")
    )


def test_bytes_and_maps() -> None:
    data = text(2, text(1, "k") + text(2, b"\x00\xff"))
    assert decoded("v1", "Secret", data) == {"data": {"k": "AP8="}}


def test_negative_numbers() -> None:
    assert decoded("scheduling.k8s.io/v1", "PriorityClass", number(2, -5)) == {"value": -5}


def test_unknown_numbers_are_reported_unless_they_say_nothing() -> None:
    found = decoded("v1", "ConfigMap", text(999, "x") + number(998, 0) + number(997, 1))
    assert found == {"(field number 999)": True, "(field number 997)": True}
    probe = text(10, number(99, 1))
    pod = decoded("v1", "Pod", text(2, text(2, text(1, "c") + probe)))
    read = decode(schema.load("1.34"), PODS, {"apiVersion": "v1", "kind": "Pod", **pod})
    assert read.unknown == ["spec.containers[0].livenessProbe.(field number 99)"]


def test_delete_options_of_any_group() -> None:
    assert decoded("apps/v1", "DeleteOptions", number(1, 0)) == {"gracePeriodSeconds": 0}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"{}", "no k8s prefix"),
        (body("v1", "Nope", b""), 'no kind "Nope" is registered for version "v1"'),
        (b"k8s\0\xff\xff", "not a protobuf message"),
        (body("v1", "Pod", b"\x12\x7f"), "not a protobuf message"),
        (body("v1", "Pod", text(1, text(1, b"\xff"))), "not a protobuf message"),
    ],
)
def test_bad_bodies(data: bytes, message: str) -> None:
    with pytest.raises(Undecodable, match=message):
        protobuf.decode_body(data)
