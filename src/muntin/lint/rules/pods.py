"""Rules on pods: namespaces, isolation, several containers, their end, hosts file, resources."""

from __future__ import annotations

from collections.abc import Iterator

from muntin.kit.errors import Invalid
from muntin.lint.places import Fix, Place, Put
from muntin.lint.rule import SPEAKING, Profiles, Rule, equals, is_there, on_flags, on_pods, remove
from muntin.lint.rules.security import ignored
from muntin.lint.views import Command, Flag, Map, Pod, listing, mapping
from muntin.model import quantity
from muntin.model.windows import Feature

_WAIT_TO_KILL_S = 5  # what Windows waits by itself
_GROUP_OF_CPUS = 64
_RESERVE = "2Gi"
# Official images of Linux that there are none of for Windows.
_OF_LINUX = frozenset(
    {"alpine", "busybox", "debian", "ubuntu", "nginx", "httpd", "redis", "postgres", "mysql",
     "mariadb", "memcached", "rabbitmq", "haproxy", "fluentd", "envoy"}
)  # fmt: skip


def _shared_network(pod: Pod, profiles: Profiles) -> Iterator[Place]:
    """hostNetwork of containers that are not HostProcess ones."""
    if pod.spec.get("hostNetwork") is True and not any(map(pod.host_process, pod.containers)):
        path = pod.at("spec", "hostNetwork")
        yield Place(path, remove(path, True))


def _for_linux_only(pod: Pod, profiles: Profiles) -> Iterator[Place]:
    """Containers with an image that there is for Linux only, in a pod for Windows.

    Of an image whose builds are known the name says nothing: lists of manifests have a form for
    each system, and one that has none for Windows breaks another rule.
    """
    for container in pod.containers:
        if container.image in pod.object.document.builds:
            continue
        name, _, tag = container.image.partition("@")[0].rpartition("/")[2].partition(":")
        registry = container.image.rpartition("/")[0]
        official = registry in ("", "library", "docker.io/library")
        if (official and name in _OF_LINUX) or "alpine" in tag:
            yield Place((*container.path, "image"))


def _beside_another(pod: Pod, profiles: Profiles) -> Iterator[Place]:
    """The second container and those after it; init containers run one after another."""
    running = [container for container in pod.containers if not container.init]
    for container in running[1:]:
        yield Place((*container.path, "name"))


def _long_grace(pod: Pod, profiles: Profiles) -> Iterator[Place]:
    grace_s = pod.spec.get("terminationGracePeriodSeconds")
    if isinstance(grace_s, int) and grace_s > _WAIT_TO_KILL_S:
        yield Place(pod.at("spec", "terminationGracePeriodSeconds"))


def _amount(value: object) -> int | None:
    """The quantity in thousandths of millionths; None where it is none."""
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        return None
    try:
        return quantity.parse(str(value)).nano
    except (Invalid, ValueError):
        return None


def _resources(pod: Pod) -> Iterator[tuple[tuple[str | int, ...], Map, Map]]:
    """(path of the container's resources, its requests, its limits)."""
    for container in pod.containers:
        found = mapping(container.data.get("resources"))
        path = (*container.path, "resources")
        yield path, mapping(found.get("requests")), mapping(found.get("limits"))


def _less_than_limit(pod: Pod, profiles: Profiles) -> Iterator[Place]:
    for path, requests, limits in _resources(pod):
        asked, most = _amount(requests.get("memory")), _amount(limits.get("memory"))
        if asked is not None and most is not None and asked < most:
            place = (*path, "requests", "memory")
            yield Place(place, Fix((Put(place, limits["memory"]),), safe=False))


def _without_memory(pod: Pod, profiles: Profiles) -> Iterator[Place]:
    for path, requests, limits in _resources(pod):
        if "memory" not in requests and "memory" not in limits:
            yield Place((*path, "requests"))


def _huge_pages(pod: Pod, profiles: Profiles) -> Iterator[Place]:
    for path, requests, limits in _resources(pod):
        for kind, given in (("requests", requests), ("limits", limits)):
            for name in given:
                if str(name).startswith("hugepages-"):
                    yield Place((*path, kind, name), values={"size": str(name)})


