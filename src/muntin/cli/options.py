"""Options that several commands take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])
DEFAULT_NAME = "muntin"


def name(help_text: str = "Name of the cluster.") -> Callable[[F], F]:
    """``--name``, or $MUNTIN_CLUSTER."""
    return click.option(
        "--name",
        "-n",
        envvar="MUNTIN_CLUSTER",
        default=DEFAULT_NAME,
        show_default=True,
        callback=_checked,
        help=help_text,
    )


def _checked(context: click.Context, option: click.Parameter, value: str) -> str:
    """A name is part of paths that are removed: only one that ``up`` takes goes further."""
    from muntin.cluster.settings import check_name

    check_name(value)
    return value
