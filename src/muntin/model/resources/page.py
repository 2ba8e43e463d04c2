"""The page docs/reference/api-versions.md as a function of the table of resources."""

from __future__ import annotations

from collections.abc import Iterable

from muntin.model import schema
from muntin.model.resources.lifecycle import life_of
from muntin.model.resources.serving import served
from muntin.model.resources.table import RESOURCES

_HEAD = """# Versions of the API

This page is made from the table in `src/muntin/model/resources/` by `make gen`; change it there.

`kubernetesVersion` of a cluster chooses what it serves: each group version where upstream serves it
by default. `apiServer.runtimeConfig` of the [Cluster file](cluster-file.md) turns `group/version`,
`group/version/resource`, `api/all`, `api/ga` or `api/beta` on and off, as `--runtime-config` does.
Beyond upstream, a version that was removed can be turned on again: its objects are converted to the
newest form and back, and every request is answered with upstream's deprecation warning. `muntin up`
does so by itself for `extensions/v1beta1`, `apps/v1beta1` and `apps/v1beta2`, which old documents
and manifests use; `false` turns them off. Without that, exactly the table below is served.
"""


def markdown() -> str:
    """The whole page."""
    return "\n".join([_HEAD, *_served(), "", *_gone(), ""])


def _served() -> list[str]:
    versions = schema.versions()
    found: dict[tuple[str, str], list[str]] = {}
    for version in versions:
        for row in served(schema.load(version)):
            found.setdefault((row.api_version, row.plural), []).append(version)
    lines: dict[tuple[str, str], list[str]] = {}
    for (api_version, plural), where in found.items():
        lines.setdefault((api_version, _ranges(where, versions)), []).append(plural)
    order = {row.api_version: at for at, row in enumerate(reversed(RESOURCES))}
    rows = sorted(lines.items(), key=lambda line: -order[line[0][0]])
    return [
        "## What is served",
        "",
        "| group version | resources | in versions |",
        "|---|---|---|",
        *(
            f"| `{api_version}` | {', '.join(sorted(plurals))} | {where} |"
            for (api_version, where), plurals in rows
        ),
    ]


def _ranges(where: list[str], versions: Iterable[str]) -> str:
    """``1.20, 1.25 to 1.28``; ``all``."""
    known = list(versions)
    if where == known:
        return "all"
    runs: list[list[str]] = []
    for version in where:
        at = known.index(version)
        if runs and known.index(runs[-1][-1]) == at - 1:
            runs[-1].append(version)
        else:
            runs.append([version])
    return ", ".join(run[0] if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs)


def _gone() -> list[str]:
    rows = []
    for row in RESOURCES:
        life = life_of(row.api_version, row.kind)
        if life.deprecated:
            removed = _text(life.removed) if life.removed else "–"
            instead = f"`{life.instead}`" if life.instead else "–"
            since = _text(life.deprecated)
            rows.append(f"| `{row.api_version}` {row.kind} | {since} | {removed} | {instead} |")
    return [
        "## What is deprecated",
        "",
        "| version of a kind | since | not served by default since | use instead |",
        "|---|---|---|---|",
        *rows,
    ]


def _text(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))
