"""Where the kubelet of a pod or node answers, for requests that are passed on to it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from muntin.apiserver import status
from muntin.apiserver.cache import Cache
from muntin.kit import errors
from muntin.model.resources import NODES, Resource

Object = dict[str, Any]

PORT = 10250
# No "/", "@" or "?": an address from a node's status must not add other parts to the URL.
_HOST = re.compile(r"[\w.:%-]+", re.ASCII).fullmatch
# The order in which addresses are preferred; upstream's --kubelet-preferred-address-types.
_ADDRESS_TYPES = ("InternalIP", "ExternalIP", "Hostname", "InternalDNS")


@dataclass(frozen=True, slots=True)
class Kubelet:
    """``address`` and ``port`` of its HTTPS server."""

    address: str
    port: int

    def url(self, *segments: str) -> str:
        """The URL of a path made of ``segments``."""
        path = "/".join(quote(segment, safe="") for segment in segments)
        return f"https://{bracketed(self.address)}:{self.port}/{path}"


def bracketed(address: str) -> str:
    """``address`` as the host of a URL."""
    return f"[{address}]" if ":" in address else address


def kubelet_of(cache: Cache, node: str, asked: Resource = NODES) -> Kubelet:
    """The kubelet of ``node``; upstream names it after what was ``asked`` for if it is not there.

    Raises:
        ApiError: 404, there is no such node.
        Unavailable: it has no address yet.
    """
    item = cache.get(NODES, "", node)
    if item is None:
        raise status.not_found(asked, node)
    state = item.object().get("status") or {}
    by_type = {
        row.get("type"): row.get("address")
        for row in state.get("addresses") or ()
        if row and _HOST(row.get("address") or "")
    }
    address = next((by_type[kind] for kind in _ADDRESS_TYPES if by_type.get(kind)), "")
    if not address:
        raise errors.Unavailable(f"no preferred addresses found; known addresses: {by_type}")
    endpoint = (state.get("daemonEndpoints") or {}).get("kubeletEndpoint") or {}
    return Kubelet(address, int(endpoint.get("Port") or PORT))


def container_of(pod: Object, asked: str) -> str:
    """The container that a request is for: the one named, or the only one.

    Raises:
        ApiError: 400, it has no such container, or several and none was named.
    """
    spec, name = pod["spec"], pod["metadata"]["name"]
    names = [container["name"] for container in spec.get("containers") or ()]
    more = [
        container["name"]
        for field in ("initContainers", "ephemeralContainers")
        for container in spec.get(field) or ()
    ]
    if asked:
        if asked not in names and asked not in more:
            raise status.bad_request(f"container {asked} is not valid for pod {name}")
        return asked
    if len(names) == 1:
        only: str = names[0]
        return only
    text = f"a container name must be specified for pod {name}, choose one of: [{' '.join(names)}]"
    if more:
        text += f" or one of the init containers: [{' '.join(more)}]"
    raise status.bad_request(text)
