"""Flags of ``muntin up``, merged over a Draft: the flag wins over the file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from muntin.cluster.config import Os
from muntin.cluster.settings import (
    DEFAULT_NODES,
    Draft,
    NodeDraft,
    check_label,
    default_nodes,
    parse_taint,
    with_names,
)
from muntin.kit import numbers
from muntin.kit.errors import Invalid
from muntin.model.profiles import world_named


@dataclass(frozen=True, slots=True, kw_only=True)
class Overrides:
    """One field per flag; None (or an empty tuple) leaves the Draft as it is.

    ``linux_nodes`` and ``windows_nodes`` are a number or names with commas between them;
    ``labels`` are ``NODE:KEY=VALUE``, ``taints`` are ``NODE:KEY=VALUE:EFFECT``.
    """

    name: str | None = None
    kubernetes_version: str | None = None
    node_version: str | None = None
    allow_skew: bool | None = None
    windows: str | None = None
    runtime: str | None = None
    profile: str | None = None
    linux_nodes: str | None = None
    windows_nodes: str | None = None
    pod_subnet: str | None = None
    service_subnet: str | None = None
    node_subnet: str | None = None
    dns_domain: str | None = None
    api_server_port: int | None = None
    egress: bool | None = None
    control_planes: int | None = None
    store: str | None = None
    store_ca: Path | None = None
    store_cert: Path | None = None
    store_key: Path | None = None
    simulated_nodes: int | None = None
    labels: tuple[str, ...] = ()
    taints: tuple[str, ...] = ()


# Flag, attribute of Overrides, attribute of Draft, path of the field in messages.
_PLAIN = (
    ("--name", "name", "name", "name"),
    ("--kubernetes-version", "kubernetes_version", "version", "kubernetesVersion"),
    ("--node-version", "node_version", "node_version", "nodeVersion"),
    ("--allow-skew", "allow_skew", "allow_skew", "allowSkew"),
    ("--windows-version", "windows", "windows", "windows"),
    ("--runtime", "runtime", "runtime", "runtime"),
    ("--pod-subnet", "pod_subnet", "pod_subnet", "networking.podSubnet"),
    ("--service-subnet", "service_subnet", "service_subnet", "networking.serviceSubnet"),
    ("--node-subnet", "node_subnet", "node_subnet", "networking.nodeSubnet"),
    ("--dns-domain", "dns_domain", "dns_domain", "networking.dnsDomain"),
    ("--api-server-port", "api_server_port", "api_server_port", "networking.apiServerPort"),
    ("--control-planes", "control_planes", "control_planes", "controlPlanes"),
    ("--egress/--no-egress", "egress", "egress", "networking.egress"),
    ("--simulated-nodes", "simulated_nodes", "simulated_nodes", "simulatedNodes"),
)


def apply(draft: Draft, overrides: Overrides) -> Draft:
    """``draft`` (changed in place) with the flags' values over the file's.

    Raises:
        Invalid: a flag's value cannot be read; the message names the flag.
    """
    if overrides.profile is not None:
        _profile(draft, overrides.profile)
    for flag, source, target, path in _PLAIN:
        value = getattr(overrides, source)
        if value is not None:
            setattr(draft, target, value)
            draft.origins[path] = flag
    _store(draft, overrides)
    _nodes(draft, overrides)
    if draft.nodes is not None:
        with_names(draft.nodes)
    for text in overrides.labels:
        _label(draft, text)
    for text in overrides.taints:
        node, taint = _node_and_rest(draft, "--taint", text, "NODE:KEY=VALUE:EFFECT")
        try:
            node.taints.append(parse_taint(taint))
        except Invalid as err:
            raise Invalid(f"--taint {text}: {err.message}") from err
    return draft


def _profile(draft: Draft, name: str) -> None:
    try:
        world = world_named(name)
    except Invalid as err:
        raise Invalid(f"--profile: {err.message}") from err
    values = {
        ("version", "kubernetesVersion"): ".".join(map(str, world.kubernetes)),
        ("windows", "windows"): world.windows,
        ("runtime", "runtime"): world.runtime,
        ("pod_subnet", "networking.podSubnet"): world.pod_subnet,
        ("service_subnet", "networking.serviceSubnet"): world.service_subnet,
    }
    for (attribute, path), value in values.items():
        if value:
            setattr(draft, attribute, value)
            draft.origins[path] = "--profile"


def _store(draft: Draft, overrides: Overrides) -> None:
    if overrides.store is not None:
        draft.store, draft.origins["store"] = overrides.store, "--store"
        draft.store_ca = draft.store_cert = draft.store_key = ""
    for attribute in ("store_ca", "store_cert", "store_key"):
        file: Path | None = getattr(overrides, attribute)
        if file is not None:
            setattr(draft, attribute, str(file.absolute()))


def _nodes(draft: Draft, overrides: Overrides) -> None:
    wanted = {
        Os.LINUX: ("--linux-nodes", overrides.linux_nodes),
        Os.WINDOWS: ("--windows-nodes", overrides.windows_nodes),
    }
    named = overrides.labels or overrides.taints
    if all(text is None for _, text in wanted.values()) and (draft.nodes or not named):
        return
    rows = list[NodeDraft]()
    for os, (flag, text) in wanted.items():
        given = [row for row in draft.nodes or () if row.os == os]
        if text is None:
            rows += given if draft.nodes is not None else default_nodes(os, DEFAULT_NODES[os])
        elif numbers.is_digits(text):
            count = numbers.parse_uint(text, 16)
            kept = given[:count]
            taken = [row.name for row in kept]
            rows += kept + default_nodes(os, count - len(kept), taken)
        else:
            names = [name.strip() for name in text.split(",")]
            by_name = {row.name: row for row in given}
            rows += [by_name.get(name) or NodeDraft(os=os, name=name) for name in names]
        if text is not None:
            draft.origins.update({f"nodes[{index}].name": flag for index in range(len(rows))})
    draft.nodes = rows


def _label(draft: Draft, text: str) -> None:
    node, rest = _node_and_rest(draft, "--label", text, "NODE:KEY=VALUE")
    key, _, value = rest.partition("=")
    try:
        check_label(key, value)
    except Invalid as err:
        raise Invalid(f"--label {text}: {err.message}") from err
    node.labels[key] = value


def _node_and_rest(draft: Draft, flag: str, text: str, form: str) -> tuple[NodeDraft, str]:
    name, colon, rest = text.partition(":")
    if not colon or not rest:
        raise Invalid(f"{flag} {text}: must be {form}")
    for row in draft.nodes or ():
        if row.name == name:
            return row, rest
    known = ", ".join(row.name for row in draft.nodes or () if row.name)
    raise Invalid(f"{flag} {text}: no node is called {name!r}; there are {known}")
