"""The metrics server: looks at kubelets, serves what it saw."""

from __future__ import annotations

import logging
import socket
import ssl

from muntin.kit import supervised
from muntin.kit.clock import Clock, SystemClock
from muntin.kit.http.client import HttpClient
from muntin.kit.http.server import OF_COMPONENT, HttpServer
from muntin.metrics_server.access import Access
from muntin.metrics_server.config import MetricsServerConfig
from muntin.metrics_server.scrape import Scraper
from muntin.metrics_server.server import MetricsApi
from muntin.seams.kube import KubeClient

log = logging.getLogger(__name__)


async def run(
    config: MetricsServerConfig,
    client: KubeClient,
    kubelets: HttpClient,
    listener: socket.socket,
    tls: ssl.SSLContext,
    clock: Clock | None = None,
) -> None:
    """Serve on ``listener`` until cancelled.

    ``tls`` must demand a certificate of the front proxy's authority; ``kubelets`` is the client
    for their servers, which trusts who signs theirs.
    """
    clock = clock or SystemClock()
    scraper = Scraper(config, client, kubelets, clock)
    access = Access(client, clock, config.allowed_names)
    server = HttpServer(MetricsApi(scraper.looks, client, access), OF_COMPONENT)
    await server.listen(listener, tls)
    log.info("resource metrics are served")
    try:
        await supervised.run("metrics-server-scraper", scraper.run)
    finally:
        await server.close()
        await kubelets.close()
