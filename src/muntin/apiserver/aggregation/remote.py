"""One other API server, as its APIService describes it: where it is and how it is spoken to.

It is reached at one of its Service's ready endpoints, or at the cluster address where there is no
telling; it is shown the front proxy's certificate, and its own must be signed by ``caBundle`` for
``SERVICE.NAMESPACE.svc``. Source: kube-aggregator v1.34 pkg/apiserver/handler_proxy.go,
apiserver pkg/util/proxy/proxy.go.
"""

from __future__ import annotations

import base64
import binascii
import random
from collections.abc import Iterator
from typing import Any

from muntin.apiserver.cache import Cache
from muntin.apiserver.config import ApiServerConfig
from muntin.kit import errors
from muntin.kit.http.client import HttpClient
from muntin.kit.http.tls import client_context
from muntin.model.resources import ENDPOINT_SLICES, SERVICES

Object = dict[str, Any]
CONNECT_S = 5.0
OWNER = "kubernetes.io/service-name"


class Remote:
    """The server behind one APIService; ``unavailable`` says why it is not used, or nothing."""

    def __init__(self, obj: Object, config: ApiServerConfig, cache: Cache) -> None:
        spec = obj["spec"]
        service = spec["service"]
        self.name: str = obj["metadata"]["name"]
        self.uid: str = obj["metadata"].get("uid", "")
        self.spec: Object = spec
        self.group: str = spec.get("group", "")
        self.version: str = spec.get("version", "")
        self.namespace: str = service["namespace"]
        self.service: str = service["name"]
        self.port: int = service.get("port", 443)
        self.available = False
        self.resources: list[Object] = []  # of its legacy discovery document
        self.openapi: Object = {}  # its paths of OpenAPI v3 and their URLs
        self.swagger: Object = {}  # paths and definitions of OpenAPI v2
        self._config = config
        self._cache = cache
        self._client: HttpClient | None = None

    @property
    def root(self) -> str:
        """The path that it answers for."""
        return f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"

    def client(self) -> HttpClient:
        """The connections to it.

        Raises:
            Invalid: ``caBundle`` holds no certificate.
        """
        if self._client is None:
            config, skip = self._config, bool(self.spec.get("insecureSkipTLSVerify"))
            try:
                ca = base64.b64decode(self.spec.get("caBundle") or "")
            except (ValueError, binascii.Error) as err:
                raise errors.Invalid(f"{self.name}: caBundle is not base64") from err
            context = client_context(
                ca=ca,
                certificate=config.proxy_client_certificate,
                key=config.proxy_client_key,
                verify=not skip,
            )
            self._client = HttpClient(
                tls=context,
                server_hostname=f"{self.service}.{self.namespace}.svc",
                connect_timeout_s=CONNECT_S,
                guarded=not config.dials_any,
            )
        return self._client

    async def close(self) -> None:
        """Drop its connections."""
        if self._client is not None:
            await self._client.close()
            self._client = None

    # -- where it is -------------------------------------------------------------------------

    def url(self) -> str:
        """``https://address:port`` of one of its endpoints.

        Raises:
            Unavailable: there is none.
        """
        item = self._cache.get(SERVICES, self.namespace, self.service)
        if item is None:
            raise errors.Unavailable(f'service "{self.service}" not found')
        spec = item.object()["spec"]
        if spec.get("type") == "ExternalName":
            return f"https://{spec['externalName']}:{self.port}"
        rows = [row for row in spec.get("ports") or () if row["port"] == self.port]
        if not rows:
            raise errors.Unavailable(
                f'no service port {self.port} found for service "{self.service}"'
            )
        choices = list(self._endpoints(rows[0].get("name", "")))
        if choices:
            address, port = random.choice(choices)
            return f"https://{_bracketed(address)}:{port}"
        address = spec.get("clusterIP", "None")
        if address in ("", "None"):
            raise errors.Unavailable(f'no endpoints available for service "{self.service}"')
        return f"https://{_bracketed(address)}:{self.port}"

    def slices(self) -> list[Object]:
        """The EndpointSlices of its Service."""
        found = self._cache.by_storage.get(ENDPOINT_SLICES.storage_name)
        items = found.select(self.namespace) if found is not None else ()
        return [item.object() for item in items if item.labels.get(OWNER) == self.service]

    def _endpoints(self, port_name: str) -> Iterator[tuple[str, int]]:
        for piece in self.slices():
            ports = [row["port"] for row in piece.get("ports") or ()
                     if (row.get("name") or "") == port_name and row.get("port")]  # fmt: skip
            for endpoint in piece.get("endpoints") or ():
                if (endpoint.get("conditions") or {}).get("ready", True) is False:
                    continue
                for address in endpoint.get("addresses") or ():
                    yield from ((address, port) for port in ports[:1])


def _bracketed(address: str) -> str:
    return f"[{address}]" if ":" in address else address
