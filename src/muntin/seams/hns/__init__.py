"""The Host Networking Service: what a program on a Windows node may ask it.

On Windows these are ``HNSCall`` of vmcompute.dll (version 1) and the Hcn functions of
computenetwork.dll (version 2, HCN). Here both travel as HTTP over a Unix socket:

- version 1: method, path and body exactly as HNSCall takes them (``GET /networks/``);
- version 2: ``GET /v2/<kind>`` enumerates (``?query=``), ``POST /v2/<kind>`` creates,
  ``GET /v2/<kind>/<id>`` queries, ``POST /v2/<kind>/<id>/modify`` modifies, ``DELETE`` deletes.

Every answer is HNS' own envelope: ``Success`` with ``Output``, or ``Error`` with ``ErrorCode``.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NewType, Protocol

Object = dict[str, Any]
HnsId = NewType("HnsId", str)

SCHEMA_VERSION: Mapping[str, int] = {"Major": 2, "Minor": 0}


class Kind(StrEnum):
    """The collections of version 2, by the name that stands in the path."""

    NETWORK = "networks"
    ENDPOINT = "endpoints"
    NAMESPACE = "namespaces"
    LOAD_BALANCER = "loadbalancers"
    SDN_ROUTE = "routes"


class HnsClient(Protocol):
    """HCN's verbs, and ``call`` for version 1. Objects are dicts in HNS' own JSON form.

    Every method raises the class of ``seams.hns.errors`` that HNS' error code stands for, and
    ``Unavailable`` when no HNS answers.
    """

    async def enumerate(self, kind: Kind, *, query_filter: Mapping[str, str] = {}) -> list[HnsId]:
        """The ids of all objects, or of those whose ``Name``, ``ID`` or ``VirtualNetwork`` match.

        In the order of creation. Matching is exact and case matters in names.
        """

    async def create(self, kind: Kind, settings: Mapping[str, Any]) -> Object:
        """Create an object and return it as HNS filled it in.

        An endpoint names its network in ``HostComputeNetwork``; ``ID`` may pin the identity.
        """

    async def query(self, kind: Kind, object_id: str) -> Object:
        """One object.

        Raises:
            HnsNotFound: there is no such object.
        """

    async def modify(self, kind: Kind, object_id: str, request: Mapping[str, Any]) -> None:
        """Apply one modify request: ``ResourceType``, ``RequestType``, ``Settings``."""

    async def delete(self, kind: Kind, object_id: str) -> None:
        """Delete one object.

        Raises:
            HnsNotFound: there is no such object.
        """

    async def call(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """``HNSCall``: the ``Output`` of a version 1 request, None where it has none."""


async def query_all(
    client: HnsClient, kind: Kind, *, query_filter: Mapping[str, str] = {}
) -> list[Object]:
    """Every matching object; one that vanishes meanwhile is left out."""
    from muntin.seams.hns.errors import HnsNotFound

    found = []
    for object_id in await client.enumerate(kind, query_filter=query_filter):
        try:
            found.append(await client.query(kind, object_id))
        except HnsNotFound:
            continue
    return found


async def query_by_name(client: HnsClient, kind: Kind, name: str) -> Object | None:
    """The first object called ``name``, if any."""
    found = await query_all(client, kind, query_filter={"Name": name})
    return found[0] if found else None
