"""The registry keys of a container's network adapters."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from muntin.winruntime import tcpip_registry
from muntin.winruntime.base.registry import Hive, added
from muntin.winruntime.base.users import WindowsUser
from muntin.winruntime.inside.powershell import adapters as net
from muntin.winruntime.tcpip_registry import INTERFACES, PARAMETERS, Network, tcpip_keys

NETWORK = Network(
    [
        net.Adapter(9, "eth0", "vEthernet (Ethernet)", "02-11-C0-A8-02-09", True, False, 1500),
        net.Adapter(1, "lo", "Loopback Pseudo-Interface 1", "", True, True, 65536),
    ],
    [
        net.Address(9, "fe80::1%9", socket.AF_INET6, 64),
        net.Address(9, "10.244.1.9", socket.AF_INET, 24),
        net.Address(9, "10.244.1.10", socket.AF_INET, 24),
        net.Address(1, "127.0.0.1", socket.AF_INET, 8),
    ],
    [net.Route(9, "0.0.0.0/0", "10.244.1.1", 0, socket.AF_INET)],
)
ADAPTER = rf"{INTERFACES}\{{00000009-0000-0000-0000-4E6574446576}}"
HIVE = f"""WINE REGISTRY Version 2
;; All keys relative to REGISTRY\\\\Machine

[{PARAMETERS.replace(chr(92), chr(92) * 2)}] 1700000000
#time=1da0
"DataBasePath"="C:\\\\windows\\\\system32\\\\drivers\\\\etc"
"Hostname"="vm"
"""


def keys(suffix: str = "default.svc.cluster.local") -> dict:
    return tcpip_keys(NETWORK, hostname="web-0", servers=["10.96.0.10", "1.1.1.1"], suffix=suffix)


def test_each_adapter_has_its_values():
    written = keys()
    assert list(written) == [PARAMETERS, INTERFACES, ADAPTER]
    assert written[PARAMETERS]["Hostname"] == "web-0"
    assert written[PARAMETERS]["SearchList"] == "default.svc.cluster.local"
    assert written[ADAPTER] == {
        "EnableDHCP": 0,
        "IPAddress": ("10.244.1.9", "10.244.1.10"),
        "SubnetMask": ("255.255.255.0", "255.255.255.0"),
        "DefaultGateway": ("10.244.1.1",),
        "DefaultGatewayMetric": ("0",),
        "NameServer": "10.96.0.10,1.1.1.1",
        "Domain": "default.svc.cluster.local",
        "SearchList": "default.svc.cluster.local",
        "RegistrationEnabled": 1,
        "RegisterAdapterName": 0,
    }


def test_the_hive_is_copied_and_extended(tmp_path: Path):
    hives, layer = tmp_path / "hives", tmp_path / "layer"
    hives.mkdir()
    (hives / "system.reg").write_text(HIVE)
    user = WindowsUser("ContainerUser", os.getuid())
    tcpip_registry.write_layer(layer, hives, user, keys())
    text = (layer / "system.reg").read_text()
    assert text.startswith(HIVE)
    assert '"IPAddress"=str(7):"10.244.1.9\\x000010.244.1.10\\x0000"\n' in text
    hive = Hive(text)
    assert hive.get(ADAPTER, "NameServer") == "10.96.0.10,1.1.1.1"
    assert hive.get(ADAPTER, "EnableDHCP") == 0
    assert (hives / "system.reg").read_text() == HIVE


@pytest.mark.parametrize("suffix", ['a"\n[Software\\\\X] 0\n"B"="c', "a\\"])
def test_values_cannot_add_lines(suffix):
    text = added(keys(suffix))
    assert len(text.split("\n")) == len(added(keys()).split("\n"))
    heads = [line for line in text.split("\n") if line.startswith("[")]
    assert len(heads) == 3


def test_network_of_this_namespace_is_read(monkeypatch):
    monkeypatch.setattr(tcpip_registry.netns, "run", lambda _name, action: action())
    network = tcpip_registry.read_network("/run/any")
    assert [one for one in network.adapters if one.loopback]
    names = {one.if_index for one in network.adapters}
    assert {one.if_index for one in network.addresses} <= names
