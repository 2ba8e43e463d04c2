"""The readers of a control plane that are no part of it, in this process."""

import socket

from muntin.dns import loop as dns
from muntin.dns.config import DnsConfig
from muntin.kit import supervised
from muntin.kit.clock import SystemClock
from muntin.kit.http.client import HttpClient
from muntin.kubelet.simulated import loop as simulated
from muntin.metrics_server.config import MetricsServerConfig
from muntin.metrics_server.scrape import Scraper
from muntin.proxy import loop as proxy
from muntin.proxy.config import ProxyConfig


class Dataplane:
    """Takes every front end."""

    def limits(self, frontend):
        return ()

    async def start(self):
        return None

    async def apply(self, changes):
        return {}


def sockets():
    tcp = socket.create_server(("127.0.0.1", 0))
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(tcp.getsockname())
    for sock in (udp, tcp):
        sock.setblocking(False)
    return udp, tcp


async def readers(client):
    """DNS, proxy, metrics scraper and simulated nodes over ``client``, until cancelled."""
    config = ProxyConfig(node_name="n1", healthz_address=None, min_sync_s=0.0)
    settings = MetricsServerConfig(
        namespace="kube-system", service_account="default", allowed_names=()
    )
    kubelets = HttpClient()
    scraper = Scraper(settings, client, kubelets, SystemClock())
    nodes = simulated.SimulatedConfig(count=2, version="v1.34.0")
    async with supervised.Group() as group:

        async def answer_names():
            udp, tcp = sockets()
            with udp, tcp:
                await dns.run(DnsConfig(), client, udp=udp, tcp=tcp)

        group.start("dns", answer_names)
        group.start("proxy", lambda: proxy.run(config, client, Dataplane()))
        group.start("metrics-server-scraper", scraper.run)
        group.start("simulated", lambda: simulated.run(nodes, client))
