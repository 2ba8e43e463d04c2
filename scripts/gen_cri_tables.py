"""Distil the CRI v1 field list into the compact table that ``muntin.seams.cri`` loads.

In: ``scripts/sources/cri-v1-fields.json`` (field numbers and types of cri-api v0.36.3's api.proto).
Out: ``src/muntin/seams/cri/runtime_v1.tsv``, one line a message, enum or RPC.
Run without arguments; ``make gen`` does.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "scripts" / "sources" / "cri-v1-fields.json"
TARGET = ROOT / "src" / "muntin" / "seams" / "cri" / "runtime_v1.tsv"

# Messages of api.proto that the field list does not carry (one-line and out-of-order ones).
MORE_MESSAGES: dict[str, dict[str, list[Any]]] = {
    "ContainerEventResponse": {
        "container_id": [1, "string"],
        "container_event_type": [2, "ContainerEventType"],
        "created_at": [3, "int64"],
        "pod_sandbox_status": [4, "PodSandboxStatus"],
        "containers_statuses": [5, "[]ContainerStatus"],
    },
    "ContainerStatsRequest": {"container_id": [1, "string"]},
    "ExecSyncRequest": {
        "container_id": [1, "string"],
        "cmd": [2, "[]string"],
        "timeout": [3, "int64"],
    },
    "FilesystemIdentifier": {"mountpoint": [1, "string"]},
    "Int64Value": {"value": [1, "int64"]},
    "ListContainerStatsRequest": {"filter": [1, "ContainerStatsFilter"]},
    "ListMetricDescriptorsResponse": {"descriptors": [1, "[]MetricDescriptor"]},
    "ListPodSandboxMetricsResponse": {"pod_metrics": [1, "[]PodSandboxMetrics"]},
    "NetworkConfig": {"pod_cidr": [1, "string"]},
    "PodIP": {"ip": [1, "string"]},
    "PodSandboxStatusRequest": {"pod_sandbox_id": [1, "string"], "verbose": [2, "bool"]},
    "RemoveContainerRequest": {"container_id": [1, "string"]},
    "RemoveContainerResponse": {},
    "RemovePodSandboxRequest": {"pod_sandbox_id": [1, "string"]},
    "ReopenContainerLogResponse": {},
    "RuntimeCondition": {
        "type": [1, "string"],
        "status": [2, "bool"],
        "reason": [3, "string"],
        "message": [4, "string"],
    },
    "RuntimeConfigResponse": {"linux": [1, "LinuxRuntimeConfiguration"]},
    "StopContainerRequest": {"container_id": [1, "string"], "timeout": [2, "int64"]},
    "UInt64Value": {"value": [1, "uint64"]},
    "UpdatePodSandboxResourcesResponse": {},
}
# RPCs whose messages the field list lacks and nothing here calls.
LEFT_OUT = frozenset({"CheckpointPod", "RestorePod", "StreamPodSandboxMetrics"})
MORE_ENUMS = {"ProfileType": {"RuntimeDefault": 0, "Unconfined": 1, "Localhost": 2}}


def lines(source: dict[str, Any]) -> list[str]:
    """The lines of the table, sorted."""
    enums = {**source["enums"], **MORE_ENUMS}
    messages = {**MORE_MESSAGES, **source["messages"]}
    rpcs = {
        (service, rpc): types
        for service, table in source["services"].items()
        for rpc, types in table.items()
        if rpc not in LEFT_OUT
    }
    for rpc_messages in rpcs.values():
        for name in rpc_messages:
            if name.removeprefix("stream ") not in messages:
                raise SystemExit(f"{SOURCE.name} and MORE_MESSAGES lack {name}")
    out = []
    for name in sorted(enums):
        values = sorted(enums[name].items(), key=lambda item: item[1])
        out.append("\t".join(["enum", name, *(f"{number} {key}" for key, number in values)]))
    for name in sorted(messages):
        out.append("\t".join(["message", name, *_fields(messages[name], enums)]))
    for (service, rpc), (request, response) in sorted(rpcs.items()):
        out.append("\t".join(["rpc", service, rpc, request, response]))
    return out


def _fields(table: dict[str, list[Any]], enums: dict[str, Any]) -> list[str]:
    rows = sorted((number, name, type_) for name, (number, type_) in table.items())
    return [f"{number} {name} {_type(type_, enums)}" for number, name, type_ in rows]


def _type(text: str, enums: dict[str, Any]) -> str:
    text = text.replace(" ", "")
    bare = text.removeprefix("[]")
    return text.replace(bare, "enum") if bare in enums else text


def main() -> None:
    """Write the table."""
    source = json.loads(SOURCE.read_text(encoding="utf-8"))
    TARGET.write_text("\n".join(lines(source)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
