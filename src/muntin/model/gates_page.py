"""The page docs/reference/windows-gates.md as a function of the gates table."""

from __future__ import annotations

from muntin.model.gates import Otherwise
from muntin.model.windows import GATES, MAX_BACKENDS, MAX_BACKENDS_NEWER
from muntin.model.windows.support import (
    LIFECYCLES,
    NETWORK_PLUGINS,
    RUNTIMES,
    Program,
    builds_of,
    lifecycle,
)
from muntin.model.windows_releases import API_VERSIONS, BUILDS

_EFFECTS = {
    Otherwise.REJECT: "refused with an error",
    Otherwise.IGNORE: "accepted, without effect",
    Otherwise.DEGRADE: "does not work",
    Otherwise.DIFFER: "works in another way",
}

_HEAD = """# What works on which Windows node

This page is made from the table in `src/muntin/model/windows/` by `make gen`; change it there.
None of the rows was compared with a real Windows machine: the evidence says where a fact is from.
"""


def markdown() -> str:
    """The whole page."""
    return "\n".join([_HEAD, *_features(), "", *_builds(), "", *_versions(), "", *_programs(), ""])


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
        "| build | names | product name | image tags | HNS (approximate) | channel "
        "| mainstream support until | last support | listed by |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in BUILDS:
        life = lifecycle(row.build)
        assert life is not None
        listed = life.kubernetes.text("Kubernetes") if life.kubernetes else "none"
        rows.append(
            f"| {row.full_version} | {', '.join(row.names)} | {row.product_name} "
            f"| {', '.join(row.tags)} | {row.hns[0]}.{row.hns[1]} | {life.channel} "
            f"| {life.mainstream} | {life.extended} | {listed} |"
        )
    return rows


def _versions() -> list[str]:
    versions = ", ".join(".".join(map(str, version)) for version in API_VERSIONS)
    oldest = min(row.kubernetes.low for row in LIFECYCLES if row.kubernetes and row.kubernetes.low)
    rows = [
        "## Kubernetes versions",
        "",
        f"The API server knows the schemas of {versions}.",
        "",
        "| Kubernetes | Windows builds that it lists for nodes |",
        "|---|---|",
    ]
    for minor in range(oldest[1], API_VERSIONS[-1][1] + 1):
        version = (oldest[0], minor)
        rows.append(f"| {oldest[0]}.{minor} | {', '.join(map(str, builds_of(version)))} |")
    return rows


def _programs() -> list[str]:
    rows = ["## Runtimes and network plugins"]
    for title, programs in (("runtime", RUNTIMES), ("network plugin", NETWORK_PLUGINS)):
        rows += [
            "",
            f"| {title} | since | with | on | HNS network | needs | source |",
            "|---|---|---|---|---|---|---|",
            *map(_program, programs),
        ]
    return rows


def _program(row: Program) -> str:
    return (
        f"| {row.name} | {'.'.join(map(str, row.oldest)) or '-'} "
        f"| {row.kubernetes.text('Kubernetes')} | {row.builds.text('build')} "
        f"| {row.network or '-'} | {row.needs or '-'} | {row.source} |"
    )
