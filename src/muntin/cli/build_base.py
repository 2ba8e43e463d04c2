"""``muntin build-base``."""

from __future__ import annotations

import click

_HELP = """Make the Windows base image now; `up` does it when it is missing.

\b
Example:
  muntin build-base
"""


@click.command("build-base", help=_HELP, short_help="Make the Windows base image.")
def command() -> None:
    """Show the build and print where the image is."""
    from muntin.cli.progress import ScreenProgress
    from muntin.cluster import images, preflight
    from muntin.cluster.progress import step

    preflight.check_root()
    preflight.check_packages(preflight.WINDOWS_NODES)
    progress = ScreenProgress()
    try:
        with step(progress, "Windows base image"):
            path = images.prepare_windows(progress).path
    finally:
        progress.clear()
    click.echo(path)
