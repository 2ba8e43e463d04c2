"""Reads the Cluster file (apiVersion muntin.dev/v1alpha1) into a Draft."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from muntin.cluster import kubelet_file
from muntin.cluster.config import API_VERSION, KIND, Os, Taint
from muntin.cluster.settings import TAINT_EFFECTS, Draft, NodeDraft, check_label
from muntin.cluster.store_config import ETCD
from muntin.cluster.yaml_fields import Mapping, Place, parse
from muntin.kit.errors import Invalid, NotFound


def read(path: Path) -> Draft:
    """The Draft that the file at ``path`` holds.

    Raises:
        NotFound: the file cannot be read.
        Invalid: it is not a Cluster; the message names file, line, column and field.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as err:
        raise NotFound(f"{path}: {err.strerror}; give the path of a Cluster file") from err
    except UnicodeDecodeError as err:
        raise Invalid(f"{path}: not UTF-8 text (byte {err.start})") from err
    return decode(text, str(path))


def decode(text: str, file: str) -> Draft:
    """The Draft in ``text``; ``file`` is what errors call it."""
    # Tabs are no indentation in YAML, and are found in JSON.
    document = parse(text.replace("\t", " ") if text.lstrip().startswith("{") else text, file)
    if (found := document.take("apiVersion")) is not None and found.text() != API_VERSION:
        from muntin.cluster import foreign_files

        convert = foreign_files.reader(found.text())
        if convert is not None:
            return convert(document)
    _expect(document, "apiVersion", API_VERSION)
    _expect(document, "kind", KIND)
    draft = Draft()
    for key, attribute in (
        ("name", "name"),
        ("kubernetesVersion", "version"),
        ("nodeVersion", "node_version"),
        ("windows", "windows"),
        ("runtime", "runtime"),
    ):
        _text(draft, document, key, draft, attribute)
    if (skew := document.take("allowSkew")) is not None:
        draft.allow_skew = skew.boolean()
    if (registries := document.take("registryConfigDir")) is not None:
        draft.registry_config_dir = _folder(registries, Path(file).parent)
    if (networking := document.take("networking")) is not None:
        _networking(draft, networking.mapping())
    if (nodes := document.take("nodes")) is not None:
        draft.origins["nodes"] = nodes
        draft.nodes = [_node(draft, place.mapping()) for place in nodes.items()]
    if (etcd := document.take("etcd")) is not None:
        _etcd(draft, etcd, Path(file).parent)
    if (control_planes := document.take("controlPlanes")) is not None:
        draft.origins["controlPlanes"] = control_planes
        draft.control_planes = control_planes.integer()
    if (election := document.take("leaderElection")) is not None:
        from muntin.cluster import election_file

        draft.origins["leaderElection"] = election
        draft.leader_elect, draft.election = election_file.read(election.mapping())
    if (api_server := document.take("apiServer")) is not None:
        # The API server's own parsers: 20 ms that clusters without the section do without.
        from muntin.cluster import access_file, admission_file

        section = api_server.mapping()
        if (admission := section.take("admission")) is not None:
            draft.admission = admission_file.read(admission.mapping())
        if (served := section.take("runtimeConfig")) is not None:
            draft.origins["apiServer.runtimeConfig"] = served
            draft.runtime_config = served.mapping().booleans()
        draft.access = access_file.read(section, Path(file).parent)
    if (controllers := document.take("controllerManager")) is not None:
        from muntin.cluster import controller_file

        draft.autoscaling = controller_file.read(controllers.mapping())
    if (scheduler := document.take("scheduler")) is not None:
        from muntin.cluster import scheduler_file

        draft.scheduler = scheduler_file.read(scheduler)
    if (simulated := document.take("simulatedNodes")) is not None:
        draft.origins["simulatedNodes"] = simulated
        draft.simulated_nodes = simulated.integer()
    if (lint := document.take("lint")) is not None:
        draft.lint = lint.boolean()
    document.finish()
    return draft


def _expect(document: Mapping, key: str, right: str) -> None:
    place = document.require(key, right)
    if place.text() != right:
        raise place.wrong(f"{place.text()!r} is not supported; use {right}")


def _text(draft: Draft, mapping: Mapping, key: str, target: object, attribute: str) -> None:
    if (place := mapping.take(key)) is not None:
        setattr(target, attribute, place.text())
        draft.origins[place.field] = place


