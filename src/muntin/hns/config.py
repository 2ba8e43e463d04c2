"""What the emulator needs to know of its node."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from muntin.model.windows import Profile


class Switching(StrEnum):
    """How packets between two pods of a node are seen by the node's rules.

    ``NETFILTER`` lets the bridge call netfilter (where the kernel has br_netfilter already);
    ``ROUTED`` isolates the ports and answers ARP for all, so that the node routes between them.
    """

    AUTO = "auto"
    NETFILTER = "netfilter"
    ROUTED = "routed"


@dataclass(frozen=True, slots=True, kw_only=True)
class HnsConfig:
    """``netns`` is the node's network namespace, None where the process stands in it.

    A pod's namespace is named ``netns_prefix`` and the lower-case GUID of its HCN namespace.
    ``adapter_name`` is what Windows calls the ``uplink``. ``management_ip_delay_s`` is how long a
    new network has no ManagementIP yet, as real ones do.
    """

    socket_path: Path
    state_dir: Path
    netns_prefix: str
    profile: Profile
    netns: str | None = None
    uplink: str = "eth0"
    adapter_name: str = "Ethernet"
    switching: Switching = Switching.AUTO
    management_ip_delay_s: float = 0.0
