"""Cluster files of other programs as Drafts: acs-engine's, kind's and k3d's.

What has a counterpart is taken; what has none is named in a note, so that nobody relies on it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from muntin.cluster.config import Os
from muntin.cluster.settings import Draft, NodeDraft, check_label
from muntin.cluster.yaml_fields import Mapping, Place
from muntin.kit import numbers
from muntin.model.windows_releases import BUILDS, parse_kubernetes

ACS_ENGINE, KIND, K3D = "vlabs", "kind.x-k8s.io/v1alpha4", "k3d.io/"
_TAG = re.compile(r":v(\d+\.\d+)[.\d]*")
_SKU = re.compile(r"(?:Datacenter-Core-)?(\d{4})(?:-|$)")
_OS_LABEL = "kubernetes.io/os"
_K3S_FLAGS = {
    "--cluster-cidr": ("pod_subnet", "networking.podSubnet"),
    "--service-cidr": ("service_subnet", "networking.serviceSubnet"),
    "--cluster-domain": ("dns_domain", "networking.dnsDomain"),
}


def reader(api_version: str) -> Callable[[Mapping], Draft] | None:
    """What reads documents of that ``apiVersion``; None for those of Muntin and of nobody."""
    if api_version.startswith(K3D):
        return k3d
    return {ACS_ENGINE: acs_engine, KIND: kind}.get(api_version)


class _Notes:
    """Collects what has no counterpart."""

    def __init__(self, program: str) -> None:
        self._program = program
        self._said: list[str] = []
        self._without: list[str] = []

    def say(self, place: Place, text: str) -> None:
        self._said.append(f"{place.field}: {text}")

    def rest(self, *mappings: Mapping) -> None:
        """Whatever was not taken of ``mappings`` has no counterpart."""
        self._without += [place.field for mapping in mappings for place in mapping.left()]

    def drop(self, place: Place | None) -> None:
        if place is not None:
            self._without.append(place.field)

    def all(self) -> tuple[str, ...]:
        head = f"The file is {self._program}'s and was converted."
        unique = list(dict.fromkeys(self._without))
        without = [f"Without a counterpart here: {', '.join(unique)}."] if unique else []
        return (head, *self._said, *without)


# -- acs-engine ------------------------------------------------------------------------------------


def acs_engine(document: Mapping) -> Draft:
    """acs-engine's cluster definition (and aks-engine's), apiVersion vlabs."""
    draft, notes = Draft(), _Notes("acs-engine")
    document.take("apiVersion")
    properties = document.require("properties", "{orchestratorProfile: ...}").mapping()
    orchestrator = properties.require("orchestratorProfile", "{orchestratorType: Kubernetes}")
    _orchestrator(draft, notes, orchestrator.mapping())
    windows = properties.take("windowsProfile")
    _windows_profile(draft, notes, windows.mapping() if windows else None)
    if (master := properties.take("masterProfile")) is not None:
        _master(draft, notes, master.mapping())
    pools = properties.require("agentPoolProfiles", "[{name: pool1, osType: Windows}]")
    draft.nodes = [node for place in pools.items() for node in _pool(draft, notes, place)]
    notes.rest(properties, document)
    draft.notes = notes.all()
    return draft


def _orchestrator(draft: Draft, notes: _Notes, profile: Mapping) -> None:
    kind_ = profile.require("orchestratorType", "Kubernetes")
    if kind_.text() != "Kubernetes":
        raise kind_.wrong(f"{kind_.text()!r} cannot be run here; use Kubernetes")
    for key in ("orchestratorRelease", "orchestratorVersion"):
        if (version := profile.take(key)) is not None:
            draft.version, draft.origins["kubernetesVersion"] = version.text(), version
    if (section := profile.take("kubernetesConfig")) is not None:
        config = section.mapping()
        _subnet(draft, config.take("clusterSubnet"), "pod_subnet", "networking.podSubnet")
        _subnet(draft, config.take("serviceCidr"), "service_subnet", "networking.serviceSubnet")
        if (runtime := config.take("containerRuntime")) is not None:
            draft.runtime, draft.origins["runtime"] = runtime.text(), runtime
        policy = config.take("networkPolicy")
        if policy is not None and policy.text() not in ("none", ""):
            notes.say(policy, f"{policy.text()} is not there; nobody enforces network policies")
        for key in ("enableRbac", "enableAggregatedAPIs"):  # here they always are
            if (place := config.take(key)) is not None and not place.boolean():
                notes.say(place, "is always true here")
        notes.rest(config)
    draft.runtime = draft.runtime or "docker"
    notes.rest(profile)


def _windows_profile(draft: Draft, notes: _Notes, profile: Mapping | None) -> None:
    """The release: what the image's name says, or the newest that the Kubernetes supports."""
    sku = profile.take("windowsSku") if profile else None
    found = _SKU.search(sku.text()) if sku else None
    if sku is not None and found:
        draft.windows, draft.origins["windows"] = found[1], sku
    elif draft.version:
        from muntin.model.windows.support import builds_of

        version = draft.checked("kubernetesVersion", lambda: parse_kubernetes(draft.version))
        listed = builds_of(version)
        if listed:
            row = next(row for row in BUILDS if row.build == listed[-1])
            draft.windows = row.names[0]
    if profile is not None:
        notes.rest(profile)


