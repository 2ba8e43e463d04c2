"""Command lines. Rules: "Parsing C++ command-line arguments"; containerd's ArgsEscaped."""

import pytest

from muntin.kit.errors import Invalid
from muntin.seams.oci.manifest import ImageConfig, Platform
from muntin.winruntime.command_line import command, command_line, program_name, split


def image(
    *, entrypoint: tuple[str, ...] = (), cmd: tuple[str, ...] = (), escaped: bool = False
) -> ImageConfig:
    return ImageConfig(
        platform=Platform("windows", "amd64"), entrypoint=entrypoint, cmd=cmd, args_escaped=escaped
    )


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["cmd", "/c", "dir"], "cmd /c dir"),
        (["a b", "c"], '"a b" c'),
        (["x", 'say "hi"'], 'x "say \\"hi\\""'),
        (["x", "C:\\a b\\"], 'x "C:\\a b\\\\"'),
        (["x", ""], 'x ""'),
        (["x", "tab\there"], 'x "tab\there"'),
    ],
)
def test_words_survive_the_way_through_one_string(words: list[str], line: str) -> None:
    assert command_line(words) == line
    assert split(line) == words


def test_what_pod_and_image_say_together() -> None:
    both = image(entrypoint=("app.exe",), cmd=("one",))
    assert command(both, [], []) == (["app.exe", "one"], False)
    assert command(both, [], ["two"]) == (["app.exe", "two"], False)
    assert command(both, ["other"], []) == (["other"], False)
    shell = image(cmd=('cmd /S /C "a b"',), escaped=True)
    assert command(shell, [], []) == (['cmd /S /C "a b"'], True)
    assert command_line(['cmd /S /C "a b"'], first_as_is=True) == 'cmd /S /C "a b"'
    assert command(shell, [], ["x y"]) == (["x y"], False)
    with pytest.raises(Invalid, match="no command specified"):
        command(image(), [], [])


def test_program_names() -> None:
    assert (
        program_name("C:\\Windows\\System32\\WindowsPowerShell\\v1.0\\PowerShell.EXE")
        == "powershell"
    )
    assert program_name("curl") == "curl"
