"""Allotment of addresses, against the plugin's functions; the program itself: tests/net."""

import pytest

from muntin.cni import host_local
from muntin.cni.plugin import Orders, PluginError


def orders(tmp_path, container="c1", *, conf=None, env=None, **ipam):
    made = Orders(
        {"CNI_CONTAINERID": container, "CNI_IFNAME": "eth0", "CNI_NETNS": "x", **(env or {})}, b""
    )
    base = {"type": "host-local", "dataDir": str(tmp_path)}
    if "ranges" not in ipam:
        base["subnet"] = "10.244.1.0/24"
    made.conf = {"cniVersion": "1.0.0", "name": "cbr0", "ipam": base | ipam, **(conf or {})}
    return made


def address(result):
    return result["ips"][0]["address"]


def test_addresses_go_round(tmp_path):
    small = {"subnet": "10.244.1.0/29"}
    given = [address(host_local.add(orders(tmp_path, f"c{n}", **small))) for n in range(5)]
    assert given == [f"10.244.1.{n}/29" for n in (2, 3, 4, 5, 6)]  # .1 is the gateway
    with pytest.raises(PluginError, match=r"no IP addresses available in range set: 10.244.1.1-"):
        host_local.add(orders(tmp_path, "c9", **small))
    host_local.delete(orders(tmp_path, "c1", **small))
    host_local.delete(orders(tmp_path, "c0", **small))
    # After the one given last (.6) comes the beginning.
    assert address(host_local.add(orders(tmp_path, "c10", **small))) == "10.244.1.2/29"
    assert address(host_local.add(orders(tmp_path, "c11", **small))) == "10.244.1.3/29"


def test_the_files_are_upstreams(tmp_path):
    result = host_local.add(
        orders(tmp_path, rangeStart="10.244.1.10", routes=[{"dst": "0.0.0.0/0"}])
    )
    assert result == {
        "cniVersion": "1.0.0",
        "ips": [{"address": "10.244.1.10/24", "gateway": "10.244.1.1"}],
        "routes": [{"dst": "0.0.0.0/0"}],
        "dns": {},
    }
    directory = tmp_path / "cbr0"
    assert (directory / "10.244.1.10").read_bytes() == b"c1\r\neth0"
    assert (directory / "last_reserved_ip.0").read_text() == "10.244.1.10"
    assert (directory / "lock").exists()


def test_one_container_gets_no_second_address(tmp_path):
    host_local.add(orders(tmp_path))
    with pytest.raises(PluginError, match="duplicate allocation is not allowed"):
        host_local.add(orders(tmp_path))


def test_delete_and_check(tmp_path):
    with pytest.raises(PluginError, match="Failed to find address"):
        host_local.check(orders(tmp_path))
    host_local.add(orders(tmp_path))
    host_local.check(orders(tmp_path))
    host_local.delete(orders(tmp_path, "other"))
    host_local.check(orders(tmp_path))
    host_local.delete(orders(tmp_path))
    host_local.delete(orders(tmp_path))
    with pytest.raises(PluginError):
        host_local.check(orders(tmp_path))


def test_requested_addresses(tmp_path):
    wanted = {"env": {"CNI_ARGS": "IgnoreUnknown=1;IP=10.244.1.77"}}
    assert address(host_local.add(orders(tmp_path, **wanted))) == "10.244.1.77/24"
    with pytest.raises(PluginError, match=r"requested IP address 10.244.1.77 is not available"):
        host_local.add(orders(tmp_path, "c2", **wanted))
    gateway = {"conf": {"args": {"cni": {"ips": ["10.244.1.1"]}}}}
    with pytest.raises(PluginError, match=r"requested ip 10\.244\.1\.1 is subnet's gateway"):
        host_local.add(orders(tmp_path, "c3", **gateway))
    elsewhere = {"conf": {"runtimeConfig": {"ips": ["10.9.9.9/24"]}}}
    with pytest.raises(PluginError, match="not in any range"):
        host_local.add(orders(tmp_path, "c4", **elsewhere))
    host_local.check(orders(tmp_path))
    with pytest.raises(PluginError):  # the failed ADD gave back what it had taken
        host_local.check(orders(tmp_path, "c4"))


def test_one_address_from_each_set(tmp_path):
    ranges = [[{"subnet": "10.1.0.0/24"}], [{"subnet": "10.2.0.0/24", "gateway": "10.2.0.254"}]]
    result = host_local.add(orders(tmp_path, ranges=ranges))
    assert [item["address"] for item in result["ips"]] == ["10.1.0.2/24", "10.2.0.1/24"]
    assert result["ips"][1]["gateway"] == "10.2.0.254"


@pytest.mark.parametrize(
    ("ipam", "message"),
    [
        ({"subnet": ""}, "no IP ranges specified"),
        ({"subnet": "10.0.0.0"}, "invalid CIDR address"),
        ({"subnet": "10.0.0.0/31"}, "too small"),
        ({"rangeStart": "10.9.0.1"}, "not in network"),
    ],
)
def test_bad_configurations(tmp_path, ipam, message):
    with pytest.raises(PluginError, match=message) as caught:
        host_local.add(orders(tmp_path, **ipam))
    assert caught.value.code == 7


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("0.2.0", {"ip4": {"ip": "10.244.1.2/24", "gateway": "10.244.1.1"}, "dns": {}}),
        (
            "0.3.1",
            {
                "ips": [{"version": "4", "address": "10.244.1.2/24", "gateway": "10.244.1.1"}],
                "dns": {},
            },
        ),
    ],
)
def test_older_versions(tmp_path, version, expected):
    result = host_local.add(orders(tmp_path, conf={"cniVersion": version}))
    assert result == {"cniVersion": version, **expected}
