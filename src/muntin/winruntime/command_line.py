"""What a container runs: the words of pod and image, and the one string that Windows wants. Pure.

Source: containerd v1.7 pkg/cri/server/container_create_windows.go (ArgsEscaped); Microsoft's
"Parsing C++ command-line arguments".
"""

from __future__ import annotations

from collections.abc import Sequence
from subprocess import list2cmdline

from muntin.kit.errors import Invalid
from muntin.seams.oci.manifest import ImageConfig


def command(
    image: ImageConfig, pod_command: Sequence[str], pod_args: Sequence[str]
) -> tuple[list[str], bool]:
    """The words to run, and whether the first one is the image's and is to be used as it stands.

    Raises:
        Invalid: neither pod nor image says what to run.
    """
    entrypoint = list(pod_command) or list(image.entrypoint)
    arguments = list(pod_args)
    if not pod_command and not pod_args:
        arguments = list(image.cmd)
    words = entrypoint + arguments
    if not words or not words[0]:
        raise Invalid("no command specified")
    from_image = not pod_command and (bool(image.entrypoint) or not pod_args)
    return words, image.args_escaped and from_image


def command_line(words: Sequence[str], *, first_as_is: bool = False) -> str:
    """``words`` as one Windows command line that splits into them again."""
    if not first_as_is:
        return list2cmdline(words)
    rest = list2cmdline(words[1:])
    return f"{words[0]} {rest}" if rest else words[0]


def split(line: str) -> list[str]:
    """The words of a command line, as CommandLineToArgvW splits them."""
    words: list[str] = []
    at, end = 0, len(line)
    while at < end:
        while at < end and line[at] in " \t":
            at += 1
        if at == end:
            break
        word, at = _word(line, at, first=not words)
        words.append(word)
    return words


def _word(line: str, at: int, *, first: bool) -> tuple[str, int]:
    """One word from ``at``; the first word knows no backslash rules."""
    out: list[str] = []
    quoted = False
    while at < len(line):
        char = line[at]
        if char == "\\" and not first:
            slashes = len(line[at:]) - len(line[at:].lstrip("\\"))
            at += slashes
            if at < len(line) and line[at] == '"':
                out.append("\\" * (slashes // 2))
                if slashes % 2:
                    out.append('"')
                    at += 1
            else:
                out.append("\\" * slashes)
            continue
        if char == '"':
            if quoted and not first and line[at + 1 : at + 2] == '"':
                out.append('"')
                at += 1
            quoted = not quoted
        elif char in " \t" and not quoted:
            break
        else:
            out.append(char)
        at += 1
    return "".join(out), at


def program_name(word: str) -> str:
    """``C:\\Windows\\...\\PowerShell.exe`` as ``powershell``."""
    name = word.strip('"').replace("\\", "/").rsplit("/", 1)[-1].lower()
    return name.removesuffix(".exe")
