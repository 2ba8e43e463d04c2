"""POST to a webhook, by URL or through a Service.

A Service is reached at one of its ready endpoints, and its certificate must be for
``<name>.<namespace>.svc``. Connections are kept per webhook.
Source: apiserver v1.34 pkg/util/webhook/{client,serviceresolver}.go.
"""

from __future__ import annotations

import base64
import binascii
import random
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from muntin.apiserver.cache import Cache
from muntin.apiserver.webhooks import failures
from muntin.kit import errors, urls
from muntin.kit.http.client import HttpClient
from muntin.model.resources import ENDPOINTS, SERVICES

Config = Mapping[str, Any]

MOST_CLIENTS = 64
_HEADERS = {"Content-Type": "application/json", "Accept": "application/json, */*"}


class WebhookClient:
    """The clients of one server's webhooks."""

    def __init__(self, cache: Cache, *, guarded: bool = True) -> None:
        """``guarded``: this machine's own addresses are not dialled."""
        self._cache = cache
        self._guarded = guarded
        self._clients: OrderedDict[tuple[str, str], HttpClient] = OrderedDict()

    async def post(
        self, config: Config, body: bytes, *, timeout_s: float, query: str = ""
    ) -> bytes:
        """What the webhook of a ``clientConfig`` answers to the JSON ``body``.

        Raises:
            WebhookFailed: it cannot be reached, took longer than ``timeout_s``, or answered with
                no success; its CA is none.
        """
        shown, base, host, name = self._target(config, f"?{query}" if query else "")
        client = await self._client(config.get("caBundle") or "", name)
        headers = {**_HEADERS, "Host": host} if host else _HEADERS
        try:
            answer = await client.request(
                "POST", base, headers=headers, body=body, timeout_s=timeout_s
            )
        except errors.MuntinError as err:
            if isinstance(err, urls.NotAUrl):
                raise failures.WebhookFailed(f'Post "{shown}": {err.message}') from err
            raise failures.of_transport(err, shown, urls.split(base)) from err
        if not 200 <= answer.status < 300:
            raise failures.of_answer(answer.status, answer.body)
        return answer.body

    async def close(self) -> None:
        """Drop all connections."""
        for client in self._clients.values():
            await client.close()
        self._clients.clear()

    def _target(self, config: Config, query: str) -> tuple[str, str, str, str]:
        """The URL as messages show it, the one to ask, its Host header, its certificate's name."""
        service = config.get("service")
        if service is None:
            url = f"{config.get('url') or ''}{query}"
            return url, url, "", ""
        name, namespace = service["name"], service["namespace"]
        port, path = service.get("port") or 443, "/" + (service.get("path") or "").lstrip("/")
        host = f"{name}.{namespace}.svc"
        path = f"{path}{query}"
        shown = f"https://{host}:{port}{path}"
        try:
            address, number = endpoint(self._cache, namespace, name, port)
        except errors.MuntinError as err:
            raise failures.WebhookFailed(f'Post "{shown}": {err.message}') from err
        address = f"[{address}]" if ":" in address else address
        return shown, f"https://{address}:{number}{path}", f"{host}:{port}", host

    async def _client(self, bundle: str, name: str) -> HttpClient:
        key = (bundle, name)
        client = self._clients.pop(key, None)
        if client is None:
            client = HttpClient(
                tls=_tls(bundle), server_hostname=name, resend=True, guarded=self._guarded
            )
        self._clients[key] = client
        if len(self._clients) > MOST_CLIENTS:
            _, oldest = self._clients.popitem(last=False)
            await oldest.close()
        return client


def _tls(bundle: str) -> Any:
    from muntin.kit.http.tls import client_context

    try:
        return client_context(ca=base64.b64decode(bundle, validate=True))
    except (binascii.Error, UnicodeDecodeError, errors.Invalid) as err:
        text = "unable to load root certificates: unable to parse bytes as PEM block"
        raise failures.WebhookFailed(text, 500) from err


def endpoint(cache: Cache, namespace: str, name: str, port: int) -> tuple[str, int]:
    """One ready endpoint of a port of a Service, chosen by chance: (address, port).

    Raises:
        NotFound: there is no such Service or port.
        Unavailable: nothing is ready behind it.
    """
    item = cache.get(SERVICES, namespace, name)
    if item is None:
        raise errors.NotFound(f'service "{name}" not found')
    service = item.object()
    rows = service["spec"].get("ports") or []
    wanted = next((row for row in rows if row["port"] == port), None)
    if wanted is None:
        raise errors.NotFound(f'no service port {port} found for service "{name}"')
    if service["spec"].get("type") == "ExternalName":
        return str(service["spec"]["externalName"]), port
    found = cache.get(ENDPOINTS, namespace, name)
    choices = [
        (address["ip"], row["port"])
        for subset in ((found.object().get("subsets") or ()) if found else ())
        for row in subset.get("ports") or ()
        if row.get("name", "") == wanted.get("name", "")
        for address in subset.get("addresses") or ()
    ]
    if not choices:
        raise errors.Unavailable(f'no endpoints available for service "{name}"')
    return random.choice(choices)
