"""How errors leave the program: at most two lines on stderr, the second says what to do next."""

from __future__ import annotations

import os
import sys
import traceback
from typing import NoReturn

import click

from muntin.cli.exit_codes import INTERRUPTED, UNEXPECTED, exit_code
from muntin.kit.errors import MuntinError


def run(command: click.Command) -> NoReturn:
    """Run ``command`` with the process's arguments and exit."""
    try:
        code = command.main(standalone_mode=False)
    except click.exceptions.Abort:
        fail("interrupted", INTERRUPTED)
    except KeyboardInterrupt:
        fail("interrupted", INTERRUPTED)
    except click.ClickException as err:
        where = err.ctx.command_path if isinstance(err, click.UsageError) and err.ctx else "muntin"
        fail(f"{err.format_message()}\n{where} --help shows what it takes", err.exit_code)
    except MuntinError as err:
        fail(err.message, exit_code(err))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.exit(0)
    except Exception as err:  # the last place it can be told of
        if os.environ.get("MUNTIN_TRACEBACK"):
            traceback.print_exc()
        hint = "set MUNTIN_TRACEBACK=1 to see where it happened"
        fail(f"{type(err).__name__}: {err}\n{hint}", UNEXPECTED)
    sys.exit(code if isinstance(code, int) else 0)


def fail(message: str, code: int) -> NoReturn:
    """Print the first two lines of ``message`` and exit with ``code``."""
    problem, _, step = message.partition("\n")
    print(f"muntin: {problem}", file=sys.stderr)
    if step:
        print(f"        {step.splitlines()[0]}", file=sys.stderr)
    sys.exit(code)
