"""Install the plugins for one node: small launchers with everything they need written into them.

A launcher starts the bare interpreter (isolated, without site packages), which halves the time
that a plugin takes. ``win_bridge_conf`` is the configuration for a node that uses them.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from typing import Any

import muntin
from muntin.kit import files
from muntin.model.gates import Never
from muntin.model.windows import GATES, Feature, Profile, is_open

_FLAGS = "-ISE"
_NETWORK = "cbr0"
_FIRST_POD_ADDRESS = 3  # .1 is the HNS gateway, .2 the host's endpoint


def launcher(module: str, arguments: str, *, python: Path, source: Path) -> str:
    """The text of a program that calls ``run`` of ``module``."""
    return (
        f"#!{python} {_FLAGS}\n"
        "import sys\n"
        f"sys.path.insert(0, {str(source)!r})\n"
        f"from muntin.cni.{module} import run\n"
        f"run({arguments})\n"
    )


def launchers(hns_socket: Path, *, python: Path, source: Path) -> dict[str, str]:
    """The text of every plugin by its file name."""
    where = {"python": python, "source": source}
    bridge = f"{str(hns_socket)!r}, {dsr_ranges()!r}"
    return {
        "win-bridge": launcher("win_bridge", bridge, **where),
        "host-local": launcher("host_local", "", **where),
    }


def install(directory: Path, hns_socket: Path) -> None:
    """Write the launchers, for the interpreter and the package that run now."""
    source = Path(muntin.__file__).parents[1]
    python = Path(sys.executable).resolve()
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in launchers(hns_socket, python=python, source=source).items():
        files.keep(directory / name, text.encode(), mode=0o755)


def dsr_ranges() -> tuple[tuple[tuple[int, ...] | None, tuple[int, ...] | None], ...]:
    """The HNS versions with direct server return, from the gates table, for ``win_bridge``."""
    holds = GATES[Feature.DSR].holds
    if holds is Never.NEVER:
        return ()
    ranges = [condition.hns for condition in holds]
    return tuple((item.low, item.high) for item in ranges if item is not None)


def win_bridge_conf(
    profile: Profile,
    *,
    pod_cidr: IPv4Network,
    node_ip: IPv4Address,
    cluster_cidr: IPv4Network,
    service_cidr: IPv4Network,
    node_network: IPv4Network,
    dns_server: IPv4Address,
    dns_domain: str,
    data_dir: Path,
) -> dict[str, Any]:
    """The network configuration list of a Windows node in a host-gateway cluster.

    Pods leave the cluster under the node's address, except to pods, services and nodes; service
    IPs and the node's own address are diverted to the host, which l2bridge needs.
    """
    exceptions, diverted = [], []  # type: list[str], list[str]
    if not is_open(Feature.CNI_OUTBOUNDNAT_EXCEPTIONS, profile):
        exceptions = [str(cluster_cidr), str(service_cidr), str(node_network)]
    if not is_open(Feature.CNI_ROUTE_NEEDENCAP, profile):
        diverted = [str(service_cidr), f"{node_ip}/32"]
    has_hcn = is_open(Feature.HCN_V2, profile)
    policies = _policies(exceptions, diverted) if has_hcn else _policies_v1(exceptions, diverted)
    first = pod_cidr.network_address + _FIRST_POD_ADDRESS
    plugin = {
        "type": "win-bridge",
        "apiVersion": 2 if has_hcn else 1,
        "capabilities": {"portMappings": True, "dns": True},
        "loopbackDSR": is_open(Feature.DSR, profile),
        "ipam": {
            "type": "host-local",
            "subnet": str(pod_cidr),
            "rangeStart": str(first),
            "dataDir": str(data_dir),
        },
        "dns": {"nameservers": [str(dns_server)], "search": [f"svc.{dns_domain}"]},
        "policies": [{"name": "EndpointPolicy", "value": policy} for policy in policies],
    }
    newer = has_hcn and is_open(Feature.CNI_VERSION_0_2_0, profile)
    conf = {"cniVersion": "1.0.0" if newer else "0.3.0", "name": _NETWORK, "plugins": [plugin]}
    checks = is_open(Feature.CNI_CHECK_MISSING, profile)
    return conf if checks else conf | {"disableCheck": True}


def _policies(exceptions: list[str], diverted: list[str]) -> Sequence[Mapping[str, Any]]:
    return [
        {"Type": "OutBoundNAT", "Settings": {"Exceptions": exceptions}},
        *(
            {"Type": "SDNRoute", "Settings": {"DestinationPrefix": prefix, "NeedEncap": True}}
            for prefix in diverted
        ),
    ]


def _policies_v1(exceptions: list[str], diverted: list[str]) -> Sequence[Mapping[str, Any]]:
    return [
        {"Type": "OutBoundNAT", "ExceptionList": exceptions},
        *({"Type": "ROUTE", "DestinationPrefix": prefix, "NeedEncap": True} for prefix in diverted),
    ]
