"""Documents on stdout, for programs."""

from __future__ import annotations

from typing import Any

import click


def show(document: Any, form: str) -> None:
    """``document`` as ``json`` or ``yaml``."""
    if form == "json":
        import json

        click.echo(json.dumps(document, indent=2))
        return
    import yaml

    click.echo(yaml.safe_dump(document, sort_keys=False, width=100), nl=False)
