"""One client for all webhooks: where they are, whom they are trusted by, connections kept alive.

Source: apiserver v1.34 pkg/util/webhook/{client,serviceresolver}.go.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from muntin.apiserver.cache import Cache
from muntin.apiserver.webhooks import failures
from muntin.apiserver.webhooks.failures import WebhookFailed
from muntin.kit import errors
from muntin.kit.http.client import HttpClient, HttpResponse
from muntin.model.resources import SERVICES

Object = dict[str, Any]

HTTPS = 443
MOST_CLIENTS = 256  # kinds of trust, that is: as many as there are CA bundles and service names
LARGEST_ANSWER = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Endpoint:
    """``url`` is what people are shown, ``connect`` where the request really goes."""

    url: str
    connect: str
    server_name: str

    @property
    def peer(self) -> str:
        """``host:port`` of the connection."""
        parts = urlsplit(self.connect)
        return f"{parts.hostname}:{parts.port or HTTPS}"


class WebhookClient:
    """Posts to the webhooks that a ``clientConfig`` describes (url or service, caBundle)."""

    def __init__(self, cache: Cache) -> None:
        self._services = cache.of(SERVICES)
        self._clients: dict[tuple[str, str], HttpClient] = {}

    async def post(
        self, config: Mapping[str, Any], body: bytes, *, timeout_s: float, query: str = ""
    ) -> bytes:
        """The body of the webhook's answer to the JSON ``body``.

        Raises:
            WebhookFailed: there is no answer within ``timeout_s``, or it is no success.
        """
        endpoint = self._endpoint(config, query)
        client = self._client(str(config.get("caBundle") or ""), endpoint)
        try:
            answer = await self._post(client, endpoint, body, timeout_s)
        except errors.MuntinError as err:
            raise failures.of_transport(err, endpoint.url, endpoint.peer) from err
        if not 200 <= answer.status < 300:
            raise failures.of_answer(answer.status, answer.body)
        return answer.body

    async def _post(
        self, client: HttpClient, endpoint: Endpoint, body: bytes, timeout_s: float
    ) -> HttpResponse:
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, */*",
            "Host": urlsplit(endpoint.url).netloc,
            "User-Agent": "kube-apiserver-admission",
        }
        return await client.request(
            "POST", endpoint.connect, headers=headers, body=body, timeout_s=timeout_s
        )

    async def close(self) -> None:
        """Drop all connections."""
        clients = list(self._clients.values())
        self._clients.clear()
        await asyncio.gather(*(client.close() for client in clients))

    def _endpoint(self, config: Mapping[str, Any], query: str) -> Endpoint:
        service = config.get("service")
        suffix = f"?{query}" if query else ""
        if not service:
            url = f"{config.get('url') or ''}{suffix}"
            return Endpoint(url, url, "")
        name, namespace = service.get("name", ""), service.get("namespace", "")
        port = service.get("port") or HTTPS
        path = "/" + (service.get("path") or "").lstrip("/")
        host = f"{name}.{namespace}.svc"
        url = f"https://{host}:{port}{path}{suffix}"
        try:
            address = self._address(namespace, name, port)
        except errors.NotFound as err:
            raise WebhookFailed(f'Post "{url}": {err.message}') from err
        return Endpoint(url, f"https://{address}{path}{suffix}", host)

    def _address(self, namespace: str, name: str, port: int) -> str:
        """Where a service is reached: at its cluster address, or under its external name."""
        item = self._services.get(namespace, name)
        if item is None:
            raise errors.NotFound(f'service "{name}" not found')
        spec = item.object().get("spec") or {}
        if spec.get("type") == "ExternalName":
            return f"{spec.get('externalName', '')}:{port}"
        if not any(row.get("port") == port for row in spec.get("ports") or ()):
            raise errors.NotFound(f'no service port {port} found for service "{name}"')
        address = spec.get("clusterIP") or ""
        if address in ("", "None"):
            raise errors.NotFound(f'service "{name}" has no cluster IP')
        return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"

    def _client(self, bundle: str, endpoint: Endpoint) -> HttpClient:
        key = (bundle, endpoint.server_name)
        client = self._clients.get(key)
        if client is None:
            if len(self._clients) >= MOST_CLIENTS:
                self._clients.pop(next(iter(self._clients)))
            client = self._clients[key] = HttpClient(
                tls=_context(bundle), server_hostname=endpoint.server_name, resend=True
            )
        return client


def _context(bundle: str) -> Any:
    """The TLS context that trusts a base64-encoded bundle, or the system's authorities."""
    from muntin.kit.http.tls import client_context

    try:
        return client_context(ca=base64.b64decode(bundle) if bundle else b"")
    except (binascii.Error, errors.Invalid, UnicodeDecodeError) as err:
        raise WebhookFailed("unable to load root certificates: unable to parse bytes as PEM block"
                            ) from err  # fmt: skip
