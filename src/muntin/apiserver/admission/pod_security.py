"""Pod Security Standards, as the labels of namespaces ask for them.

Namespaces get the policies; pods are refused or warned of, workloads only warned of.
Source: pod-security-admission v1.34 admission/admission.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from muntin.apiserver import status
from muntin.apiserver.admission.attributes import Attributes, Object, Silent
from muntin.apiserver.cache import Cache
from muntin.kit.errors import Cause
from muntin.model import pods
from muntin.model.pod_security.levels import MODES, PREFIX, LevelVersion, Policy, policy_of
from muntin.model.resources import NAMESPACES, PODS

if TYPE_CHECKING:
    from muntin.model.pod_security.evaluation import Evaluation

CHECKED_AT_ONCE = 3000  # pods of a namespace whose labels change, as upstream
_TEMPLATE = ("spec", "template")
_TEMPLATES: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("", "podtemplates"): ("template",),
    ("", "replicationcontrollers"): _TEMPLATE,
    ("apps", "daemonsets"): _TEMPLATE,
    ("apps", "deployments"): _TEMPLATE,
    ("apps", "replicasets"): _TEMPLATE,
    ("apps", "statefulsets"): _TEMPLATE,
    ("batch", "jobs"): _TEMPLATE,
    ("batch", "cronjobs"): ("spec", "jobTemplate", *_TEMPLATE),
}
_RESOURCES = frozenset(
    {"pods", "namespaces"}
    | {f"{plural}.{group}" if group else plural for group, plural in _TEMPLATES}
)
_LABELS = frozenset(f"{PREFIX}{mode}{which}" for mode in MODES for which in ("", "-version"))
_POD_SUBRESOURCES = ("", "ephemeralcontainers", "resize")


@dataclass(frozen=True, slots=True)
class Exemptions:
    """Whom the standards leave alone: names of namespaces, users and RuntimeClasses."""

    namespaces: frozenset[str] = frozenset()
    usernames: frozenset[str] = frozenset()
    runtime_classes: frozenset[str] = frozenset()


class PodSecurity(Silent):
    """``minor`` is the release of the API, which a policy of version ``latest`` means."""

    resources = _RESOURCES

    def __init__(
        self,
        cache: Cache,
        minor: int,
        exemptions: Exemptions,
        defaults: Policy,
    ) -> None:
        self._namespaces = cache.of(NAMESPACES)
        self._pods = cache.of(PODS)
        self._minor = minor
        self._exempt = exemptions
        self._defaults = defaults
        self._allows_everything = defaults.allows_everything

    def validate(self, attributes: Attributes) -> None:
        if attributes.operation not in ("CREATE", "UPDATE"):
            return
        resource = attributes.resource
        if not resource.group and resource.plural == "pods":
            if attributes.subresource in _POD_SUBRESOURCES:
                self._pod(attributes)
            return
        if attributes.subresource:
            return
        if not resource.group and resource.plural == "namespaces":
            self._namespace(attributes)
            return
        path = _TEMPLATES.get((resource.group, resource.plural))
        if path is not None:
            self._template(attributes, path)

    def _policy(self, namespace: str) -> Policy | None:
        """What the namespace asks for; None if that is nothing."""
        item = self._namespaces.get("", namespace)
        labels = {} if item is None else item.labels
        if self._allows_everything and _LABELS.isdisjoint(labels):
            return None
        found = policy_of(labels, self._defaults)[0]
        return None if found.allows_everything else found

    def _is_exempt(self, attributes: Attributes) -> bool:
        exempt = self._exempt
        return attributes.namespace in exempt.namespaces or attributes.user.name in exempt.usernames

    # -- pods and workloads --------------------------------------------------------------------

    def _pod(self, attributes: Attributes) -> None:
        policy = self._policy(attributes.namespace)
        if policy is None or self._is_exempt(attributes):
            return
        pod, old = attributes.obj, attributes.old
        if old is not None and not _matters(pod["spec"], old["spec"]):
            return
        if pod["spec"].get("runtimeClassName") in self._exempt.runtime_classes:
            return
        attributes.request.annotations[f"{PREFIX}enforce-policy"] = str(policy.enforce)
        found = self._evaluate(policy.enforce, pod)
        if not found.allowed:
            why = f'violates PodSecurity "{policy.enforce}": {found.detail}'
            raise status.forbidden(attributes.resource, attributes.name, why)
        self._warn(attributes, policy, pod)

    def _template(self, attributes: Attributes, path: tuple[str, ...]) -> None:
        policy = self._policy(attributes.namespace)
        if policy is None or self._is_exempt(attributes):
            return
        if not (policy.warn.rank or policy.audit.rank):
            return
        template = attributes.obj
        for part in path:
            template = template.get(part) or {}
        if not template.get("spec"):
            return
        if template["spec"].get("runtimeClassName") in self._exempt.runtime_classes:
            return
        self._warn(attributes, policy, template)

    def _warn(self, attributes: Attributes, policy: Policy, pod: Object) -> None:
        found = self._evaluate(policy.warn, pod)
        if not found.allowed:
            text = f'would violate PodSecurity "{policy.warn}": {found.detail}'
            attributes.request.warnings.append(text)
        found = self._evaluate(policy.audit, pod)
        if not found.allowed:
            text = f'would violate PodSecurity "{policy.audit}": {found.detail}'
            attributes.request.annotations[f"{PREFIX}audit-violations"] = text

    def _evaluate(self, asked: LevelVersion, pod: Object) -> Evaluation:
        from muntin.model.pod_security.evaluation import evaluate  # where a namespace asks for it

        return evaluate(asked, self._minor, pod.get("metadata") or {}, pod["spec"])

    # -- namespaces ----------------------------------------------------------------------------

    def _namespace(self, attributes: Attributes) -> None:
        new, problems = policy_of(_labels(attributes.obj), self._defaults)
        before = Policy()
        known: list[Cause] = []
        if attributes.old is not None:
            before, known = policy_of(_labels(attributes.old), self._defaults)
        if problems and problems != known:
            raise status.invalid(attributes.resource, attributes.name, problems)
        if attributes.name in self._exempt.namespaces:
            self._say_exempt(attributes, new)
        elif attributes.old is not None and _is_stricter(new.enforce, before.enforce):
            attributes.request.warnings.extend(self._violations(attributes.name, new.enforce))

    def _say_exempt(self, attributes: Attributes, policy: Policy) -> None:
        labels = _labels(attributes.obj)
        asked = [
            f"{mode}={found}"
            for mode in ("enforce", "audit", "warn")
            if (found := getattr(policy, mode)).rank
            and (PREFIX + mode in labels or f"{PREFIX}{mode}-version" in labels)
        ]
        if asked:
            attributes.request.warnings.append(
                f'namespace "{attributes.name}" is exempt from Pod Security, and the policy '
                f"({', '.join(asked)}) will be ignored"
            )

    def _violations(self, namespace: str, asked: LevelVersion) -> list[str]:
        """The warnings about pods that are there already."""
        found = [item.object() for item in self._pods.select(namespace)]
        rows = _prioritized(found, self._exempt.runtime_classes)
        names: dict[str, list[str]] = {}
        for pod in rows[:CHECKED_AT_ONCE]:
            result = self._evaluate(asked, pod)
            if not result.allowed:
                names.setdefault(result.reason, []).append(pod["metadata"]["name"])
        warnings = []
        if len(rows) > CHECKED_AT_ONCE:
            warnings.append(
                "new PodSecurity enforce level only checked against the first "
                f"{CHECKED_AT_ONCE} of {len(rows)} existing pods"
            )
        if names:
            warnings.append(
                f'existing pods in namespace "{namespace}" violate the new PodSecurity enforce '
                f'level "{asked}"'
            )
        return warnings + sorted(f"{_some(pods)}: {reason}" for reason, pods in names.items())


def _labels(namespace: Object) -> Mapping[str, str]:
    return namespace["metadata"].get("labels") or {}


def _is_stricter(new: LevelVersion, before: LevelVersion) -> bool:
    """Whether pods that were allowed may not be so any longer."""
    if new == before or not new.rank:
        return False
    return new.minor != before.minor or new.rank > before.rank


def _matters(new: Object, old: Object) -> bool:
    """Whether a change of a pod is one of those that a policy looks at: containers and images."""
    for field in ("containers", "initContainers"):
        rows, before = new.get(field) or (), old.get(field) or ()
        if len(rows) != len(before):
            return True
        if any(row.get("image") != was.get("image") for row, was in zip(rows, before, strict=True)):
            return True
    images = {row["name"]: row.get("image") for row in old.get("ephemeralContainers") or ()}
    return any(
        row["name"] not in images or images[row["name"]] != row.get("image")
        for row in new.get("ephemeralContainers") or ()
    )


def _prioritized(rows: Iterable[Object], exempt: frozenset[str]) -> list[Object]:
    """One pod of each controller first, the others after them."""
    first, rest, seen = [], [], set()
    for pod in rows:
        if pod["spec"].get("runtimeClassName") in exempt:
            continue
        owner = pods.controller_of(pod)
        if owner is not None and owner["uid"] in seen:
            rest.append(pod)
            continue
        first.append(pod)
        if owner is not None:
            seen.add(owner["uid"])
    return first + rest


def _some(names: list[str]) -> str:
    others = len(names) - 1
    if not others:
        return names[0]
    return f"{min(names)} (and {others} other pod{'s' if others > 1 else ''})"
