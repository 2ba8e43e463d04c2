"""What scheduler, kubelet and controllers all need to know of a pod; pods are plain dicts.

Source: kubernetes v1.34 component-helpers/resource/helpers.go (requests),
pkg/apis/core/v1/helper/qos/qos.go, pkg/api/v1/pod/util.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from muntin.model import quantity

Pod = Mapping[str, Any]
Amounts = dict[str, int]

MOST_AMOUNTS = 4096

BURSTABLE, GUARANTEED, BEST_EFFORT = "Burstable", "Guaranteed", "BestEffort"


@lru_cache(maxsize=MOST_AMOUNTS)
def amount(resource: str, text: int | str) -> int:
    """``text`` in the unit that whole-number sums use: milli for cpu, whole units otherwise."""
    return quantity.milli(text) if resource == "cpu" else quantity.value(text)


def amounts(quantities: Mapping[str, Any] | None) -> Amounts:
    """A map of quantities (requests, limits, allocatable) as whole numbers, see `amount`."""
    return {name: amount(name, text) for name, text in (quantities or {}).items()}


def settle_addresses(status: dict[str, Any]) -> None:
    """A pod's address is the first of its addresses; the older field decides."""
    first, rows = status.get("podIP"), status.get("podIPs")
    if first and (not rows or rows[0].get("ip") != first):
        status["podIPs"] = [{"ip": first}]
    elif rows and not first:
        status["podIP"] = rows[0].get("ip", "")


def _add(into: Amounts, more: Mapping[str, int]) -> None:
    for name, value in more.items():
        into[name] = into.get(name, 0) + value


def _raise_to(into: Amounts, more: Mapping[str, int]) -> None:
    for name, value in more.items():
        if value > into.get(name, 0):
            into[name] = value


def is_sidecar(container: Mapping[str, Any]) -> bool:
    """Whether an init container keeps running beside the pod's containers."""
    return container.get("restartPolicy") == "Always"


def _effective(pod: Pod, field: str) -> Amounts:
    """What the pod needs at once: the larger of its start and its run, plus overhead."""
    spec = pod["spec"]

    def of(container: Mapping[str, Any]) -> Amounts:
        return amounts((container.get("resources") or {}).get(field))

    total: Amounts = {}
    for container in spec.get("containers") or ():
        _add(total, of(container))
    sidecars: Amounts = {}
    start: Amounts = {}
    for container in spec.get("initContainers") or ():
        needs = of(container)
        if is_sidecar(container):
            _add(total, needs)
            _add(sidecars, needs)
            _raise_to(start, sidecars)
        else:
            _add(needs, sidecars)
            _raise_to(start, needs)
    _raise_to(total, start)
    total.update(amounts((spec.get("resources") or {}).get(field)))  # pod-level values win
    overhead = amounts(spec.get("overhead"))
    if field == "limits":
        overhead = {name: value for name, value in overhead.items() if name in total}
    _add(total, overhead)
    return total


def requests(pod: Pod) -> Amounts:
    """The pod's effective requests, cpu in milli-CPU, all else in whole units."""
    return _effective(pod, "requests")


def as_held(pod: Pod) -> Pod:
    """The pod with the requests that its node reserves for it during a resize; otherwise itself.

    These are the maximum of desired, allocated and actual requests. Desired requests of an
    infeasible resize do not count.
    Source: kubernetes v1.34 component-helpers/resource/helpers.go (determineContainerReqs).
    """
    status = pod.get("status") or _NOTHING
    statuses = {
        row.get("name"): row
        for kind in ("containerStatuses", "initContainerStatuses")
        for row in status.get(kind) or ()
        if row.get("allocatedResources")
    }
    if not statuses:
        return pod
    spec = dict(pod["spec"])
    for kind in ("containers", "initContainers"):
        rows = spec.get(kind) or ()
        if any(_is_resized(row, statuses.get(row["name"])) for row in rows):
            spec[kind] = [_held(pod, row, statuses.get(row["name"])) for row in rows]
    return pod if spec == pod["spec"] else {**pod, "spec": spec}


def _is_resized(container: Mapping[str, Any], status: Mapping[str, Any] | None) -> bool:
    asked = (container.get("resources") or _NOTHING).get("requests") or _NOTHING
    if status is None:
        return False
    actual = (status.get("resources") or _NOTHING).get("requests") or asked
    return status["allocatedResources"] != asked or actual != asked


def _held(
    pod: Pod, container: Mapping[str, Any], status: Mapping[str, Any] | None
) -> Mapping[str, Any]:
    if status is None or not _is_resized(container, status):
        return container
    resources = container.get("resources") or {}
    sides = [status["allocatedResources"], (status.get("resources") or {}).get("requests") or {}]
    if not _is_infeasible(pod):
        sides.append(resources.get("requests") or {})
    largest: dict[str, Any] = {}
    for side in sides:
        for name, text in side.items():
            if name not in largest or amount(name, text) > amount(name, largest[name]):
                largest[name] = text
    return {**container, "resources": {**resources, "requests": largest}}


def _is_infeasible(pod: Pod) -> bool:
    return any(
        row.get("type") == "PodResizePending" and row.get("reason") == "Infeasible"
        for row in (pod.get("status") or {}).get("conditions") or ()
    )


def limits(pod: Pod) -> Amounts:
    """The pod's effective limits, in the units of `requests`."""
    return _effective(pod, "limits")


