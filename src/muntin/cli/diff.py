"""``muntin diff``: the rehearsal of an upgrade."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from muntin.model.gates import Otherwise, State

if TYPE_CHECKING:
    from muntin.model.profile_changes import Changed

_HELP = """Say what changes for Windows nodes between two profiles, row by row of the gates.

A profile is a world (v1.20) or KUBERNETES/WINDOWS[/RUNTIME[/PLUGIN]] such as 1.34/2022.

\b
Examples:
  muntin diff --from v1.20 --to v1.34
  muntin diff --from 1.34/2019 --to 1.34/2022 -o json
  muntin diff --from v1.20 --to v1.34 -f manifests/     only what touches these
  helm template shop ./chart | muntin diff --from v1.20 --to v1.34 -f -
"""
_EFFECTS = {
    Otherwise.REJECT: "what asks for it is refused",
    Otherwise.IGNORE: "what asks for it has no effect",
    Otherwise.DEGRADE: "what asks for it does not work",
    Otherwise.DIFFER: "it is done in another way",
}


@click.command("diff", help=_HELP, short_help="Say what changes between two profiles.")
@click.option("--from", "before", metavar="PROFILE", required=True, help="What there is.")
@click.option("--to", "after", metavar="PROFILE", required=True, help="What there will be.")
@click.option("--filename", "-f", "files", multiple=True, metavar="PATH", help="Manifests, or -.")
@click.option("--output", "-o", type=click.Choice(["human", "json", "yaml"]), default="human")
def command(before: str, after: str, files: tuple[str, ...], output: str) -> None:
    """The rows that say something else of the second profile."""
    from muntin.cli.output import show
    from muntin.model.profile_changes import changes
    from muntin.model.profiles import profile_named

    profiles = profile_named(before), profile_named(after)
    if files:
        _of_manifests(before, after, files, output)
        return
    found = changes(*profiles)
    if output != "human":
        show({"from": before, "to": after, "changes": [_document(item) for item in found]}, output)
        return
    click.echo(human(before, after, found))


def _of_manifests(before: str, after: str, files: tuple[str, ...], output: str) -> None:
    from muntin.cli import diff_manifests
    from muntin.cli.output import show
    from muntin.lint.profiles import named

    texts = diff_manifests.texts(files)
    result = diff_manifests.touched(named(before), named(after), texts)
    if output != "human":
        show({"from": before, "to": after, **diff_manifests.document(result)}, output)
        return
    click.echo(diff_manifests.human(before, after, result))


def human(before: str, after: str, found: list[Changed]) -> str:
    """All changes, grouped by what became of the row."""
    if not found:
        return f"Nothing that the gates know changes from {before} to {after}."
    lines = [f"From {before} to {after}:"]
    groups: dict[str, list[Changed]] = {}
    for item in found:
        groups.setdefault(str(item.change), []).append(item)
    for title, items in groups.items():
        lines += ["", f"{title} ({len(items)})"]
        for item in items:
            lines += _lines(item)
    return "\n".join(lines)


def _lines(item: Changed) -> list[str]:
    row = item.row
    lines = [f"  {item.feature}: {row.summary}"]
    if item.after is State.SHUT:
        lines.append(f"      not there: {_EFFECTS[row.otherwise]} (works on: {row.where()})")
        if row.advice:
            lines.append(f"      {row.advice}")
    return lines


def _document(item: Changed) -> dict[str, Any]:
    row = item.row
    return {
        "feature": str(item.feature),
        "change": str(item.change),
        "before": str(item.before),
        "after": str(item.after),
        "summary": row.summary,
        "kind": str(row.kind),
        "severity": str(row.calls_it()),
        "appliesTo": list(row.applies_to),
        "advice": row.advice,
        "source": row.source,
    }
