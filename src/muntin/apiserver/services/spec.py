"""The fields of a Service that hold addresses and node ports.

Source: kubernetes v1.34 pkg/registry/core/service/storage/alloc.go.
"""

from __future__ import annotations

from typing import Any

from muntin.apiserver import status
from muntin.apiserver.services.pools import AddressPools, OutOfRange, PortPool, Taken
from muntin.kit import errors
from muntin.kit.errors import Cause
from muntin.model.resources import SERVICES

Object = dict[str, Any]

HEADLESS = "None"
_WITHOUT_PORTS = ("ClusterIP", "ExternalName")


def addresses(service: Object) -> frozenset[str]:
    """The cluster addresses that ``service`` has."""
    spec = service.get("spec") or {}
    if spec.get("type") == "ExternalName":
        return frozenset()
    found = {spec.get("clusterIP"), *(spec.get("clusterIPs") or ())}
    return frozenset(address for address in found if address and address != HEADLESS)


def ports(service: Object) -> frozenset[int]:
    """The node ports that ``service`` has."""
    spec = service.get("spec") or {}
    found = {port.get("nodePort") for port in spec.get("ports") or ()}
    found.add(spec.get("healthCheckNodePort"))
    return frozenset(port for port in found if port)


def needs_ports(spec: Object) -> bool:
    """Whether each of its ports gets a node port."""
    if spec.get("type") == "LoadBalancer":
        return bool(spec.get("allocateLoadBalancerNodePorts", True))
    return spec.get("type") == "NodePort"


def carry_over(new: Object, old: Object) -> None:
    """Take from ``old`` what ``new`` leaves out, as far as its type still has it."""
    after, before = new.setdefault("spec", {}), old.get("spec") or {}
    _carry_addresses(after, before)
    _carry_ports(after, before)
    if after.get("type", "ClusterIP") in _WITHOUT_PORTS and not after.get("externalIPs"):
        _drop_unchanged(after, before, ("externalTrafficPolicy", "healthCheckNodePort"))
    if wants_health_port(before) and not wants_health_port(after):
        _drop_unchanged(after, before, ("healthCheckNodePort",))
    if after.get("type") != "LoadBalancer":
        if before.get("type") == "LoadBalancer":
            _drop_unchanged(after, before, ("allocateLoadBalancerNodePorts", "loadBalancerClass"))
        status = new.get("status") or {}
        if status.get("loadBalancer") and status == old.get("status"):  # not sent, but carried over
            new["status"] = {**status, "loadBalancer": {}}
    health = before.get("healthCheckNodePort")
    if health and wants_health_port(after) and not after.get("healthCheckNodePort"):
        after["healthCheckNodePort"] = health


def _carry_addresses(after: Object, before: Object) -> None:
    was_external = before.get("type") == "ExternalName"
    if after.get("type") == "ExternalName":
        if not was_external:
            fields = (
                "clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy",
            )  # fmt: skip
            _drop_unchanged(after, before, fields)
    elif not was_external and not after.get("clusterIP"):
        for field in ("clusterIP", "clusterIPs"):
            if before.get(field):
                after[field] = before[field]
    elif not was_external and after["clusterIP"] != before.get("clusterIP"):
        rows = after.get("clusterIPs") or []
        if rows == before.get("clusterIPs"):  # the older field was changed alone
            after["clusterIPs"] = [after["clusterIP"], *rows[1:]]


def _carry_ports(after: Object, before: Object) -> None:
    known = {
        (port.get("protocol"), port.get("port")): port.get("nodePort")
        for port in before.get("ports") or ()
    }
    wants = needs_ports(after)
    for port in after.get("ports") or ():
        mine = known.get((port.get("protocol"), port.get("port")))
        if not mine:
            continue
        if wants and not port.get("nodePort"):
            port["nodePort"] = mine
        elif after.get("type", "ClusterIP") in _WITHOUT_PORTS and port.get("nodePort") == mine:
            del port["nodePort"]


def _drop_unchanged(after: Object, before: Object, fields: tuple[str, ...]) -> None:
    for field in fields:
        if field in after and after[field] == before.get(field):
            del after[field]


def wants_health_port(spec: Object) -> bool:
    """Whether a load balancer must be told which nodes have endpoints."""
    return spec.get("type") == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local"


