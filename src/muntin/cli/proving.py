"""``muntin lint --prove``: the objects run on nodes of each profile, and what happened is told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from muntin.cluster.proof import Observation
    from muntin.lint.documents import Document
    from muntin.lint.evidence import Seen
    from muntin.lint.findings import Finding


def prove(
    documents: Sequence[Document], found: Sequence[Finding], profiles: Sequence[str], wait_s: float
) -> bool:
    """Whether all came up well, on each of the profiles; the report goes to stdout."""
    from muntin.cli.progress import ScreenProgress
    from muntin.cluster.overrides import Overrides, apply
    from muntin.cluster.proving import prove as run
    from muntin.cluster.settings import Draft, resolve
    from muntin.lint.views import objects

    given = [item.data for document in documents for item in objects(document)]
    well = True
    for name in profiles:
        one_of_each = Overrides(profile=name, linux_nodes="1", windows_nodes="1")
        progress = ScreenProgress()
        try:
            observed = run(resolve(apply(Draft(), one_of_each)), given, progress, wait_s=wait_s)
        finally:
            progress.clear()
        told = [one for one in found if name in one.profiles]
        click.echo(report(name, told, observed))
        well = well and not _failed(observed)
    return well


def report(profile: str, found: Sequence[Finding], observed: Sequence[Observation]) -> str:
    """What was foreseen and seen, foreseen and not seen, and seen without being foreseen.

    ``silent`` are rows of which the platform says nothing: it ignores a field, or works otherwise.
    """
    from muntin.cluster.proof import Stage
    from muntin.lint.evidence import showing

    told = [one for one in observed if one.stage is not Stage.WARNED]
    seen = [_seen(one) for one in told]
    shown = [(one, showing(one, seen)) for one in found]
    lines = [f"On {profile}:"]
    for finding, by in shown:
        place = f"{finding.file}:{finding.line}"
        state = "seen    " if by else "not seen" if finding.message else "silent  "
        lines.append(f"  {state}  {finding.rule}  {place}")
        if by:
            lines.append(f"            {by.about}: {' '.join(by.text.split())}")
    explained = {by for _, by in shown if by}
    rest = [one for one, as_seen in zip(told, seen, strict=True) if as_seen not in explained]
    lines += [f"  {one.subject}: {_words(one)}" for one in dict.fromkeys(rest)]
    return "\n".join(lines)


def _seen(one: Observation) -> Seen:
    from muntin.lint.evidence import Seen

    return Seen(one.subject, f"{one.reason}: {one.text}")


def _words(one: Observation) -> str:
    where = f"container {one.container} " if one.container else ""
    code = f" with exit code {one.exit_code}" if one.exit_code is not None else ""
    why = ": ".join(part for part in (one.reason, " ".join(one.text.split())) if part)
    return f"{where}{one.stage}{code}" + (f": {why}" if why else "")


def _failed(observed: Sequence[Observation]) -> bool:
    """Whether anything was refused, or did not come up, or ended badly."""
    from muntin.cluster.proof import Stage

    bad = {
        Stage.REFUSED, Stage.UNSCHEDULABLE, Stage.REJECTED, Stage.WAITING, Stage.NOT_READY,
        Stage.UNKNOWN,
    }  # fmt: skip
    return any(one.stage in bad or one.exit_code not in (None, 0) for one in observed)
