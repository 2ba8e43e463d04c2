"""Looking at every kubelet again and again."""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import Any

import orjson

from muntin.kit import errors, supervised
from muntin.kit.clock import Clock
from muntin.kit.http.client import HttpClient
from muntin.kit.log import fields
from muntin.metrics_server.config import MetricsServerConfig
from muntin.metrics_server.news import News
from muntin.metrics_server.samples import Look, Looks, look_of
from muntin.model.nodes import addresses
from muntin.model.resources import SERVICE_ACCOUNTS
from muntin.seams.kube import KubeClient

log = logging.getLogger(__name__)

Object = dict[str, Any]

_TOKEN_S = 3600
_RENEW_S = 600.0  # before a token ends, another one is asked for
_PORT = 10250
_AT_ONCE = 16


class Scraper:
    """Keeps ``looks``; kubelets know it by a token of its ServiceAccount."""

    def __init__(
        self, config: MetricsServerConfig, client: KubeClient, kubelets: HttpClient, clock: Clock
    ) -> None:
        self._config = config
        self._client = client
        self._kubelets = kubelets
        self._clock = clock
        self._token = ""
        self._token_ends = 0.0
        self._silent: set[str] = set()
        self._all_at = 0.0  # when every kubelet is to be asked
        self._news = News(client, clock, patience_s=2 * config.interval_s)
        self.looks = Looks(widest_s=1.5 * config.interval_s)

    async def run(self) -> None:
        """Look until cancelled."""
        async with supervised.Group() as group:
            for informer in (self._news.nodes, self._news.pods):
                group.start("informer", informer.run)
                await informer.synced.wait()
            group.start("metrics-server-scrape", self._look_again)

    async def _look_again(self) -> None:
        while True:
            try:
                await self.look()
            except errors.MuntinError as err:
                log.warning("kubelets cannot be asked", **fields(error=err))
            await self._clock.sleep(self._config.first_interval_s)

    async def look(self) -> None:
        """Ask the kubelets that are due once; who does not answer keeps the looks it had."""
        token = await self._bearer()
        nodes = self._due()
        gate = asyncio.Semaphore(_AT_ONCE)

        async def ask(node: Object) -> None:
            async with gate:
                await self._ask(node, token)

        async with supervised.Group() as group:
            for node in nodes:
                group.start_once("metrics-server-ask", partial(ask, node))

    def _due(self) -> list[Object]:
        """All when their time has come; in between, those that have something new."""
        now = self._clock.monotonic()
        if now < self._all_at:
            return self._news.waiting(self.looks)
        self._all_at = now + self._config.interval_s
        nodes = self._news.nodes.all()
        self.looks.keep({node["metadata"]["name"] for node in nodes})
        return nodes

    async def _ask(self, node: Object, token: str) -> None:
        name = node["metadata"]["name"]
        try:
            look = await self._look_at(node, token)
        except errors.MuntinError as err:
            if name not in self._silent:  # said once, not every fifteen seconds
                log.warning("a kubelet does not tell its usage", **fields(node=name, error=err))
            self._silent.add(name)
            return
        self._silent.discard(name)
        if look is not None:
            self.looks.add(name, look)

    async def _look_at(self, node: Object, token: str) -> Look | None:
        url = f"https://{kubelet_of(node)}/stats/summary?only_cpu_and_memory=true"
        answer = await self._kubelets.request(
            "GET",
            url,
            headers={"authorization": f"Bearer {token}"},
            timeout_s=self._config.timeout_s,
        )
        if answer.status != 200:
            raise errors.Unavailable(f"GET {url}: {answer.status} {answer.body[:200]!r}")
        try:
            return look_of(orjson.loads(answer.body))
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as err:
            raise errors.Invalid(f"GET {url}: the answer is no Summary: {err!r}") from err

    async def _bearer(self) -> str:
        now = self._clock.monotonic()
        if now > self._token_ends - _RENEW_S:
            config = self._config
            wanted = {
                "apiVersion": "authentication.k8s.io/v1",
                "kind": "TokenRequest",
                "metadata": {"name": config.service_account, "namespace": config.namespace},
                "spec": {"expirationSeconds": _TOKEN_S},
            }
            answer = await self._client.create(
                SERVICE_ACCOUNTS, wanted, config.namespace, subresource="token"
            )
            self._token, self._token_ends = answer["status"]["token"], now + _TOKEN_S
        return self._token


def kubelet_of(node: Object) -> str:
    """``address:port`` of a node's kubelet.

    Raises:
        Unavailable: the node has no address yet.
    """
    by_type = dict(addresses(node))
    address = by_type.get("InternalIP") or by_type.get("ExternalIP") or by_type.get("Hostname")
    if not address:
        raise errors.Unavailable(f"node {node['metadata']['name']} has no address")
    endpoint = ((node.get("status") or {}).get("daemonEndpoints") or {}).get(
        "kubeletEndpoint"
    ) or {}
    host = f"[{address}]" if ":" in address else address
    return f"{host}:{endpoint.get('Port') or _PORT}"
