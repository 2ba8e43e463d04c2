"""Network configuration: lists (``.conflist``) and single plugins (``.conf``), from a directory.

As the kubelet's runtimes do it, the first file by name is the cluster's network.
Source: CNI specification 1.1.0, section 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from muntin.kit import depth
from muntin.kit.errors import Invalid, NotFound

SUFFIXES = (".conf", ".conflist", ".json")


@dataclass(frozen=True, slots=True)
class PluginConf:
    """One plugin's configuration; ``raw`` is the whole object, unknown keys included."""

    type: str
    capabilities: Mapping[str, bool]
    raw: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class NetworkConf:
    """A network: its plugins in the order of ADD."""

    name: str
    cni_version: str
    plugins: tuple[PluginConf, ...]
    disable_check: bool = False
    source: str = ""


def parse(text: str | bytes, *, source: str = "") -> NetworkConf:
    """The network that ``text`` configures; a single plugin becomes a list of one.

    Raises:
        Invalid: not JSON, or a required member is missing; the message names ``source``.
    """
    where = source or "CNI configuration"
    try:
        document = depth.loads(text)
    except (ValueError, Invalid) as err:
        raise Invalid(f"{where}: not JSON: {err}") from err
    if not isinstance(document, dict):
        raise Invalid(f"{where}: not a JSON object")
    name = document.get("name")
    if not isinstance(name, str) or not name:
        raise Invalid(f"{where}: name is missing")
    plugins = document.get("plugins", [document])
    if not isinstance(plugins, list) or not plugins:
        raise Invalid(f"{where}: plugins must be a list that is not empty")
    return NetworkConf(
        name=name,
        cni_version=str(document.get("cniVersion") or "0.1.0"),
        plugins=tuple(_plugin(item, where) for item in plugins),
        disable_check=bool(document.get("disableCheck", False)),
        source=source,
    )


def _plugin(item: object, where: str) -> PluginConf:
    if not isinstance(item, dict) or not isinstance(item.get("type"), str) or not item["type"]:
        raise Invalid(f"{where}: every plugin needs a type")
    return PluginConf(item["type"], item.get("capabilities") or {}, item)


def load(directory: Path) -> NetworkConf:
    """The first network configuration of ``directory``, by file name.

    Raises:
        NotFound: there is none yet.
        Invalid: the first one is broken.
    """
    try:
        files = sorted(path for path in directory.iterdir() if path.suffix in SUFFIXES)
    except FileNotFoundError:
        files = []
    if not files:
        raise NotFound(f"no networks found in {directory}")
    return parse(files[0].read_bytes(), source=str(files[0]))


def plugin_input(
    network: NetworkConf,
    plugin: PluginConf,
    *,
    capability_args: Mapping[str, Any],
    previous: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """What one plugin reads on stdin: its own configuration with what the list and runtime add."""
    document = dict(plugin.raw)
    document.pop("capabilities", None)
    document["name"] = network.name
    document["cniVersion"] = network.cni_version
    declared = {key for key, wanted in plugin.capabilities.items() if wanted}
    runtime_config = {key: capability_args[key] for key in capability_args if key in declared}
    if runtime_config:
        document["runtimeConfig"] = runtime_config
    if previous is not None:
        document["prevResult"] = previous
    return document
