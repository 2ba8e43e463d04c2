"""Whether rules cover other rules: nobody may grant what they do not have.

Source: kubernetes v1.34 component-helpers auth/rbac/validation/policy_comparator.go,
pkg/registry/rbac/validation/{rule,policy_compact}.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from muntin.apiserver.authz.rbac import path_matches

Rule = Mapping[str, Any]

EVERYTHING: tuple[Rule, ...] = (
    {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]},
    {"verbs": ["*"], "nonResourceURLs": ["*"]},
)
_SHOWN = (
    ("APIGroups", "apiGroups"),
    ("Resources", "resources"),
    ("NonResourceURLs", "nonResourceURLs"),
    ("ResourceNames", "resourceNames"),
    ("Verbs", "verbs"),
)


def uncovered(owned: Sequence[Rule], wanted: Iterable[Rule]) -> list[Rule]:
    """The parts of ``wanted`` that ``owned`` does not give: what may not be granted to others.

    Each part is a rule of one verb and one resource, name or path.
    """
    return [
        part
        for rule in wanted
        for part in _parts(rule)
        if not any(_covers(owner, part) for owner in owned)
    ]


def _parts(rule: Rule) -> Iterator[Rule]:
    verbs = rule.get("verbs") or ()
    for group in rule.get("apiGroups") or ():
        for resource in rule.get("resources") or ():
            for verb in verbs:
                part = {"verbs": [verb], "apiGroups": [group], "resources": [resource]}
                for name in rule.get("resourceNames") or ("",):
                    yield {**part, "resourceNames": [name]} if name else part
    for path in rule.get("nonResourceURLs") or ():
        for verb in verbs:
            yield {"verbs": [verb], "nonResourceURLs": [path]}


def _covers(owner: Rule, part: Rule) -> bool:
    def has(field: str, everything: str = "*") -> bool:
        values = owner.get(field) or ()
        return everything in values or part[field][0] in values

    if not has("verbs"):
        return False
    if paths := part.get("nonResourceURLs"):
        return any(path_matches(path, paths[0]) for path in owner.get("nonResourceURLs") or ())
    if not has("apiGroups"):
        return False
    _, _, subresource = part["resources"][0].partition("/")
    if not has("resources") and not (
        subresource and f"*/{subresource}" in (owner.get("resources") or ())
    ):
        return False
    names = owner.get("resourceNames") or ()
    return not names or (bool(part.get("resourceNames")) and part["resourceNames"][0] in names)


def described(missing: Iterable[Rule]) -> str:
    """The rules as upstream lists them: one line for each resource, its verbs together, sorted."""
    merged: dict[tuple[Any, ...], dict[str, list[str]]] = {}
    for rule in missing:
        fields = {key: list(rule[key]) for _, key in _SHOWN if rule.get(key)}
        simple = "nonResourceURLs" not in fields
        verb = () if simple else tuple(fields["verbs"])
        key = (*(tuple(fields.get(name, ())) for _, name in _SHOWN[:4]), verb)
        known = merged.setdefault(key, fields)
        if known is not fields:
            known["verbs"] += [name for name in fields["verbs"] if name not in known["verbs"]]
    return "\n".join(sorted({_line(rule) for rule in merged.values()}))


def _line(rule: Mapping[str, Sequence[str]]) -> str:
    parts = (f"{shown}:{quoted(rule[key])}" for shown, key in _SHOWN if rule.get(key))
    return "{" + ", ".join(parts) + "}"


def quoted(values: Sequence[str]) -> str:
    """Texts as Go prints a list of them with %q."""
    return "[" + " ".join(f'"{value}"' for value in values) + "]"
