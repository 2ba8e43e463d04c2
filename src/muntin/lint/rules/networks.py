"""Rules on configurations of network plugins: CNI's, and flannel's net-conf.json."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network
from typing import Any

from muntin.kit import numbers
from muntin.lint.configs import CNI, FLANNEL
from muntin.lint.places import Path, Place
from muntin.lint.rule import Profiles, Rule, on_configs
from muntin.lint.views import Config, Map, listing, mapping, text
from muntin.model.windows import Feature

_VXLAN_VNI, _VXLAN_PORT = 4096, 4789
_LINUX_IPAM = ("dhcp", "static", "whereabouts")
_BRIDGES = ("win-bridge", "wincni", "sdnbridge")
_WINDOWS_PLUGINS = (*_BRIDGES, "win-overlay", "azure-vnet")
_POLICY_LISTS = ("policies", "AdditionalArgs")
_UNTRANSLATED = ("nat", "transparent")
"""Names of wincni's networks, which are their types, whose packets no policy translates."""


def _field(data: Map, name: str) -> tuple[str, Any]:
    """The key and the value of a field: plugins do not tell capitals from small letters."""
    if name in data:
        return name, data[name]
    wanted = name.lower()
    return next(((key, data[key]) for key in data if key.lower() == wanted), (name, None))


def _rows(config: Config) -> Iterator[tuple[Path, Map]]:
    """The plugin that a configuration is, and those that a list has, with their paths."""
    if "type" in config.data:
        yield config.path, config.data
    for index, item in enumerate(listing(config.data.get("plugins"))):
        yield (*config.path, "plugins", index), mapping(item)


def plugins(config: Config) -> Iterator[tuple[Path, Map, str]]:
    """The Windows plugins of a configuration or list, a delegate for its flannel: path and type."""
    for path, plugin in _rows(config):
        where, meant = path, plugin
        if isinstance(plugin.get("delegate"), dict):
            where, meant = (*path, "delegate"), plugin["delegate"]
        kind = text(meant.get("type")).lower().removesuffix(".exe")
        if kind in _WINDOWS_PLUGINS:
            yield where, meant, kind


def _policies(plugin: Map, kind: str) -> Iterator[tuple[Path, Map]]:
    """Endpoint policies of that type, version 1's form and 2's: path in the plugin, settings."""
    for field in _POLICY_LISTS:
        key, items = _field(plugin, field)
        for index, item in enumerate(listing(items)):
            name, found = _field(mapping(item), "value")
            value = mapping(found)
            if text(_field(value, "Type")[1]).upper() != kind.upper():
                continue
            inner, settings = _field(value, "Settings")
            if isinstance(settings, dict):
                yield (key, index, name, inner), settings
            else:
                yield (key, index, name), value


def _is_translated(config: Config, kind: str) -> bool:
    return kind != "wincni" or config.data.get("name") not in _UNTRANSLATED


def _version(value: Any) -> tuple[int, ...]:
    parts = text(value).split(".")
    numbers_read = [numbers.int_or_none(part) for part in parts]
    return (
        tuple(number for number in numbers_read if number is not None)
        if None not in numbers_read
        else ()
    )


def _is_windows(config: Config) -> bool:
    return any(True for _ in plugins(config))


def _too_new(config: Config, profiles: Profiles) -> Iterator[Place]:
    value = config.data.get("cniVersion")
    if _is_windows(config) and _version(value) >= (0, 4):
        yield Place((*config.path, "cniVersion"), values={"value": text(value)})


def _unchecked(config: Config, profiles: Profiles) -> Iterator[Place]:
    if not config.data.get("disableCheck"):
        yield from _too_new(config, profiles)


def _networks(values: Any) -> list[IPv4Network]:
    found = []
    for value in listing(values):
        network = _network(value)
        if network is not None:
            found.append(network)
    return found


def _network(value: Any) -> IPv4Network | None:
    try:
        return IPv4Network(text(value), strict=False)
    except ValueError:
        return None


def _exceptions(config: Config, profiles: Profiles) -> Iterator[Place]:
    """No list, one that lacks the pods' own network, or one that leaves nothing to translate."""
    for path, plugin, kind in plugins(config):
        lists = [
            (where, *_exception_list(settings))
            for where, settings in _policies(plugin, "OutBoundNAT")
            if _field(settings, "Destinations")[1] is None
        ]
        if not lists:
            if _is_translated(config, kind) and not _field(plugin, "ipMasqNetwork")[1]:
                yield Place((*path, "type"))
            continue
        known = [network for _, _, values in lists for network in _networks(values)]
        pods = _network(_field(mapping(_field(plugin, "ipam")[1]), "subnet")[1])
        misses = pods is not None and known and not any(pods.subnet_of(one) for one in known)
        too_wide = any(one.prefixlen == 0 for one in known)
        if not any(values for _, _, values in lists) or misses or too_wide:
            where, name, _ = lists[0]
            yield Place((*path, *where, name))


