"""Version 2 (HCN): documents as they are stored, with defaults and computed members filled in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

import orjson

from muntin.hns import namespaces, networks, view1
from muntin.hns.host import Host
from muntin.hns.store import Record
from muntin.model.windows import Feature, is_open
from muntin.seams.hns import SCHEMA_VERSION, Kind, Object
from muntin.seams.hns.errors import failure

if TYPE_CHECKING:
    from muntin.hns.service import Hns


def call(hns: Hns, method: str, parts: list[str], query: str, body: Object) -> Any:
    """One call below ``/v2``."""
    host = hns.host
    if not is_open(Feature.HCN_V2, host.profile):
        raise failure("REQUEST_UNSUPPORTED", "This build has no HCN.")
    kind = _kind(parts[0] if parts else "")
    match method, parts[1:]:
        case "GET", []:
            return _enumerate(host, kind, query)
        case "POST", []:
            return _create(hns, kind, body)
        case "GET", [object_id]:
            return _query(host, kind, object_id, query)
        case "DELETE", [object_id]:
            return hns.delete(kind, object_id)
        case "POST", [object_id, "modify"]:
            return hns.modify(kind, object_id, body)
        case "GET", [object_id, "stats"] if kind is Kind.ENDPOINT:
            return view1.stats(host, host.find(kind, object_id))
    raise failure("REQUEST_UNSUPPORTED", f"{method} /v2/{'/'.join(parts)}.")


def document(host: Host, kind: Kind, record: Record) -> Object:
    """The object as a query returns it."""
    shown = {**record.document, "SchemaVersion": dict(SCHEMA_VERSION)}
    if kind is Kind.NETWORK:
        return _network(host, record, shown)
    if kind is Kind.ENDPOINT:
        return {"Dns": {}, "Routes": [], "Flags": 0, "Health": _HEALTHY, **shown}
    if kind is Kind.NAMESPACE:
        return {**shown, "Resources": namespaces.resources(host, record)}
    return shown


_HEALTHY: Object = {"Data": None, "Extra": {}}


def _network(host: Host, record: Record, shown: Object) -> Object:
    shown = {"Dns": {}, "Flags": 0, "Health": _HEALTHY, **shown}
    if shown["Type"] == "NAT":
        del shown["Type"]  # the zero of its enumeration, which HCN leaves out
    address = networks.management_ip(host, record)
    if address:
        settings = {"ProviderAddress": address}
        own = [policy for policy in shown["Policies"] if policy["Type"] != "ProviderAddress"]
        shown["Policies"] = [*own, {"Type": "ProviderAddress", "Settings": settings}]
    return shown


def _kind(text: str) -> Kind:
    try:
        return Kind(text.lower())
    except ValueError as err:
        raise failure("REQUEST_UNSUPPORTED", f"/v2/{text}.") from err


def _create(hns: Hns, kind: Kind, body: Object) -> Object:
    if kind is Kind.ENDPOINT and body.get("HostComputeNamespace"):
        raise failure("INVALID_ENDPOINT", "HostComputeNamespace is read only.")
    if "SchemaVersion" not in body:  # which schema a document has is told by this member alone
        record = view1.create(hns, kind, body)
    else:
        record = hns.create(kind, body)
    return document(hns.host, kind, record)


def _query(host: Host, kind: Kind, object_id: str, query: str) -> Object:
    record = host.find(kind, object_id)
    version = _query_document(query).get("SchemaVersion") or {}
    if version.get("Major") == 1:
        return view1.document(host, kind, record)
    return document(host, kind, record)


def _enumerate(host: Host, kind: Kind, query: str) -> list[str]:
    wanted = _query_document(query).get("Filter") or ""
    keys = _object(wanted) if isinstance(wanted, str) else {}
    return [record.id for record in host.store.all(kind) if _matches(host, record, keys)]


def _query_document(query: str) -> Object:
    values = parse_qs(query).get("query", [])
    return _object(values[0]) if values else {}


def _object(text: str) -> Object:
    """The JSON object that ``text`` is; empty for another value, ValueError for no JSON."""
    document = orjson.loads(text) if text else {}
    return document if isinstance(document, dict) else {}


def _matches(host: Host, record: Record, keys: Object) -> bool:
    network_id = str(record.document.get("HostComputeNetwork") or "")
    for key, value in keys.items():
        if key == "ID":
            same = record.id.upper() == str(value).upper()
        elif key == "Name":
            same = record.document.get("Name") == value
        elif key == "VirtualNetwork":
            same = network_id.upper() == str(value).upper()
        elif key == "VirtualNetworkName":
            network = host.store.get(Kind.NETWORK, network_id)
            same = network is not None and network.document.get("Name") == value
        else:
            same = False
        if not same:
            return False
    return True
