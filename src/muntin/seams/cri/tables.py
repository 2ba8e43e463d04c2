"""The message, enum and RPC tables of CRI v1, read once from ``runtime_v1.tsv``.

``make gen`` writes that file (scripts/gen_cri_tables.py).
Source: k8s.io/cri-api v0.36.3 pkg/apis/runtime/v1/api.proto.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from muntin.kit.protobuf import Field

SCALARS = frozenset(
    {"bool", "int32", "int64", "uint32", "uint64", "enum", "string", "bytes", "double", "float"}
)


@dataclass(frozen=True, slots=True)
class Rpc:
    """One RPC: its service and the names of its messages; ``streams`` when the server does."""

    service: str
    name: str
    request: str
    response: str
    streams: bool

    @property
    def path(self) -> str:
        """The HTTP/2 path of the call."""
        return f"/runtime.v1.{self.service}/{self.name}"


@dataclass(frozen=True, slots=True)
class Tables:
    """``messages`` fits :mod:`muntin.kit.protobuf`; ``rpcs`` is keyed by RPC name."""

    enums: dict[str, dict[str, int]]
    messages: dict[str, dict[int, Field]]
    rpcs: dict[str, Rpc]


def _field(text: str) -> tuple[int, Field]:
    number, name, type_ = text.split(" ")
    repeated = type_.startswith("[]")
    type_ = type_.removeprefix("[]")
    if type_.startswith("map<"):
        key, value = type_[4:-1].split(",")
        kind = value if value in SCALARS else "message"
        field = Field(name, "map", message="" if kind == value else value, entry=(key, kind))
    elif type_ in SCALARS:
        field = Field(name, type_, repeated)
    else:
        field = Field(name, "message", repeated, message=type_)
    return int(number), field


@cache
def tables() -> Tables:
    """The parsed tables."""
    text = files("muntin.seams.cri").joinpath("runtime_v1.tsv").read_text(encoding="utf-8")
    result = Tables({}, {}, {})
    for line in text.splitlines():
        what, name, *rest = line.split("\t")
        if what == "enum":
            pairs = (item.split(" ") for item in rest)
            result.enums[name] = {key: int(number) for number, key in pairs}
        elif what == "message":
            result.messages[name] = dict(_field(item) for item in rest)
        else:
            rpc, request, response = rest
            bare = response.removeprefix("stream ")
            result.rpcs[rpc] = Rpc(name, rpc, request, bare, bare != response)
    return result
