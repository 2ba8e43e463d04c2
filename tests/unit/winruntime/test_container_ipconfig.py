"""ipconfig in the layout of Windows Server."""

from __future__ import annotations

import socket

import pytest

from muntin.winruntime.inside import ipconfig
from muntin.winruntime.inside.powershell import adapters as net
from muntin.winruntime.inside.powershell.resolver import Configuration

STATE = ipconfig.State(
    "web-0",
    [
        net.Adapter(4, "eth0", "vEthernet (Ethernet)", "02-11-C0-A8-02-09", True, False, 1500),
        net.Adapter(1, "lo", "Loopback Pseudo-Interface 1", "", True, True, 65536),
    ],
    [
        net.Address(4, "fe80::11:c0ff%4", socket.AF_INET6, 64),
        net.Address(4, "fd00::9", socket.AF_INET6, 64),
        net.Address(4, "10.244.1.9", socket.AF_INET, 22),
        net.Address(1, "127.0.0.1", socket.AF_INET, 8),
    ],
    [
        net.Route(4, "0.0.0.0/0", "10.244.0.1", 0, socket.AF_INET),
        net.Route(4, "10.244.0.0/22", "0.0.0.0", 0, socket.AF_INET),
    ],
    Configuration(("10.96.0.10", "1.1.1.1"), "default.svc.cluster.local"),
)
FULL = """Windows IP Configuration

   Host Name . . . . . . . . . . . . : web-0
   Primary Dns Suffix  . . . . . . . :
   Node Type . . . . . . . . . . . . : Hybrid
   IP Routing Enabled. . . . . . . . : No
   WINS Proxy Enabled. . . . . . . . : No
   DNS Suffix Search List. . . . . . : default.svc.cluster.local

Ethernet adapter vEthernet (Ethernet):

   Connection-specific DNS Suffix  . : default.svc.cluster.local
   Description . . . . . . . . . . . : Hyper-V Virtual Ethernet Container Adapter
   Physical Address. . . . . . . . . : 02-11-C0-A8-02-09
   DHCP Enabled. . . . . . . . . . . : No
   Autoconfiguration Enabled . . . . : Yes
   IPv6 Address. . . . . . . . . . . : fd00::9(Preferred)
   Link-local IPv6 Address . . . . . : fe80::11:c0ff%4(Preferred)
   IPv4 Address. . . . . . . . . . . : 10.244.1.9(Preferred)
   Subnet Mask . . . . . . . . . . . : 255.255.252.0
   Default Gateway . . . . . . . . . : 10.244.0.1
   DNS Servers . . . . . . . . . . . : 10.96.0.10
                                       1.1.1.1
   NetBIOS over Tcpip. . . . . . . . : Disabled"""
SHORT = """Windows IP Configuration


Ethernet adapter vEthernet (Ethernet):

   Connection-specific DNS Suffix  . : default.svc.cluster.local
   IPv6 Address. . . . . . . . . . . : fd00::9
   Link-local IPv6 Address . . . . . : fe80::11:c0ff%4
   IPv4 Address. . . . . . . . . . . : 10.244.1.9
   Subnet Mask . . . . . . . . . . . : 255.255.252.0
   Default Gateway . . . . . . . . . : 10.244.0.1"""


@pytest.mark.parametrize(("full", "text"), [(True, FULL), (False, SHORT)])
def test_report(full, text):
    lines = "\n".join(ipconfig.report(STATE, full=full)).split("\n")
    assert [line.rstrip() for line in lines] == text.split("\n")


def test_report_without_dns_or_address():
    state = STATE._replace(addresses=[], routes=[], dns=Configuration((), ""))
    lines = ipconfig.report(state, full=True)
    assert not any("DNS Servers" in line or "Search List" in line for line in lines)
    assert any(line.endswith("Default Gateway . . . . . . . . . : ") for line in lines)


@pytest.mark.parametrize(
    ("args", "code", "text"),
    [
        (["/flushdns"], 0, b"Successfully flushed the DNS Resolver Cache.\r\n"),
        (["/DisplayDNS"], 0, b"\r\nWindows IP Configuration\r\n\r\n"),
        (["-renew"], 1, b"no adapter is in the state permissible"),
        (["/release", "Eth*"], 1, b"no adapter is in the state permissible"),
        (["/?"], 0, b"USAGE:\r\n    ipconfig"),
        (["/nosuch"], 1, b"\r\nError: unrecognized or incomplete command line.\r\n\r\nUSAGE:"),
        (["/all", "x"], 1, b"Error: unrecognized or incomplete command line."),
    ],
)
def test_options(container_program, args, code, text):
    result = container_program("ipconfig", *args)
    assert (result.returncode, text in result.stdout, result.stderr) == (code, True, b"")


def test_the_container_is_shown(container_program):
    result = container_program("ipconfig.exe", "/ALL")
    assert result.returncode == 0
    name = f"   Host Name . . . . . . . . . . . . : {socket.gethostname()}\r\n"
    assert name.encode() in result.stdout
    for address in net.addresses():
        if address.family == socket.AF_INET and not address.text.startswith("127."):
            assert f": {address.text}(Preferred) \r\n".encode() in result.stdout


def test_powershell_runs_it(container_program, drive_c):
    (drive_c / "windows/system32/ipconfig.exe").touch()
    result = container_program("powershell", "-Command", "ipconfig /all | select-string 'Host'")
    assert b"Host Name" in result.stdout
