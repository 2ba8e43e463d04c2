"""What checks look at: objects, pods, services, each with its place in the document it came from.

Values of a manifest can be of any shape: ``mapping`` and ``listing`` give what is usable of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from muntin.lint.documents import Document
from muntin.lint.places import Path

Map = dict[str, Any]
# Where the pod's template stands, by group and kind; extensions and apps are the same kinds.
TEMPLATES: dict[tuple[str, str], Path] = {
    ("", "Pod"): (),
    ("", "PodTemplate"): ("template",),
    ("", "ReplicationController"): ("spec", "template"),
    ("batch", "Job"): ("spec", "template"),
    ("batch", "CronJob"): ("spec", "jobTemplate", "spec", "template"),
    **{
        (group, kind): ("spec", "template")
        for group in ("apps", "extensions")
        for kind in ("Deployment", "ReplicaSet", "DaemonSet", "StatefulSet")
    },
}
CONTAINER_LISTS = ("initContainers", "containers", "ephemeralContainers")


def mapping(value: Any) -> Map:
    """The value if it is a map, an empty one otherwise."""
    return value if isinstance(value, dict) else {}


def listing(value: Any) -> list[Any]:
    """The value if it is a list, an empty one otherwise."""
    return value if isinstance(value, list) else []


def text(value: Any) -> str:
    """The value if it is text, none otherwise."""
    return value if isinstance(value, str) else ""


@dataclass(slots=True)
class Object:
    """One object of the API; ``path`` leads to it in its document.

    ``os``, of autoscalers and policies: ``windows`` where they are about pods bound for Windows.
    """

    document: Document
    path: Path
    data: Map
    kind: str
    group: str
    name: str
    namespace: str
    os: str = ""

    def describe(self) -> str:
        """``Deployment shop/web``."""
        name = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{self.kind} {name}".rstrip()


@dataclass(slots=True)
class Container:
    """One container; ``path`` leads to it in the document."""

    path: Path
    data: Map
    init: bool
    image: str


@dataclass(slots=True)
class Pod:
    """A pod, or the template of one: ``path`` leads to what holds its metadata and spec.

    ``os`` is ``windows`` or ``linux`` if it is bound for nodes of that kind, else empty;
    ``bound_by`` is the path of the field that binds it so.
    """

    object: Object
    path: Path
    data: Map
    metadata: Map
    spec: Map
    os: str = ""
    bound_by: Path = ()
    containers: list[Container] = field(default_factory=list)

    @property
    def labels(self) -> Map:
        """Its labels."""
        return mapping(self.metadata.get("labels"))

    @property
    def annotations(self) -> Map:
        """Its annotations."""
        return mapping(self.metadata.get("annotations"))

    def at(self, *steps: str | int) -> Path:
        """The path in the document of ``spec`` and so on, seen from the pod."""
        return (*self.path, *steps)

    def host_process(self, container: Container | None = None) -> bool:
        """Whether it (or that container) is a HostProcess one."""
        own = mapping(container.data.get("securityContext")) if container else {}
        whole = mapping(self.spec.get("securityContext"))
        for context in (own, whole):
            options = mapping(context.get("windowsOptions"))
            if "hostProcess" in options:
                return options["hostProcess"] is True
        return False


@dataclass(slots=True)
class Service:
    """A Service with the pods of the given set that it selects."""

    object: Object
    path: Path
    data: Map
    spec: Map
    pods: list[Pod]
    os: str = ""

    def at(self, *steps: str | int) -> Path:
        """The path in the document of ``spec`` and so on, seen from the Service."""
        return (*self.path, *steps)


@dataclass(slots=True)
class Config:
    """A configuration that is no object of the API; ``form`` is one of `configs`' forms."""

    form: str
    document: Document
    path: Path
    data: Map
    object: Object


@dataclass(frozen=True, slots=True)
class Flag:
    """``--name``, and its value: None where none is written. ``span``: its place in a script."""

    name: str
    value: str | None
    path: Path
    span: tuple[int, int] | None = None


@dataclass(slots=True)
class Command:
    """One command line of ``program``, on nodes of ``os``; ``object`` has it if it is no script."""

    document: Document
    path: Path
    program: str
    flags: list[Flag]
    os: str
    object: Object | None = None
    span: tuple[int, int] | None = None

    def flag(self, name: str) -> Flag | None:
        """The last flag of that name, with its dashes."""
        return next((flag for flag in reversed(self.flags) if flag.name == name), None)


@dataclass(slots=True)
class Given:
    """All that is linted together."""

    objects: list[Object] = field(default_factory=list)
    pods: list[Pod] = field(default_factory=list)
    services: list[Service] = field(default_factory=list)
    configs: list[Config] = field(default_factory=list)
    commands: list[Command] = field(default_factory=list)


View = Object | Pod | Service | Config | Command


def objects(document: Document) -> Iterator[Object]:
    """The objects of a document, those of lists one by one."""
    yield from _objects(document, document.data, ())


def _objects(document: Document, data: Any, path: Path) -> Iterator[Object]:
    if not isinstance(data, dict) or not isinstance(data.get("kind"), str):
        return
    kind, items = data["kind"], data.get("items")
    if kind.endswith("List") and isinstance(items, list):
        for index, item in enumerate(items):
            if isinstance(item, dict):  # those of a typed list need not say their kind
                own = {"kind": kind.removesuffix("List"), "apiVersion": data.get("apiVersion")}
                yield from _objects(document, own | item, (*path, "items", index))
        return
    metadata = mapping(data.get("metadata"))
    group, _, version = text(data.get("apiVersion")).partition("/")
    name = text(metadata.get("name")) or text(metadata.get("generateName"))
    namespace = text(metadata.get("namespace"))
    yield Object(document, path, data, kind, group if version else "", name, namespace)


def pod_of(item: Object) -> Pod | None:
    """The pod (or the template) of an object, if it is of a kind that has one."""
    steps = TEMPLATES.get((item.group, item.kind))
    if steps is None:
        return None
    data: Any = item.data
    for step in steps:
        data = mapping(data).get(str(step))
    if not isinstance(data, dict):
        return None
    spec = mapping(data.get("spec"))
    pod = Pod(item, (*item.path, *steps), data, mapping(data.get("metadata")), spec)
    for name in CONTAINER_LISTS:
        for index, container in enumerate(listing(spec.get(name))):
            if isinstance(container, dict):
                path = pod.at("spec", name, index)
                image = text(container.get("image"))
                pod.containers.append(Container(path, container, name == "initContainers", image))
    return pod