def _more_than_a_group(pod: Pod, profiles: Profiles) -> Iterator[Place]:
    for path, _, limits in _resources(pod):
        cpus = _amount(limits.get("cpu"))
        if cpus is not None and cpus > _GROUP_OF_CPUS * 10**9:
            yield Place((*path, "limits", "cpu"))


def _after(command: Command, flag: Flag) -> str:
    """What follows a flag of a script up to the next blank: commas end words in some shells."""
    if flag.span is None:
        return ""
    return command.document.text[flag.span[1] :].partition("\n")[0].split(" ")[0]


def _reserved(command: Command, name: str) -> Iterator[tuple[Place, str]]:
    """Places of ``--system-reserved``, with what it gives of that resource."""
    for flag in command.flags:
        if flag.name == "--system-reserved":
            value = (flag.value or "") + _after(command, flag)
            pairs = (part.partition("=") for part in value.strip("\"'`").split(","))
            amounts = {key.strip(): value.strip() for key, _, value in pairs}
            yield Place(flag.path, span=flag.span), amounts.get(name, "")


def _little_memory(command: Command, profiles: Profiles) -> Iterator[Place]:
    for place, amount in _reserved(command, "memory"):
        least = _amount(_RESERVE)
        found = _amount(amount) if amount else 0
        if found is not None and least is not None and found < least:
            yield place


def _no_cpu(command: Command, profiles: Profiles) -> Iterator[Place]:
    for place, amount in _reserved(command, "cpu"):
        if not amount:
            yield place


def _is_bound(value: object) -> bool:
    """A policy other than that of not taking part."""
    return isinstance(value, str) and value.strip("\"'").casefold() != "none"


def _ports_of_replicas(pod: Pod, profiles: Profiles) -> Iterator[Place]:
    replicas = mapping(pod.object.data.get("spec")).get("replicas")
    if not isinstance(replicas, int) or replicas < 2:
        return
    for container in pod.containers:
        for index, port in enumerate(listing(container.data.get("ports"))):
            if mapping(port).get("hostPort"):
                yield Place((*container.path, "ports", index, "hostPort"))


RULES: dict[Feature, Rule] = {
    Feature.HOST_NETWORK: on_pods(_shared_network),
    Feature.HOST_PID: ignored(Feature.HOST_PID, bool),
    Feature.HOST_IPC: ignored(Feature.HOST_IPC, bool),
    Feature.SHARED_PROCESSES: ignored(Feature.SHARED_PROCESSES, bool),
    Feature.JOB_OBJECT_PER_CONTAINER: ignored(Feature.JOB_OBJECT_PER_CONTAINER),
    Feature.MANAGED_HOSTS_FILE: on_pods(fix=remove),
    Feature.POD_OS_ADMISSION: on_pods(where=is_there),
    Feature.NO_MIXED_OS_POD: on_pods(_for_linux_only),
    Feature.MULTI_CONTAINER_NEEDS_1709: on_pods(_beside_another),
    Feature.HYPERV_GATE_ANNOTATION: on_pods(where=equals("hyperv")),
    Feature.TERMINATION_GRACE: on_pods(_long_grace),
    Feature.HOSTPORT_ONE_POD_PER_NODE: on_pods(_ports_of_replicas, states=SPEAKING),
    Feature.RESOURCE_LIMITS: on_pods(),
    Feature.CPU_HARD_CAP: on_pods(),
    Feature.NUMCPU_64_GROUP: on_pods(_more_than_a_group),
    Feature.LIMITS_ONLY_OR_EQUAL: on_pods(_less_than_limit),
    Feature.REQUESTS_NOT_GUARANTEED: on_pods(_without_memory),
    Feature.HUGE_PAGES: on_pods(_huge_pages),
    Feature.DRA_UNSUPPORTED_WINDOWS: on_pods(),
    Feature.POD_RESIZE: on_pods(),
    Feature.RESERVE_2GB: on_flags(_little_memory, programs=("kubelet",)),
    Feature.RESERVE_CPU_PERCENTAGE: on_flags(_no_cpu, programs=("kubelet",)),
    Feature.CPU_MEMORY_AFFINITY: on_flags(where=_is_bound),
    Feature.EVICTION_DISK: on_flags(where=lambda value: "inodesFree" in str(value)),
}