def _folder(place: Place, base: Path) -> str:
    """The absolute path of a folder that is there; ``base`` is what a relative one is under."""
    folder = (base / place.text()).absolute()
    if not folder.is_dir():
        raise place.wrong(f"{folder} is not a folder; make it first")
    return str(folder)


def _etcd(draft: Draft, place: Place, base: Path) -> None:
    """kubeadm's section of the name: ``local`` or ``external``."""
    draft.origins["store"] = place
    section = place.mapping()
    local, external = section.take("local"), section.take("external")
    if (local is None) == (external is None):
        raise place.wrong("must hold either local: {} or external: {endpoints: [...]}")
    if local is not None:
        local.mapping().finish()
        draft.store = ETCD
    if external is not None:
        found = external.mapping()
        urls = list(found.require("endpoints", "[https://10.0.0.5:2379]").items())
        if not urls:
            raise external.wrong("endpoints is empty; write [https://10.0.0.5:2379]")
        draft.store = ",".join(url.text() for url in urls)
        for key, attribute in (
            ("caFile", "store_ca"),
            ("certFile", "store_cert"),
            ("keyFile", "store_key"),
        ):
            if (file := found.take(key)) is not None:
                setattr(draft, attribute, str((base / file.text()).absolute()))
        found.finish()
    section.finish()


def _networking(draft: Draft, mapping: Mapping) -> None:
    for key, attribute in (
        ("podSubnet", "pod_subnet"),
        ("serviceSubnet", "service_subnet"),
        ("nodeSubnet", "node_subnet"),
        ("outsideSubnet", "outside_subnet"),
        ("loadBalancerSubnet", "load_balancer_subnet"),
        ("dnsDomain", "dns_domain"),
    ):
        _text(draft, mapping, key, draft, attribute)
    if (port := mapping.take("apiServerPort")) is not None:
        draft.api_server_port = port.integer()
        draft.origins[port.field] = port
    if (egress := mapping.take("egress")) is not None:
        _egress(draft, egress)
    mapping.finish()


def _egress(draft: Draft, place: Place) -> None:
    """``true``, ``false``, or which addresses pods reach, and which not."""
    if not place.is_mapping:
        draft.egress = place.boolean()
        return
    section = place.mapping()
    for key, target in (("allow", draft.egress_allow), ("deny", draft.egress_deny)):
        if (rows := section.take(key)) is not None:
            for row in rows.items():
                target.append(row.text())
                draft.origins[row.field] = row
    section.finish()


def _node(draft: Draft, mapping: Mapping) -> NodeDraft:
    os = mapping.require("os", "windows")
    if os.text() not in list(Os):
        raise os.wrong(f"{os.text()!r} is unknown; use {' or '.join(Os)}")
    node = NodeDraft(os=os.text())
    draft.origins[f"{mapping.field}.name"] = mapping
    for key, attribute in (("name", "name"), ("version", "version")):
        _text(draft, mapping, key, node, attribute)
    for key, attribute in (
        ("windows", "windows"),
        ("runtime", "runtime"),
        ("networkPlugin", "network_plugin"),
    ):
        place = mapping.take(key)
        if place is not None and os.text() != Os.WINDOWS:
            raise place.wrong("is for Windows nodes only; remove it")
        _text(draft, mapping, key, node, attribute)
    if (labels := mapping.take("labels")) is not None:
        node.labels = _labels(labels.mapping())
    if (taints := mapping.take("taints")) is not None:
        node.taints = [_taint(place.mapping()) for place in taints.items()]
    if (kubelet := mapping.take("kubelet")) is not None:
        node.kubelet = kubelet_file.read(kubelet.mapping(), Os(os.text()))
    mapping.finish()
    return node


def _labels(mapping: Mapping) -> dict[str, str]:
    labels = {}
    for key, (value, place) in mapping.texts().items():
        place.checked(partial(check_label, key), value)
        labels[key] = value
    return labels


def _taint(mapping: Mapping) -> Taint:
    key = mapping.require("key", "os")
    effect = mapping.require("effect", "NoSchedule")
    if effect.text() not in TAINT_EFFECTS:
        raise effect.wrong(f"{effect.text()!r} is unknown; use one of {', '.join(TAINT_EFFECTS)}")
    value = mapping.take("value")
    taint = Taint(key=key.text(), value=value.text() if value else "", effect=effect.text())
    key.checked(partial(check_label, value=taint.value), taint.key)
    mapping.finish()
    return taint
