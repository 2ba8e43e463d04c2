"""The HTTPS server that the API server's aggregation layer passes ``metrics.k8s.io`` on to."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, unquote

import orjson

from muntin.kit.errors import Invalid, MuntinError, NotFound, wire_codes
from muntin.kit.http.messages import Request, Response
from muntin.metrics_server import objects
from muntin.metrics_server.access import Access, Asked, Unauthenticated
from muntin.metrics_server.samples import Looks
from muntin.model.resources import NODES, PODS
from muntin.seams.kube import KubeClient

log = logging.getLogger(__name__)

Object = dict[str, Any]

_JSON = {"Content-Type": "application/json"}
_ROOT = f"/apis/{objects.GROUP}/{objects.VERSION}"
_DOCUMENTS: dict[str, Callable[[], Object]] = {
    "/apis": lambda: {"kind": "APIGroupList", "apiVersion": "v1", "groups": [objects.group()]},
    f"/apis/{objects.GROUP}": objects.group,
    _ROOT: objects.resource_list,
    "/openapi/v3": lambda: {"paths": {}},
}


class MetricsApi:
    """The handler of every request."""

    def __init__(self, looks: Looks, client: KubeClient, access: Access) -> None:
        self._looks = looks
        self._client = client
        self._access = access

    async def __call__(self, request: Request) -> Response:
        """The answer to one request; what goes wrong is a Status."""
        try:
            return _answer(200, await self._found(request))
        except Unauthenticated as err:
            return _answer(401, _status(401, "Unauthorized", err.message))
        except MuntinError as err:
            codes = wire_codes(err)
            return _answer(codes.http, _status(codes.http, codes.reason, err.message))
        except Exception:
            log.exception("a request for metrics failed")
            return _answer(500, _status(500, "InternalError", "Internal error occurred"))

    async def _found(self, request: Request) -> Object:
        path = unquote(request.path).rstrip("/")
        if request.method not in ("GET", "HEAD"):
            raise Invalid("metrics can be read only")
        document = _DOCUMENTS.get(path)
        if document is not None:
            self._access.user(request)
            return document()
        asked = asked_for(path)
        await self._access.check(request, asked)
        query = parse_qs(request.query)
        items = await self._items(asked, query.get("labelSelector", [""])[0])
        if "as=Table" in request.headers.get("accept", ""):
            return objects.table(asked.plural, items)
        return items[0] if asked.name else objects.list_of(asked.plural, items)

    async def _items(self, asked: Asked, labels: str) -> list[Object]:
        found = await (self._nodes if asked.plural == "nodes" else self._pods)(asked, labels)
        if asked.name and not found:
            kind = objects.KINDS[asked.plural].lower()
            full = f"{asked.namespace}/{asked.name}" if asked.namespace else asked.name
            raise NotFound(f'{kind}.{objects.GROUP} "{full}" not found')
        return found

    async def _nodes(self, asked: Asked, labels: str) -> list[Object]:
        selector = f"metadata.name={asked.name}" if asked.name else ""
        listed = await self._client.list(NODES, label_selector=labels, field_selector=selector)
        pairs = [(node, self._looks.node(node["metadata"]["name"])) for node in listed.items]
        return [objects.node_metrics(node, usage) for node, usage in pairs if usage is not None]

    async def _pods(self, asked: Asked, labels: str) -> list[Object]:
        selector = "status.phase=Running"
        if asked.name:
            selector = f"metadata.name={asked.name},{selector}"
        listed = await self._client.list(
            PODS, asked.namespace or None, label_selector=labels, field_selector=selector
        )
        found = []
        for pod in listed.items:
            key = (pod["metadata"]["namespace"], pod["metadata"]["name"])
            usages = self._looks.pod(pod["spec"].get("nodeName", ""), key)
            if usages:
                found.append(objects.pod_metrics(pod, usages))
        return found


def asked_for(path: str) -> Asked:
    """What a path of the group stands for. Pure.

    Raises:
        NotFound: nothing is there.
    """
    parts = path.removeprefix(f"{_ROOT}/").split("/") if path.startswith(f"{_ROOT}/") else []
    match parts:
        case ["nodes" | "pods" as plural]:
            return Asked(plural)
        case ["nodes", name]:
            return Asked("nodes", name=name)
        case ["namespaces", namespace, "pods"]:
            return Asked("pods", namespace)
        case ["namespaces", namespace, "pods", name]:
            return Asked("pods", namespace, name)
    raise NotFound("the server could not find the requested resource")


def _status(code: int, reason: str, message: str) -> Object:
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        "code": code,
    }


def _answer(code: int, body: Object) -> Response:
    return Response(code, _JSON, orjson.dumps(body))
