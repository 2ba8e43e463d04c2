"""The cluster as its administrator asks it from the host: a few plain HTTPS requests.

Synchronous and of the standard library alone, for the command line: it starts fast.
"""

from __future__ import annotations

import http.client
import json
import ssl
from dataclasses import dataclass
from typing import Any

from muntin.cluster.config import API_PORT, ClusterConfig
from muntin.cluster.kubeconfig import Access
from muntin.cluster.paths import ClusterPaths
from muntin.kit.errors import Unavailable
from muntin.model.nodes import addresses, os_of
from muntin.model.simulated import is_simulated

_TIMEOUT_S = 5.0


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of the API server; ``warning`` is its Warning header."""

    status: int
    body: bytes
    warning: str


class AdminClient:
    """Requests to the API server on the host's loopback, over one kept connection."""

    def __init__(self, config: ClusterConfig) -> None:
        pki = ClusterPaths(config.name).pki
        self._url = config.host_url
        context = ssl.create_default_context(cafile=str(pki / "ca.crt"))
        context.load_cert_chain(pki / "admin.crt", pki / "admin.key")
        self._connection = http.client.HTTPSConnection(
            "127.0.0.1", config.networking.api_server_port, timeout=_TIMEOUT_S, context=context
        )

    def get(self, path: str) -> Any:
        """The JSON answer to GET ``path``.

        Raises:
            Unavailable: no answer, or not status 200.
        """
        return json.loads(self.get_raw(path))

    def get_raw(self, path: str) -> bytes:
        """The body of the answer to GET ``path``; raises as :meth:`get` does."""
        answer = self.send("GET", path)
        if answer.status != 200:
            text = answer.body.decode(errors="replace").strip()
            raise Unavailable(f"API server at {self._url} answers {answer.status}: {text[:200]}")
        return answer.body

    def send(self, method: str, path: str, body: bytes = b"") -> Answer:
        """The answer, whatever its status; ``body`` is JSON.

        Raises:
            Unavailable: no answer.
        """
        headers = {"Accept": "application/json"}
        if body:
            headers["Content-Type"] = "application/json"
        try:
            self._connection.request(method, path, body=body or None, headers=headers)
            answer = self._connection.getresponse()
            return Answer(answer.status, answer.read(), answer.headers.get("Warning", ""))
        except (OSError, http.client.HTTPException) as err:
            self._connection.close()
            raise Unavailable(f"API server at {self._url} does not answer: {err}") from err

    def close(self) -> None:
        self._connection.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeRow:
    """One line of the node table."""

    name: str
    status: str
    os: str
    version: str
    address: str
    os_image: str
    runtime: str
    simulated: bool = False


def node_rows(nodes: list[dict[str, Any]]) -> list[NodeRow]:
    """The table's lines in the order of their names. Pure."""
    rows = [
        NodeRow(
            name=node["metadata"]["name"],
            status="Ready" if is_ready(node) else "NotReady",
            os=os_of(node),
            version=node["status"].get("nodeInfo", {}).get("kubeletVersion", ""),
            address=next((text for kind, text in addresses(node) if kind == "InternalIP"), ""),
            os_image=node["status"].get("nodeInfo", {}).get("osImage", ""),
            runtime=node["status"].get("nodeInfo", {}).get("containerRuntimeVersion", ""),
            simulated=is_simulated(node),
        )
        for node in nodes
    ]
    return sorted(rows, key=lambda row: row.name)


def is_ready(node: dict[str, Any], since: str = "") -> bool:
    """Whether the node's Ready condition is True, and was said after ``since`` (RFC 3339). Pure."""
    conditions = node.get("status", {}).get("conditions") or ()
    return any(
        row["type"] == "Ready"
        and row["status"] == "True"
        and (row.get("lastHeartbeatTime") or "") >= since
        for row in conditions
    )


def access(config: ClusterConfig, *, internal: bool = False) -> Access:
    """The administrator's way in, from the host or (``internal``) from inside the fabric."""
    pki = ClusterPaths(config.name).pki
    inside = f"https://{config.networking.master_address}:{API_PORT}"
    return Access(
        name=config.context,
        server=inside if internal else config.host_url,
        ca=(pki / "ca.crt").read_bytes(),
        certificate=(pki / "admin.crt").read_bytes(),
        key=(pki / "admin.key").read_bytes(),
    )