def _master(draft: Draft, notes: _Notes, master: Mapping) -> None:
    count = master.take("count")
    if count is not None and count.integer() > 1:
        notes.say(
            count, f"one control plane, not {count.integer()} (--control-planes, --store etcd)"
        )
    if (prefix := master.take("dnsPrefix")) is not None and prefix.text():
        draft.name, draft.origins["name"] = prefix.text(), prefix
    notes.rest(master)


def _pool(draft: Draft, notes: _Notes, place: Place) -> list[NodeDraft]:
    pool = place.mapping()
    name = pool.require("name", "windowspool1")
    system = pool.take("osType")
    text = system.text() if system else "Linux"
    if system is not None and text not in ("Linux", "Windows"):
        raise system.wrong(f"{text!r} is unknown; use Linux or Windows")
    count = pool.take("count")
    labels = pool.take("customNodeLabels")
    given = _labels(labels.mapping()) if labels else {}
    notes.rest(pool)
    return [
        NodeDraft(os=Os(text.lower()), name=f"{name.text()}-{number}", labels=dict(given))
        for number in range(count.integer() if count else 1)
    ]


# -- kind ------------------------------------------------------------------------------------------


def kind(document: Mapping) -> Draft:
    """kind's Cluster of v1alpha4. A worker labelled kubernetes.io/os: windows is a Windows node."""
    draft, notes = Draft(), _Notes("kind")
    document.take("apiVersion")
    document.take("kind")
    if (name := document.take("name")) is not None:
        draft.name, draft.origins["name"] = name.text(), name
    if (section := document.take("networking")) is not None:
        networking = section.mapping()
        _subnet(draft, networking.take("podSubnet"), "pod_subnet", "networking.podSubnet")
        service = networking.take("serviceSubnet")
        _subnet(draft, service, "service_subnet", "networking.serviceSubnet")
        _port(draft, networking.take("apiServerPort"))
        notes.rest(networking)
    if (served := document.take("runtimeConfig")) is not None:
        pairs = served.mapping().texts()
        draft.runtime_config = {key: text == "true" for key, (text, _) in pairs.items()}
        draft.origins["apiServer.runtimeConfig"] = served
    if (nodes := document.take("nodes")) is not None:
        draft.nodes = _kind_nodes(draft, notes, nodes)
        draft.origins["nodes"] = nodes
    notes.rest(document)
    draft.notes = notes.all()
    return draft


