"""``muntin version``."""

from __future__ import annotations

import click


@click.command(
    "version",
    help="Print the versions of Muntin and of the Kubernetes API it serves by default.",
    short_help="Print versions.",
)
def command() -> None:
    """One line each."""
    from importlib.metadata import version

    from muntin.model.windows_releases import DEFAULT_KUBERNETES, git_version

    click.echo(f"muntin {version('muntin')}")
    click.echo(f"kubernetes {git_version(DEFAULT_KUBERNETES)} by default")
