"""Pods, and the templates of workloads.

Source: kubernetes v1.36 pkg/api/pod/warnings.go, pkg/registry/core/pod/strategy.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from muntin.model import names, spec_keys
from muntin.model.digests import Recent
from muntin.model.gates import Version
from muntin.model.spec_keys import TOKEN_VOLUME
from muntin.model.warnings.addresses import of_ip
from muntin.model.warnings.amounts import of_bytes
from muntin.model.warnings.labels import DEPRECATED, of_term
from muntin.model.warnings.ports import of_ports
from muntin.model.warnings.volumes import of_volumes

Object = Mapping[str, Any]

_ANNOTATIONS = {
    "scheduler.alpha.kubernetes.io/critical-pod":
        'non-functional in v1.16+; use the "priorityClassName" field instead',
    "security.alpha.kubernetes.io/sysctls":
        'non-functional in v1.11+; use the "sysctls" field instead',
    "security.alpha.kubernetes.io/unsafe-sysctls":
        'non-functional in v1.11+; use the "sysctls" field instead',
}  # fmt: skip
_SECCOMP_POD = "seccomp.security.alpha.kubernetes.io/pod"
_SECCOMP = "container.seccomp.security.alpha.kubernetes.io/"
_APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/"
_NO_SECCOMP = 'non-functional in v1.27+; use the "seccompProfile" field instead'
_NO_APP_ARMOR = 'deprecated since v1.30; use the "appArmorProfile" field instead'
_SAYING = (*_ANNOTATIONS, _SECCOMP_POD, _SECCOMP, _APP_ARMOR)
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_NOTHING = "a null labelSelector results in matching no pod"
MOST_SPECS, MOST_TEXT = 1024, 2048
_BYTES = ("memory", "ephemeral-storage")
_PLACING = frozenset(("nodeSelector", "affinity", "topologySpreadConstraints"))
_CONTAINERS = ("initContainers", "containers", "ephemeralContainers")


def of_pod(
    new: Object, old: Object | None, api: Version, spec_key: int | None = None
) -> Iterator[str]:
    """A new pod; changed ones are changed by programs, which read no warnings."""
    if old is not None:
        return
    yield from of_name(new, "the Pod's hostname")
    yield from of_content(new, "", api, spec_key)


def of_name(obj: Object, used: str) -> Iterator[str]:
    """A name that is no DNS label, and is ``used`` where one should be."""
    problems = names.dns1123_label(obj["metadata"].get("name") or "")
    if problems:
        yield (
            f"metadata.name: this is used in {used}, which can result in surprising behavior; "
            f"a DNS label is recommended: [{' '.join(problems)}]"
        )


def of_content(pod: Object, path: str, api: Version, spec_key: int | None = None) -> Iterable[str]:
    """A pod, or a template at ``path`` (``spec.template.``)."""
    annotations = (pod.get("metadata") or {}).get("annotations") or {}
    for key in annotations:
        if key.startswith(_SAYING):
            return _of_content(pod, path, api)
    if spec_key is None:
        spec_key = spec_keys.spec_key(pod.get("spec"))
    known = spec_key, path, api
    found = _known.get(known)
    if found is None:
        found = tuple(_of_content(pod, path, api))
        # The key leaves a volume's name open, and who speaks of it speaks of this pod only.
        if sum(map(len, found)) <= MOST_TEXT and not any(TOKEN_VOLUME in text for text in found):
            _known.keep(known, found)
    return found


_known: Recent[tuple[str, ...]] = Recent(MOST_SPECS)  # by spec, where annotations say nothing


def _of_content(pod: Object, path: str, api: Version) -> Iterator[str]:
    spec, meta = pod.get("spec") or {}, pod.get("metadata") or {}
    at = f"{path}spec"
    if not _PLACING.isdisjoint(spec):
        yield from _placement(spec, at)
    annotations = meta.get("annotations") or {}
    if annotations:
        for key, text in _ANNOTATIONS.items():
            if key in annotations:
                yield f"{path}metadata.annotations[{key}]: {text}"
    if spec.get("volumes"):
        yield from of_volumes(spec["volumes"], f"{at}.volumes", api)
    if spec.get("hostAliases") or spec.get("imagePullSecrets"):
        yield from _twice(spec, at)
    if spec.get("overhead"):
        for name in _BYTES:
            yield from of_bytes(spec["overhead"], f"{at}.overhead", name)
    containers = [
        (f"{at}.{field}[{index}]", row)
        for field in _CONTAINERS
        for index, row in enumerate(spec.get(field) or ())
    ]
    if annotations:
        yield from _profile_annotations(annotations, spec, f"{path}metadata.annotations", path)
    profiled = any(key.startswith((_SECCOMP, _APP_ARMOR)) for key in annotations)
    for here, row in containers:
        if profiled:
            yield from _own_profiles(row, annotations, spec, f"{path}metadata.annotations", path)
        if row.get("resources"):
            yield from _fractions(row["resources"], f"{here}.resources")
        variables = row.get("env")
        if variables and len({v.get("name") for v in variables}) < len(variables):
            yield from _hidden(variables, f"{here}.env")
    if any(row.get("ports") for _, row in containers):
        yield from of_ports(containers)
    if path and (spec.get("terminationGracePeriodSeconds") or 0) < 0:  # pods get one second then
        text = "must be >= 0; negative values are invalid and will be treated as 1"
        yield f"{at}.terminationGracePeriodSeconds: {text}"
    if spec.get("affinity"):
        yield from _affinity(spec["affinity"], f"{at}.affinity")
    if spec.get("dnsConfig"):
        for index, ip in enumerate(spec["dnsConfig"].get("nameservers") or ()):
            yield from of_ip(ip, f"{at}.dnsConfig.nameservers[{index}]", api)
    for index, row in enumerate(spec.get("hostAliases") or ()):
        yield from of_ip(row.get("ip") or "", f"{at}.hostAliases[{index}].ip", api)


def _placement(spec: Object, path: str) -> Iterator[str]:
    for key in spec.get("nodeSelector") or ():
        if key in DEPRECATED:
            yield f"{path}.nodeSelector[{key}]: {DEPRECATED[key]}"
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    here = f"{path}.affinity.nodeAffinity"
    terms = (affinity.get(_REQUIRED) or {}).get("nodeSelectorTerms") or ()
    for index, term in enumerate(terms):
        yield from of_term(term, f"{here}.{_REQUIRED}.nodeSelectorTerms[{index}]")
    for index, row in enumerate(affinity.get(_PREFERRED) or ()):
        preference = row.get("preference") or {}
        yield from of_term(preference, f"{here}.{_PREFERRED}[{index}].preference", values=True)
    for index, row in enumerate(spec.get("topologySpreadConstraints") or ()):
        at, key = f"{path}.topologySpreadConstraints[{index}]", row.get("topologyKey")
        if key in DEPRECATED:
            yield f"{at}.topologyKey: {key} is {DEPRECATED[key]}"
        if row.get("labelSelector") is None:
            yield f"{at}.labelSelector: {_NOTHING}"


def _twice(spec: Object, path: str) -> Iterator[str]:
    for field, key in (("hostAliases", "ip"), ("imagePullSecrets", "name")):
        rows, seen = spec.get(field) or (), set()
        for index, row in enumerate(rows):
            value = row.get(key) or ""
            if value in seen:
                yield f'{path}.{field}[{index}].{key}: duplicate {key} "{value}"'
            seen.add(value)
    for index, row in enumerate(spec.get("imagePullSecrets") or ()):
        if not row.get("name"):
            yield f'{path}.imagePullSecrets[{index}].name: invalid empty name ""'


def _profile_annotations(
    annotations: Object, spec: Object, path: str, template: str
) -> Iterator[str]:  # fmt: skip
    context = spec.get("securityContext") or {}
    if _SECCOMP_POD in annotations and context.get("seccompProfile") is None:
        yield f"{path}[{_SECCOMP_POD}]: {_NO_SECCOMP}"


def _own_profiles(
    row: Object, annotations: Object, spec: Object, path: str, template: str
) -> Iterator[str]:  # fmt: skip
    context, name = row.get("securityContext") or {}, row.get("name") or ""
    if f"{_SECCOMP}{name}" in annotations and context.get("seccompProfile") is None:
        yield f"{path}[{_SECCOMP}{name}]: {_NO_SECCOMP}"
    whole = (spec.get("securityContext") or {}).get("appArmorProfile")
    own = context.get("appArmorProfile")
    if template and f"{_APP_ARMOR}{name}" in annotations and own is None and whole is None:
        yield f"{path}[{_APP_ARMOR}{name}]: {_NO_APP_ARMOR}"


def _fractions(resources: Object, path: str) -> Iterator[str]:
    limits, requests = resources.get("limits"), resources.get("requests")
    for name in _BYTES:
        if limits and name in limits:
            yield from of_bytes(limits, f"{path}.limits", name)
        if requests and name in requests:
            yield from of_bytes(requests, f"{path}.requests", name)


def _hidden(variables: Any, path: str) -> Iterator[str]:
    """Variables given twice, unless the later one builds on the earlier."""
    seen: set[str] = set()
    for index, row in enumerate(variables):
        name, value = row.get("name") or "", row.get("value") or ""
        own = f"$({name})"
        if name in seen and (own not in value or value == own or row.get("valueFrom")):
            yield (
                f'{path}[{index}]: hides previous definition of "{name}", which may be dropped '
                "when using apply"
            )
        seen.add(name)


def _affinity(affinity: Object, path: str) -> Iterator[str]:
    for field in ("podAffinity", "podAntiAffinity"):
        rules = affinity.get(field) or {}
        for index, row in enumerate(rules.get(_REQUIRED) or ()):
            if row.get("labelSelector") is None:
                yield f"{path}.{field}.{_REQUIRED}[{index}].labelSelector: {_NOTHING}"
        for index, row in enumerate(rules.get(_PREFERRED) or ()):
            if (row.get("podAffinityTerm") or {}).get("labelSelector") is None:
                at = f"{path}.{field}.{_PREFERRED}[{index}].podAffinityTerm.labelSelector"
                yield f"{at}: {_NOTHING}"
