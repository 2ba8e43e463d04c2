"""What the API server is told at its start."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from muntin.apiserver.access_config import AccessConfig
from muntin.apiserver.admission_config import AdmissionConfig
from muntin.apiserver.limits_config import LimitsConfig

# Maps a written object, the object it replaces (or None), and the names of the images on Windows
# nodes to warnings for the client.
Advise = Callable[
    [dict[str, Any], dict[str, Any] | None, Callable[[], frozenset[str]]], Sequence[str]
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiServerConfig:
    """``client_ca`` (PEM) signs client certificates; ``service_account_key`` (PEM, EC P-256)
    signs tokens. ``advertise_address`` and ``port`` are what the ``kubernetes`` Service leads to.
    ``kubelet_client_certificate`` and its key (PEM) are shown to kubelets, the proxy client's to
    aggregated API servers. ``access`` is who may come in, and what is written about them;
    ``limits`` is how much they may ask, ``admission`` which built-in plugins look at it;
    ``several``: other servers over the same store come and go. ``advise`` is asked what users are
    warned of when they write pods, what makes pods, and Services. ``dials_any``: addresses in
    objects (of pods, nodes, endpoints, webhooks and API servers) may also be this machine's
    loopback and link-local ones; for a server whose peers run beside it, as in tests.
    """

    kubernetes_version: str
    service_account_key: bytes
    advertise_address: str = "127.0.0.1"
    port: int = 6443
    service_cidr: str = "10.96.0.0/12"
    node_ports: tuple[int, int] = (30000, 32767)
    issuer: str = "https://kubernetes.default.svc.cluster.local"
    access: AccessConfig = field(default_factory=AccessConfig)
    limits: LimitsConfig = field(default_factory=LimitsConfig)
    admission: AdmissionConfig = field(default_factory=AdmissionConfig)
    kubelet_ca: bytes = b""
    kubelet_client_certificate: bytes = b""
    kubelet_client_key: bytes = b""
    proxy_client_certificate: bytes = b""
    proxy_client_key: bytes = b""
    not_ready_toleration_s: int = 300
    compaction_interval_s: float = 300.0
    several: bool = False
    events_fresh_s: float = 75.0  # how long events are kept for watches that resume, at least
    runtime_config: Mapping[str, bool] = field(default_factory=dict)
    advise: Advise | None = None
    dials_any: bool = False