def fill(service: Object, owner: str, pool: AddressPools, node_ports: PortPool) -> None:
    """Give ``service`` what it needs and hold what it asks for.

    Raises:
        ApiError: 422 or 500.
    """
    spec = service["spec"]
    if spec.get("type") != "ExternalName":
        _fill_address(service, spec, owner, pool)
    if needs_ports(spec):
        _fill_ports(service, spec, owner, node_ports)
    if wants_health_port(spec):
        port = spec.get("healthCheckNodePort")
        spec["healthCheckNodePort"] = _port(
            service, port, "spec.healthCheckNodePort", owner, node_ports
        )


def _fill_address(service: Object, spec: Object, owner: str, pool: AddressPools) -> None:
    address = spec.get("clusterIP") or next(iter(spec.get("clusterIPs") or ()), "")
    if not address:
        try:
            address = pool.draw(owner)
        except errors.Exhausted as err:
            raise errors.Internal(f"failed to allocate a serviceIP: {err}") from err
    elif address != HEADLESS:
        try:
            pool.hold(address, owner)
        except Taken as err:
            why = "failed to allocate IP " + address + ": provided IP is already allocated"
            raise _invalid(service, "spec.clusterIPs", [address], why) from err
        except OutOfRange as err:
            why = (
                f"failed to allocate IP {address}: the provided network does not match the "
                "current range"
            )
            raise _invalid(service, "spec.clusterIPs", [address], why) from err
    spec["clusterIP"], spec["clusterIPs"] = address, [address]
    if address == HEADLESS and not spec.get("selector"):  # endpoints of any family may follow
        policy = spec.setdefault("ipFamilyPolicy", "RequireDualStack")
        both = ["IPv4"] if policy == "SingleStack" else ["IPv4", "IPv6"]
        spec.setdefault("ipFamilies", both)
    spec.setdefault("ipFamilies", ["IPv4"])
    spec.setdefault("ipFamilyPolicy", "SingleStack")


def forget(service: Object, number: str | int) -> None:
    """Take a drawn address or port out again, so that `fill` draws another one."""
    spec = service["spec"]
    if isinstance(number, str):
        spec.pop("clusterIP", None)
        spec.pop("clusterIPs", None)
        return
    for port in spec.get("ports") or ():
        if port.get("nodePort") == number:
            del port["nodePort"]
    if spec.get("healthCheckNodePort") == number:
        del spec["healthCheckNodePort"]


def refuse(service: Object, number: str | int) -> status.ApiError:
    """What is said when somebody else has the address or port that was asked for."""
    if isinstance(number, str):
        why = f"failed to allocate IP {number}: provided IP is already allocated"
        return _invalid(service, "spec.clusterIPs", [number], why)
    field = "spec.healthCheckNodePort"
    for index, port in enumerate(service["spec"].get("ports") or ()):
        if port.get("nodePort") == number:
            field = f"spec.ports[{index}].nodePort"
            break
    return _invalid(service, field, number, "provided port is already allocated")


def _fill_ports(service: Object, spec: Object, owner: str, pool: PortPool) -> None:
    shared: dict[int, int] = {}  # one number for the TCP and UDP halves of one port
    for index, port in enumerate(spec.get("ports") or ()):
        wanted = port.get("nodePort") or shared.get(port.get("port", 0))
        field = f"spec.ports[{index}].nodePort"
        port["nodePort"] = _port(service, wanted, field, owner, pool)
        shared.setdefault(port.get("port", 0), port["nodePort"])


def _port(service: Object, port: int | None, field: str, owner: str, pool: PortPool) -> int:
    if not port:
        try:
            return pool.draw(owner)
        except errors.Exhausted as err:
            raise errors.Internal(f"failed to allocate a nodePort: {err}") from err
    try:
        pool.hold(port, owner)
    except Taken as err:
        raise _invalid(service, field, port, "provided port is already allocated") from err
    except OutOfRange as err:
        why = f"provided port is not in the valid range. The range of valid ports is {pool.text}"
        raise _invalid(service, field, port, why) from err
    return port


def _invalid(service: Object, field: str, value: object, why: str) -> status.ApiError:
    shown = str(value).replace("'", '"')
    cause = Cause("FieldValueInvalid", field, f"Invalid value: {shown}: {why}")
    return status.invalid(SERVICES, service["metadata"].get("name", ""), [cause])