def qos_class(pod: Pod) -> str:
    """Guaranteed, Burstable or BestEffort, from cpu and memory of all its containers."""
    spec = pod["spec"]
    holders = [spec] if spec.get("resources") else [*all_containers(pod)]
    asks_anything, guaranteed = False, bool(holders)
    for holder in holders:
        resources = holder.get("resources") or _NOTHING
        least, most = resources.get("requests") or _NOTHING, resources.get("limits") or _NOTHING
        for name in ("cpu", "memory"):
            wanted, capped = _asked(name, least), _asked(name, most)
            asks_anything = asks_anything or wanted > 0 or capped > 0
            guaranteed = guaranteed and capped > 0 and wanted in (0, capped)
    if not asks_anything:
        return BEST_EFFORT
    return GUARANTEED if guaranteed else BURSTABLE


_NOTHING: Mapping[str, Any] = {}


def _asked(name: str, quantities: Mapping[str, Any]) -> int:
    """How much, zero where nothing is said."""
    text = quantities.get(name)
    return 0 if text is None else max(0, amount(name, text))


def all_containers(pod: Pod, *, ephemeral: bool = False) -> Iterator[Mapping[str, Any]]:
    """Init containers, then containers, then (if asked) ephemeral ones."""
    spec = pod["spec"]
    yield from spec.get("initContainers") or ()
    yield from spec.get("containers") or ()
    if ephemeral:
        yield from spec.get("ephemeralContainers") or ()


def host_ports(pod: Pod) -> set[tuple[str, str, int]]:
    """The host ports the pod takes, as (protocol, host IP, port)."""
    return {
        (port.get("protocol", "TCP"), port.get("hostIP") or "0.0.0.0", port["hostPort"])
        for container in all_containers(pod)
        for port in container.get("ports") or ()
        if port.get("hostPort")
        and (container in pod["spec"]["containers"] or is_sidecar(container))
    }


def ports_conflict(left: set[tuple[str, str, int]], right: set[tuple[str, str, int]]) -> bool:
    """Whether two sets of host ports clash; 0.0.0.0 clashes with every address."""
    any_ip = "0.0.0.0"
    return any(
        protocol == other_protocol and port == other_port and (ip == other or any_ip in (ip, other))
        for protocol, ip, port in left
        for other_protocol, other, other_port in right
    )


def find_port(pod: Pod, port: int | str, protocol: str = "TCP") -> int | None:
    """The number of a target port, which may be a container port's name."""
    if isinstance(port, int):
        return port
    for container in all_containers(pod):
        for row in container.get("ports") or ():
            if row.get("name") == port and row.get("protocol", "TCP") == protocol:
                return int(row["containerPort"])
    return None


def phase(pod: Pod) -> str:
    """``status.phase``; a pod without status is Pending."""
    return (pod.get("status") or {}).get("phase") or "Pending"


def is_terminal(pod: Pod) -> bool:
    """Whether all its containers have ended for good."""
    return phase(pod) in ("Succeeded", "Failed")


def is_deleting(pod: Pod) -> bool:
    """Whether its deletion has been asked for."""
    return pod["metadata"].get("deletionTimestamp") is not None


def is_active(pod: Pod) -> bool:
    """Whether it counts as a replica: not ended and not being deleted."""
    return not is_terminal(pod) and not is_deleting(pod)


def node_name(pod: Pod) -> str:
    """The node it is bound to, or the empty text."""
    return pod["spec"].get("nodeName") or ""


def pod_ips(pod: Pod) -> list[str]:
    """Its addresses, the primary one first."""
    status = pod.get("status") or {}
    ips = [row["ip"] for row in status.get("podIPs") or () if row.get("ip")]
    return ips or ([status["podIP"]] if status.get("podIP") else [])


def condition(obj: Mapping[str, Any], kind: str) -> Mapping[str, Any] | None:
    """The condition of type ``kind`` in ``obj``'s status (of a pod, a node, a deployment)."""
    for row in (obj.get("status") or {}).get("conditions") or ():
        if row.get("type") == kind:
            return row  # type: ignore[no-any-return] # JSON
    return None


def is_condition_true(obj: Mapping[str, Any], kind: str) -> bool:
    """Whether that condition is there and ``True``."""
    row = condition(obj, kind)
    return row is not None and row.get("status") == "True"


def is_ready(pod: Pod) -> bool:
    """Whether the pod's Ready condition is true."""
    return is_condition_true(pod, "Ready")


def is_available(pod: Pod, min_ready_s: int, now_s: float, ready_since_s: float | None) -> bool:
    """Ready for ``min_ready_s``; ``ready_since_s`` is its Ready transition in epoch seconds."""
    if not is_ready(pod):
        return False
    return not min_ready_s or (ready_since_s is not None and ready_since_s + min_ready_s <= now_s)


def set_condition(conditions: list[dict[str, Any]], row: dict[str, Any], now: str) -> bool:
    """Put ``row`` in ``conditions`` by its type; True if anything changed.

    ``lastTransitionTime`` becomes ``now`` only when the status changes.
    """
    for index, old in enumerate(conditions):
        if old.get("type") != row["type"]:
            continue
        same_status = old.get("status") == row.get("status")
        stamp = old.get("lastTransitionTime", now) if same_status else now
        new = {**old, **row, "lastTransitionTime": stamp}
        conditions[index] = new
        return new != old
    conditions.append({**row, "lastTransitionTime": now})
    return True


def os_name(pod: Pod) -> str:
    """The operating system its spec names (``spec.os.name``), or the empty text."""
    return (pod["spec"].get("os") or {}).get("name") or ""


def priority(pod: Pod) -> int:
    """Its priority, zero when no admission has set one."""
    return pod["spec"].get("priority") or 0


def controller_of(obj: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The owner reference whose ``controller`` is true."""
    for owner in obj["metadata"].get("ownerReferences") or ():
        if owner.get("controller"):
            return owner  # type: ignore[no-any-return] # JSON
    return None
