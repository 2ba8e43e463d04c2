"""``HKLM\\SYSTEM\\CurrentControlSet\\Services\\Tcpip`` of a container: what its pod's network is.

Each container has a copy of its release's ``system.reg`` with these keys appended, as a layer of
its own below the writable one, so that it does not count as what the container has written.
Source of the names: Microsoft's "TCP/IP and NetBT configuration parameters" (314053).
"""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from muntin.kit import netns
from muntin.winruntime.base.registry import Value, added
from muntin.winruntime.base.users import WindowsUser
from muntin.winruntime.inside.powershell import adapters as net

PARAMETERS = r"System\CurrentControlSet\Services\Tcpip\Parameters"
INTERFACES = rf"{PARAMETERS}\Interfaces"
FOLDER = "registry"
"""In a container's folder: the layer with its ``system.reg``."""
HIVE = "system.reg"


@dataclass(frozen=True, slots=True)
class Network:
    """The adapters of a network namespace, with their addresses and routes."""

    adapters: Sequence[net.Adapter]
    addresses: Sequence[net.Address]
    routes: Sequence[net.Route]


def read_network(name: str) -> Network:
    """What the network namespace ``name`` has.

    Raises:
        NotFound: there is no such namespace.
    """
    return netns.run(name, lambda: Network(net.adapters(), net.addresses(), net.routes()))


def tcpip_keys(
    network: Network, *, hostname: str, servers: Sequence[str], suffix: str
) -> dict[str, dict[str, Value]]:
    """The keys of a container with that network and DNS settings. Addresses are static."""
    name_servers = ",".join(servers)
    keys: dict[str, dict[str, Value]] = {
        PARAMETERS: {
            "Hostname": hostname,
            "NV Hostname": hostname,
            "Domain": "",
            "NV Domain": "",
            "NameServer": "",
            "SearchList": suffix,
        },
        INTERFACES: {},
    }
    for adapter in network.adapters:
        if adapter.loopback:
            continue
        mine = [
            one
            for one in network.addresses
            if one.if_index == adapter.if_index and one.family == socket.AF_INET
        ]
        gateways = [one for one in net.gateways(network.routes, adapter.if_index) if "." in one]
        keys[rf"{INTERFACES}\{net.guid(adapter.if_index)}"] = {
            "EnableDHCP": 0,
            "IPAddress": tuple(one.text for one in mine),
            "SubnetMask": tuple(net.subnet_mask(one.prefix_length) for one in mine),
            "DefaultGateway": tuple(gateways),
            "DefaultGatewayMetric": ("0",) * len(gateways),
            "NameServer": name_servers,
            "Domain": suffix,
            "SearchList": suffix,
            "RegistrationEnabled": 1,
            "RegisterAdapterName": 0,
        }
    return keys


def write_layer(
    layer: Path, hives: Path, user: WindowsUser, keys: Mapping[str, Mapping[str, Value]]
) -> None:
    """The layer with ``keys`` added to the hive of ``hives``; ``layer`` is absent before."""
    layer.mkdir()
    hive = layer / HIVE
    shutil.copyfile(hives / HIVE, hive)
    with hive.open("a", encoding="utf-8", errors="surrogateescape") as file:
        file.write(added(keys))
    os.chown(hive, user.uid, user.uid)
