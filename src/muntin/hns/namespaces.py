"""Namespaces: network compartments, each a network namespace of its own."""

from __future__ import annotations

from muntin.hns import endpoints
from muntin.hns.host import Host
from muntin.hns.store import Record
from muntin.seams.hns import Kind, Object
from muntin.seams.hns.errors import failure

TYPES = ("Host", "HostDefault", "Guest", "GuestDefault")


def create(host: Host, document: Object) -> Record:
    """Make a namespace with a compartment of its own; compartment 1 is the host's."""
    kind = document.get("Type") or "Host"
    if kind not in TYPES:
        raise failure("E_INVALIDARG", f"Namespace type {kind}.")
    namespace_id = host.new_id(Kind.NAMESPACE, document.get("ID"))
    used = {record.document["NamespaceId"] for record in host.store.all(Kind.NAMESPACE)}
    compartment = next(number for number in range(2, len(used) + 3) if number not in used)
    document = {**document, "ID": namespace_id, "NamespaceId": compartment, "Type": kind}
    document.pop("Resources", None)
    record = Record(namespace_id, document, {"Containers": []})
    host.dataplane.add_namespace(namespace_id)
    host.store.put(Kind.NAMESPACE, record)
    return record


def delete(host: Host, record: Record) -> None:
    """Remove a namespace; its endpoints stay, without a NIC."""
    for endpoint in endpoints_of(host, record):
        endpoints.detach(host, endpoint)
    host.dataplane.remove_namespace(record.id)
    host.store.remove(Kind.NAMESPACE, record.id)


def endpoints_of(host: Host, record: Record) -> list[Record]:
    wanted = record.id.upper()
    return [
        endpoint
        for endpoint in host.store.all(Kind.ENDPOINT)
        if str(endpoint.document.get("HostComputeNamespace") or "").upper() == wanted
    ]


def of_container(host: Host, container_id: object) -> Record | None:
    """The namespace that a container is in, where whoever made both has said so."""
    found = (
        record
        for record in host.store.all(Kind.NAMESPACE)
        if container_id in record.meta["Containers"]
    )
    return next(found, None)


def modify(host: Host, record: Record, request: Object) -> None:
    """Add or remove one endpoint or container; removing what is not there is fine."""
    kind, verb = request.get("ResourceType"), request.get("RequestType")
    settings = request.get("Settings") or {}
    if verb not in ("Add", "Remove"):
        raise failure("REQUEST_UNSUPPORTED", f"{verb}.")
    if kind == "Container":
        _change_container(host, record, str(settings.get("ContainerId")), verb == "Add")
    elif kind != "Endpoint":
        raise failure("REQUEST_UNSUPPORTED", f"{kind}.")
    elif verb == "Add":
        endpoints.attach(host, host.find(Kind.ENDPOINT, settings.get("EndpointId")), record.id)
    else:
        _remove_endpoint(host, record, str(settings.get("EndpointId")))


def _remove_endpoint(host: Host, record: Record, endpoint_id: str) -> None:
    for endpoint in endpoints_of(host, record):
        if endpoint.id.upper() == endpoint_id.upper():
            endpoints.detach(host, endpoint)


def _change_container(host: Host, record: Record, container_id: str, add: bool) -> None:
    others = [known for known in record.meta["Containers"] if known != container_id]
    record.meta["Containers"] = [*others, container_id] if add else others
    host.store.put(Kind.NAMESPACE, record)


def resources(host: Host, record: Record) -> list[Object]:
    """The containers and endpoints of the namespace, as its document lists them."""
    containers = [{"Type": "Container", "Data": {"ID": name}} for name in record.meta["Containers"]]
    own = endpoints_of(host, record)
    return containers + [{"Type": "Endpoint", "Data": {"ID": endpoint.id}} for endpoint in own]
