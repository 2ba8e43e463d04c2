"""What the metrics server is told at its start."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricsServerConfig:
    """``namespace`` and ``service_account`` say who asks the kubelets; ``allowed_names`` are the
    common names that the API server's proxy may have, whose certificate the listener has verified.

    Every kubelet is looked at every ``interval_s``. A usage is what passed between two looks, so
    nodes and pods that are new are looked at every ``first_interval_s`` until theirs is known.
    """

    namespace: str = "kube-system"
    service_account: str = "metrics-server"
    allowed_names: tuple[str, ...] = ("front-proxy-client",)
    interval_s: float = 15.0
    first_interval_s: float = 3.0
    timeout_s: float = 10.0