def _kind_nodes(draft: Draft, notes: _Notes, nodes: Place) -> list[NodeDraft]:
    found, planes = list[NodeDraft](), 0
    for place in nodes.items():
        node = place.mapping()
        role = node.take("role")
        is_plane = role is None or role.text() == "control-plane"
        if role is not None and role.text() not in ("control-plane", "worker"):
            raise role.wrong(f"{role.text()!r} is unknown; use control-plane or worker")
        version = _tag(node.take("image"))
        labels = node.take("labels")
        given = _labels(labels.mapping()) if labels else {}
        notes.rest(node)
        if is_plane:
            planes += 1
            if version:
                draft.version = draft.version or version
            continue
        system = Os.WINDOWS if given.pop(_OS_LABEL, "") == Os.WINDOWS else Os.LINUX
        number = str(len(found) + 1) if found else ""
        name = f"{draft.name}-worker{number}"
        found.append(NodeDraft(os=system, name=name, version=version, labels=given))
    if planes > 1:
        notes.say(nodes, f"one control plane, not {planes} (--control-planes, --store etcd)")
    if not found:  # then pods run on the control plane's node
        found.append(NodeDraft(os=Os.LINUX, name="lin01"))
    if all(node.os is Os.LINUX for node in found):
        notes.say(nodes, "has no Windows node; add some with --windows-nodes")
    return found


# -- k3d -------------------------------------------------------------------------------------------


def k3d(document: Mapping) -> Draft:
    """k3d's Simple configuration. Servers run pods as agents do, so all of them are nodes."""
    draft, notes = Draft(), _Notes("k3d")
    document.take("apiVersion")
    document.take("kind")
    if (metadata := document.take("metadata")) is not None:
        section = metadata.mapping()
        if (name := section.take("name")) is not None:
            draft.name, draft.origins["name"] = name.text(), name
        notes.rest(section)
    draft.version = _tag(document.take("image"))
    if (api := document.take("kubeAPI")) is not None:
        section = api.mapping()
        _port(draft, section.take("hostPort"))
        notes.rest(section)
    _subnet(draft, document.take("subnet"), "node_subnet", "networking.nodeSubnet")
    counts = {}
    for key, default in (("servers", 1), ("agents", 0)):
        place = document.take(key)
        counts[key] = place.integer() if place else default
        if key == "servers" and place is not None and counts[key] > 1:
            notes.say(
                place, f"one control plane, not {counts[key]} (--control-planes, --store etcd)"
            )
    draft.nodes = [
        NodeDraft(os=Os.LINUX, name=f"{draft.name}-{key.removesuffix('s')}-{number}")
        for key, count in counts.items()
        for number in range(count)
    ]
    if (options := document.take("options")) is not None:
        _k3s_options(draft, notes, options.mapping())
    notes.rest(document)
    notes.say(document, "has no Windows node; add some with --windows-nodes")
    draft.notes = notes.all()
    return draft


def _k3s_options(draft: Draft, notes: _Notes, options: Mapping) -> None:
    if (k3s := options.take("k3s")) is not None:
        section = k3s.mapping()
        if (given := section.take("extraArgs")) is not None:
            for place in given.items():
                _k3s_flag(draft, notes, place.mapping())
        notes.rest(section)
    notes.rest(options)


def _k3s_flag(draft: Draft, notes: _Notes, item: Mapping) -> None:
    argument = item.require("arg", "--cluster-cidr=10.1.0.0/16")
    item.take("nodeFilters")
    flag, _, value = argument.text().partition("=")
    if flag in _K3S_FLAGS and value:
        attribute, path = _K3S_FLAGS[flag]
        setattr(draft, attribute, value)
        draft.origins[path] = argument
    else:
        notes.say(argument, f"{argument.text()} has no counterpart")


# -- all of them -----------------------------------------------------------------------------------


def _subnet(draft: Draft, place: Place | None, attribute: str, path: str) -> None:
    if place is not None and place.text() not in ("", "auto"):
        setattr(draft, attribute, place.text())
        draft.origins[path] = place


def _port(draft: Draft, place: Place | None) -> None:
    """A port of the host; 0 and -1 leave the choice to the program."""
    number = numbers.int_or_none(place.text(), 1, 65535) if place is not None else None
    if place is not None and number is not None:
        draft.api_server_port, draft.origins["networking.apiServerPort"] = number, place


def _tag(place: Place | None) -> str:
    """The version in the tag of a node's image: ``kindest/node:v1.27.3``."""
    found = _TAG.search(place.text()) if place is not None else None
    return found[1] if found else ""


def _labels(mapping: Mapping) -> dict[str, str]:
    labels = {}
    for key, (value, place) in mapping.texts().items():
        place.checked(partial(check_label, key), value)
        labels[key] = value
    return labels
