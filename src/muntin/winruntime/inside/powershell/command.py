"""The command line of powershell.exe."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from .errors import ExitSignal, LoopExit, ParseError, PSError, ReturnSignal, StopUpstream
from .evaluator import Evaluator
from .formatting import Console
from .host import STATUS_CONTROL_C_EXIT, Host, use
from .parser import parse
from .reporting import Source, parse_error_text
from .variables import VERSION

BANNER = (
    f"Muntin PowerShell language subset {VERSION}\r\n"
    "Not Windows PowerShell and not a Microsoft product.\r\n\r\n"
)
# name, whether a value follows
PARAMETERS = {
    "command": True,
    "file": True,
    "encodedcommand": True,
    "executionpolicy": True,
    "inputformat": True,
    "outputformat": True,
    "windowstyle": True,
    "workingdirectory": True,
    "configurationname": True,
    "psconsolefile": True,
    "version": True,
    "noprofile": False,
    "noninteractive": False,
    "nologo": False,
    "noexit": False,
    "sta": False,
    "mta": False,
    "help": False,
}
SHORT = {"c": "command", "f": "file", "e": "encodedcommand", "ec": "encodedcommand",
         "enc": "encodedcommand", "ep": "executionpolicy", "ex": "executionpolicy",
         "nop": "noprofile", "noni": "noninteractive", "?": "help", "h": "help",
         "wd": "workingdirectory", "v": "version", "w": "windowstyle"}  # fmt: skip
USAGE = (
    "powershell.exe [-Command {- | <text> | <script block>}] [-File <path> [<args>]]\r\n"
    "    [-EncodedCommand <base64>] [-ExecutionPolicy <policy>] [-WorkingDirectory <path>]\r\n"
    "    [-NoProfile] [-NonInteractive] [-NoLogo] [-NoExit] [-Version] [-Help]\r\n"
)


class Invocation(NamedTuple):
    """What the command line asks for."""

    kind: str
    text: str
    args: list[str]
    folder: str
    logo: bool


class UsageError(Exception):
    """The command line cannot be understood."""


def read_arguments(argv: list[str]) -> Invocation:
    """Arguments as PowerShell reads them: names without case, cut short, ``-`` or ``/``.

    Raises:
        UsageError: a parameter is unknown or lacks its value.
    """
    folder, logo = "", True
    index = 0
    while index < len(argv):
        arg = argv[index]
        if not arg or arg[0] not in "-/–" or arg == "-":
            return Invocation(
                "stdin" if arg == "-" else "command", _joined(argv[index:]), [], folder, logo
            )
        name = _full_name(arg[1:].lstrip("-"))
        index += 1
        if not PARAMETERS[name]:
            if name == "help":
                return Invocation("help", "", [], folder, logo)
            logo = logo and name != "nologo"
            continue
        if name == "version" and (index >= len(argv) or argv[index].startswith("-")):
            return Invocation("version", "", [], folder, logo)
        if index >= len(argv):
            raise UsageError(f"Cannot process the command because of a missing parameter. -{name}")
        value = argv[index]
        index += 1
        if name == "command":
            if value == "-":
                return Invocation("stdin", "", [], folder, logo)
            return Invocation("command", _joined(argv[index - 1 :]), [], folder, logo)
        if name == "file":
            return Invocation("file", value, argv[index:], folder, logo)
        if name == "encodedcommand":
            return Invocation("command", _decoded(value), argv[index:], folder, logo)
        if name == "workingdirectory":
            folder = value
    return Invocation("stdin", "", [], folder, logo)


def _full_name(name: str) -> str:
    lower = name.lower().rstrip(":")
    if lower in SHORT:
        return SHORT[lower]
    found = [one for one in PARAMETERS if one.startswith(lower)] if lower else []
    if len(found) == 1 or lower in found:
        return lower if lower in found else found[0]
    raise UsageError(
        f"-{name} : The term '-{name}' is not recognized as the name of a parameter of "
        "powershell.exe."
    )


def _joined(parts: list[str]) -> str:
    return " ".join(parts)


def _decoded(text: str) -> str:
    import base64
    import binascii

    try:
        return base64.b64decode(text, validate=True).decode("utf-16-le")
    except (binascii.Error, UnicodeDecodeError) as err:
        raise UsageError(
            "Cannot process the command because the value specified with -EncodedCommand is not "
            "properly encoded. The value must be Base64 encoded."
        ) from err


class Session:
    """One evaluator with its console, and how it ends."""

    def __init__(self, host: Host) -> None:
        """For ``host``, which becomes the current one."""
        use(host)
        self.host = host
        self.console = Console(host.write)
        self.evaluator = Evaluator(host, self.console.show)

    def run_text(self, text: str) -> int:
        """``-Command``: 0 if the last statement succeeded, 1 if not, or what ``exit`` says."""
        return self._run(text, "", [], by_status=True)

    def run_file(self, path: str, args: list[str]) -> int:
        """``-File``: 0 unless an error ends the script, or what ``exit`` says."""
        full = self.host.absolute(path)
        unix = self.host.unix_path(full)
        if not path.lower().endswith(".ps1"):
            self.host.write_error(
                f"Processing -File '{path}' failed because the file does not have a '.ps1' "
                "extension. Specify a valid Windows PowerShell script file name, and then try "
                "again.\r\n"
            )
            return -196608
        if not os.path.isfile(unix):
            self.host.write_error(
                f"The argument '{path}' to the -File parameter does not exist. Provide the path to "
                "an existing '.ps1' file as an argument to the -File parameter.\r\n"
            )
            return -196608
        with open(unix, encoding="utf-8-sig", errors="replace", newline="") as file:
            return self._run(file.read(), full, args, by_status=False)

    def _run(self, text: str, file: str, args: list[str], *, by_status: bool) -> int:
        source = Source(text, file)
        self.evaluator.source = source
        try:
            node = parse(text)
        except ParseError as err:
            self.console.flush()
            self.host.write_error(parse_error_text(err, source))
            return 1
        except RecursionError:
            self.host.write_error("The script is nested too deeply.\r\n")
            return 1
        try:
            self._execute(node, source, args)
        except ExitSignal as leave:
            return leave.code
        except PSError as error:
            self.console.flush()
            self.evaluator.reporter.locate(error, node)
            self.evaluator.reporter.show(self.evaluator.reporter.remember(error))
            return 1
        finally:
            self.console.flush()
        return 0 if self.evaluator.ok or not by_status else 1

    def run_block(self, text: str, args: list[Any], sink: Callable[[Any], None]) -> None:
        """Run a text with arguments that are values; what it writes goes to ``sink``.

        Raises:
            ParseError: it is no script.
            PSError: an error ended it.
            ExitSignal: it called ``exit``.
        """
        from .binding import Arg

        source = Source(text, "")
        self.evaluator.source = source
        node = parse(text)
        self._stage(node, source, [Arg(None, one, True, "") for one in args], sink)

    def _execute(self, node: Any, source: Source, args: list[str]) -> None:
        self._stage(node, source, [_argument(one) for one in args], self.evaluator.show)

    def _stage(
        self, node: Any, source: Source, arguments: list[Any], sink: Callable[[Any], None]
    ) -> None:
        from . import values as v
        from .functions import FunctionStage
        from .stages import NO_INPUT

        evaluator = self.evaluator
        block = v.ScriptBlock(node, evaluator.pipelines.invoke_block, evaluator.scope)
        block.source = source  # type: ignore[attr-defined]  # read when the block runs
        stage = FunctionStage(
            evaluator, node, source.file.rsplit("\\", 1)[-1], block, arguments,
            sink, False, dotted=True,
        )  # fmt: skip
        try:
            stage.begin()
            stage.process(NO_INPUT)
            stage.end()
        except (LoopExit, ReturnSignal, StopUpstream):
            return


def _argument(text: str) -> Any:
    """An argument of a script file: ``-Name`` names a parameter."""
    from .binding import Arg
    from .lexer import PARAMETER

    match = PARAMETER.fullmatch(text)
    if match is not None:
        return Arg(match.group(1), None, False, text)
    return Arg(None, text, True, text)


def main(argv: list[str]) -> int:
    """Run powershell.exe; the Unix exit status."""
    sys.setrecursionlimit(20000)
    host = Host(os.environ)
    _signals(host)
    try:
        return host.exit_status(_run(argv, host))
    except KeyboardInterrupt:
        return host.exit_status(STATUS_CONTROL_C_EXIT)


def _run(argv: list[str], host: Host) -> int:
    try:
        wanted = read_arguments(argv)
    except UsageError as err:
        host.write_error(f"{err}\r\n")
        return -196608
    if wanted.kind == "help":
        host.write(BANNER + USAGE)
        return 0
    if wanted.kind == "version":
        host.write(BANNER)
        return 0
    if wanted.folder:
        host.set_location(host.absolute(wanted.folder))
    session = Session(host)
    if wanted.kind == "file":
        return session.run_file(wanted.text, wanted.args)
    if wanted.kind == "stdin":
        if wanted.logo and sys.stdin.isatty():
            from .interactive import converse

            host.write(BANNER)
            return converse(session)
        return session.run_text(host.read_all())
    return session.run_text(wanted.text)


def _signals(host: Host) -> None:
    """CTRL_SHUTDOWN ends the process at once, as first process of a container too."""

    def ended(_number: int, _frame: Any) -> None:
        os._exit(host.exit_status(STATUS_CONTROL_C_EXIT))

    signal.signal(signal.SIGTERM, ended)
    signal.signal(signal.SIGHUP, ended)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.default_int_handler)