def _exception_list(settings: Map) -> tuple[str, list[Any]]:
    """Its name, version 1's or 2's, and what stands there."""
    for name in ("ExceptionList", "Exceptions"):
        key, values = _field(settings, name)
        if values is not None:
            return key, listing(values)
    return "ExceptionList", []


def _routes(config: Config, profiles: Profiles) -> Iterator[Place]:
    for path, plugin, kind in plugins(config):
        routes = [*_policies(plugin, "ROUTE"), *_policies(plugin, "SDNRoute")]
        encapsulated = [one for _, one in routes if _field(one, "NeedEncap")[1] is True]
        if kind in _BRIDGES and _is_translated(config, kind) and not encapsulated:
            yield Place((*path, "type"))


def _linux_ipam(config: Config, profiles: Profiles) -> Iterator[Place]:
    for path, plugin, _ in plugins(config):
        if mapping(plugin.get("ipam")).get("type") in _LINUX_IPAM:
            yield Place((*path, "ipam", "type"))


def _types(config: Config, *wanted: str) -> Iterator[Place]:
    for path, plugin in _rows(config):
        if text(plugin.get("type")).lower().removesuffix(".exe") in wanted:
            yield Place((*path, "type"))


def _weave(config: Config, profiles: Profiles) -> Iterator[Place]:
    yield from _types(config, "weave-net", "weave")


def _wincni(config: Config, profiles: Profiles) -> Iterator[Place]:
    yield from _types(config, "wincni")


def _nat(config: Config, profiles: Profiles) -> Iterator[Place]:
    """A plugin for NAT networks, or wincni told to make one: the name is the type there."""
    yield from _types(config, "nat")
    if config.data.get("name") == "nat" and any(_types(config, "wincni")):
        yield Place((*config.path, "name"))


def _overlay(config: Config, profiles: Profiles) -> Iterator[Place]:
    for path, _, kind in plugins(config):
        if kind == "win-overlay":
            yield Place((*path, "type"))


def _vxlan(config: Config, profiles: Profiles) -> Iterator[Place]:
    if mapping(config.data.get("Backend")).get("Type") == "vxlan":
        yield Place((*config.path, "Backend", "Type"))


def _vxlan_numbers(config: Config, profiles: Profiles) -> Iterator[Place]:
    """Linux' defaults, VNI 1 and port 8472, are others than what Windows takes."""
    backend = mapping(config.data.get("Backend"))
    if backend.get("Type") != "vxlan":
        return
    for name, wanted in (("VNI", _VXLAN_VNI), ("Port", _VXLAN_PORT)):
        if backend.get(name) != wanted:
            yield Place((*config.path, "Backend", name))


def _ipv6_alone(config: Config, profiles: Profiles) -> Iterator[Place]:
    if config.data.get("EnableIPv4") is False:
        yield Place((*config.path, "EnableIPv4"))


RULES: dict[Feature, Rule] = {
    Feature.CNI_VERSION_0_2_0: on_configs(CNI, check=_too_new),
    Feature.CNI_CHECK_MISSING: on_configs(CNI, check=_unchecked),
    Feature.CNI_OUTBOUNDNAT_EXCEPTIONS: on_configs(CNI, check=_exceptions),
    Feature.CNI_ROUTE_NEEDENCAP: on_configs(CNI, check=_routes),
    Feature.IPAM_OPTIONS: on_configs(CNI, check=_linux_ipam),
    Feature.CNI_WEAVE_UNSUPPORTED: on_configs(CNI, check=_weave),
    Feature.CNI_WINCNI_L3: on_configs(CNI, check=_wincni),
    Feature.NET_NAT_NOT_USED: on_configs(CNI, check=_nat),
    Feature.NET_OVERLAY_ALPHA: on_configs(CNI, check=_overlay),
    Feature.FLANNEL_VNI_4096_PORT_4789: on_configs(FLANNEL, check=_vxlan_numbers),
    Feature.FLANNEL_VXLAN_NODE_POD: on_configs(FLANNEL, check=_vxlan),
    Feature.FLANNEL_VXLAN_ALPHA: on_configs(FLANNEL, check=_vxlan),
    Feature.TOPOLOGY_OVERLAY_FLANNEL_FUTURE: on_configs(FLANNEL, check=_vxlan),
    Feature.IPV6_SINGLE_STACK_UNSUPPORTED: on_configs(FLANNEL, check=_ipv6_alone),
}
