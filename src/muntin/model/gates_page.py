"""The page docs/reference/windows-gates.md as a function of the gates table."""

from __future__ import annotations

from muntin.model.gates import Otherwise
from muntin.model.windows import GATES, MAX_BACKENDS, MAX_BACKENDS_NEWER
from muntin.model.windows_releases import API_VERSIONS, BUILDS

_EFFECTS = {
    Otherwise.REJECT: "refused with an error",
    Otherwise.IGNORE: "accepted, without effect",
    Otherwise.DEGRADE: "does not work",
    Otherwise.DIFFER: "works in another way",
}

_HEAD = """# What works on which Windows node

This page is made from the table in `src/muntin/model/windows.py` by `make gen`; change it there.
None of the rows was compared with a real Windows machine: the evidence says where a fact is from.
"""


def markdown() -> str:
    """The whole page."""
    return "\n".join([_HEAD, *_features(), "", *_builds(), "", *_versions(), ""])


def _features() -> list[str]:
    rows = [
        "## Features",
        "",
        "| feature | what it means | works on | elsewhere | touches | evidence | source |",
        "|---|---|---|---|---|---|---|",
    ]
    for feature, gate in GATES.items():
        touches = ", ".join(f"`{path}`" for path in gate.applies_to)
        rows.append(
            f"| `{feature}` | {gate.summary} | {gate.where()} | {_EFFECTS[gate.otherwise]} "
            f"| {touches} | {gate.evidence} | {gate.source} |"
        )
    rows += [
        "",
        f"One load balancer takes {MAX_BACKENDS} endpoints, or {MAX_BACKENDS_NEWER} where "
        "`more-than-64-backends` works.",
    ]
    return rows


def _builds() -> list[str]:
    rows = [
        "## Windows releases",
        "",
        "| build | names | product name | image tags | HNS (approximate) |",
        "|---|---|---|---|---|",
    ]
    for row in BUILDS:
        rows.append(
            f"| {row.full_version} | {', '.join(row.names)} | {row.product_name} "
            f"| {', '.join(row.tags)} | {row.hns[0]}.{row.hns[1]} |"
        )
    return rows


def _versions() -> list[str]:
    versions = ", ".join(".".join(map(str, version)) for version in API_VERSIONS)
    return ["## Kubernetes versions", "", f"The API server knows the schemas of {versions}."]
