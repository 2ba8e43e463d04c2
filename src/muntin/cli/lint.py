"""``muntin lint``."""

from __future__ import annotations

import click

_HELP = """Say what in manifests will not work on which Windows nodes.

PATH is a file, a directory (its .yaml, .yml and .json files) or - for what comes on stdin, such as
the output of `helm template` or `kubectl kustomize`.

\b
Examples:
  muntin lint deployment.yaml
  helm template shop ./chart | muntin lint -
  muntin lint --profile v1.20 --profile 1.34/2022 manifests/

Exit codes: 0 nothing found, 1 findings at or above --fail-on, 2 something could not be linted.
"""


@click.command("lint", help=_HELP, short_help="Say what will not work on Windows nodes.")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@click.option(
    "--profile", "profiles", metavar="NAME", multiple=True,
    help="Nodes to lint for: v1.20, or KUBERNETES/WINDOWS[/RUNTIME[/PLUGIN]] such as 1.34/2022. "
    "Can be given several times.",
)  # fmt: skip
def command(paths: tuple[str, ...], profiles: tuple[str, ...]) -> int:
    """Findings on stdout."""
    import sys
    from pathlib import Path

    from muntin.lint.outputs import human
    from muntin.lint.profiles import named
    from muntin.lint.run import lint_text

    wanted = [named(name) for name in profiles]
    found = []
    for path in paths:
        text = sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8")
        found += lint_text(text, profiles=wanted, file="<stdin>" if path == "-" else path)
    if found:
        click.echo(human.write(found))
    return 1 if found else 0
