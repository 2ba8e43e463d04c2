"""``muntin explain``."""

from __future__ import annotations

import click

_HELP = """Say what a rule is about: a row of the gates table, as `muntin lint` names it.

\b
Examples:
  muntin explain empty-dir-memory
"""


@click.command("explain", help=_HELP, short_help="Say what a rule of the linter is about.")
@click.argument("rule")
def command(rule: str) -> None:
    """The row in words."""
    from muntin.kit.errors import NotFound
    from muntin.lint.explain import explain

    text = explain(rule)
    if text is None:
        raise NotFound(f"no rule {rule!r}\ndocs/reference/windows-gates.md lists them all")
    click.echo(text)
