"""powershell.exe as a process: ways to give it a script, streams, start-up, signals."""

from __future__ import annotations

import base64
import signal
import time

import pytest

from muntin.winruntime.inside.powershell.command import Invocation, UsageError, read_arguments


@pytest.mark.parametrize(
    ("argv", "wanted"),
    [
        (["-Command", "a", "b"], Invocation("command", "a b", [], "", True)),
        (["-c", "x"], Invocation("command", "x", [], "", True)),
        (["-NoP", "-NonI", "-ExecutionPolicy", "Bypass", "-comm", "x -y"],
         Invocation("command", "x -y", [], "", True)),
        (["/NoLogo", "/Command", "x"], Invocation("command", "x", [], "", False)),
        (["Get-Date", "-Format", "o"], Invocation("command", "Get-Date -Format o", [], "", True)),
        (["-ep", "bypass", "-File", "C:\\a.ps1", "-X", "1"],
         Invocation("file", "C:\\a.ps1", ["-X", "1"], "", True)),
        (["-enc", base64.b64encode("1+1".encode("utf-16-le")).decode()],
         Invocation("command", "1+1", [], "", True)),
        (["-Command", "-"], Invocation("stdin", "", [], "", True)),
        ([], Invocation("stdin", "", [], "", True)),
        (["-WorkingDirectory", "C:\\data", "-c", "x"],
         Invocation("command", "x", [], "C:\\data", True)),
        (["-?"], Invocation("help", "", [], "", True)),
        (["-Version"], Invocation("version", "", [], "", True)),
    ],
)  # fmt: skip
def test_arguments(argv: list[str], wanted: Invocation):
    assert read_arguments(argv) == wanted


@pytest.mark.parametrize("argv", [["-Foo"], ["-Command"], ["-EncodedCommand", "!"], ["-no", "x"]])
def test_arguments_refused(argv: list[str]):
    with pytest.raises(UsageError):
        read_arguments(argv)


def test_streams_line_ends_and_encoding(container_program):
    result = container_program("powershell", "-Command", "'é'; Write-Host 'h' -NoNewline; Get-Foo")
    assert result.stdout == "é\r\nh".encode()
    assert result.stderr.startswith(b"Get-Foo : The term")
    assert result.returncode == 1


def test_script_from_stdin(container_program):
    assert container_program("powershell", "-", stdin=b"$a = 4\n$a * 2\nexit 6").returncode == 6


def test_file_with_parameters(container_program, drive_c):
    (drive_c / "data/Say.ps1").write_text(
        "param([string]$Name, [int]$N = 1, [switch]$Loud)\r\n"
        '"$Name $N $Loud $PSScriptRoot"\r\nGet-Foo 2>$null\r\nexit 9\r\n'
    )
    result = container_program(
        "powershell", "-File", "c:\\DATA\\say.ps1", "-Name", "x", "7", "-Loud"
    )
    assert result.stdout == b"x 7 True c:\\DATA\r\n".replace(b"c:", b"C:")
    assert result.returncode == 9
    missing = container_program("powershell", "-File", "C:\\no.ps1")
    assert b"does not exist" in missing.stderr
    assert missing.returncode != 0


def test_version_names_no_microsoft_edition(container_program):
    out = container_program("powershell", "-c", "$PSVersionTable.PSEdition; $Host.Name").stdout
    assert out == b"MuntinSubset\r\nMuntinHost\r\n"
    banner = container_program("powershell", "-Version").stdout
    assert b"not a Microsoft product" in banner


def test_shutdown_ends_it_and_interrupt_runs_finally(started):
    script = "try { Write-Host up; Start-Sleep 60 } finally { Write-Host fin }"
    for number, out in ((signal.SIGTERM, b"up\r\n"), (signal.SIGINT, b"up\r\nfin\r\n")):
        process = started("powershell", "-c", script)
        assert process.stdout is not None
        first = process.stdout.readline()
        begin = time.monotonic()
        process.send_signal(number)
        rest = process.stdout.read()
        assert process.wait(timeout=30) == 0x3A
        assert first + rest == out
        assert time.monotonic() - begin < 30


def test_whole_exit_code_is_reported(container_program, tmp_path):
    status = tmp_path / "status"
    result = container_program("powershell", "-c", "exit -5", env={"WCINIT_STATUS": str(status)})
    assert result.returncode == 251
    assert status.read_text() == "4294967291"
