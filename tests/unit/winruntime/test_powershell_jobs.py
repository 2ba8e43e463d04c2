"""Background jobs, each a process of its own."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

CASES = {
    "Start-Job { param($a, $b) $a + $b } -ArgumentList 3, 4 | Wait-Job | Receive-Job": "7",
    "$x = 1; $j = Start-Job { \"[$x]\" }; Receive-Job $j -Wait": "[]",
    "$j = Start-Job { Write-Host shown; 1 }; Receive-Job $j -Wait": "shown\n1",
    "$j = Start-Job { 1; 2 }; $null = Wait-Job $j; $j.State; $j.HasMoreData;"
    " Receive-Job $j -Keep; Receive-Job $j; $j.HasMoreData": "Completed\nTrue\n1\n2\n1\n2\nFalse",
    "Start-Job { @{a = 1, 2} } | Wait-Job | Receive-Job | % { $_.a[1] }": "2",
    "Start-Job { [pscustomobject]@{n = 'x'} } | Wait-Job | Receive-Job | % { $_.n }": "x",
    "Start-Job { exit 3 } | Wait-Job | % { $_.State }": "Completed",
    "Start-Job { f } -InitializationScript { function f { 'init' } } | Wait-Job | Receive-Job":
        "init",
    "$a = Start-Job { 1 }; $b = Start-Job {2} -Name two; (Get-Job | % { $_.Name }) -join ',';"
    " (Get-Job 3).Id; (Get-Job -Name t*).Command": "Job1,two\n3\n2",
    "$a = Start-Job { Start-Sleep 60 }; $b = Start-Job { 1 }; (Wait-Job $a, $b -Any).Id;"
    " @(Wait-Job $a -Timeout 0).Length; $a.State; Stop-Job $a; $a.State": "3\n0\nRunning\nStopped",
    "Start-Job { 1 } | Wait-Job | Remove-Job; @(Get-Job).Length": "0",
    "$j = Start-Job { Start-Sleep 60 }; Remove-Job $j -Force; @(Get-Job).Length": "0",
    "$j = Start-Job { 1 }; Receive-Job $j -Wait -AutoRemoveJob; @(Get-Job).Length": "1\n0",
    "Start-Job { 'y' * 300000 } | Wait-Job | Receive-Job | % { $_.Length }": "300000",
    "@(Get-Job -State Failed).Length": "0",
    "foreach ($i in 1..2147483647) { if ($i -gt 2) { break }; $i }": "1\n2",
    "foreach ($i in 2..0) { $i }": "2\n1\n0",
}  # fmt: skip


@pytest.mark.parametrize("script", CASES)
def test_jobs(powershell, script):
    result = powershell(script)
    assert (result.out.strip("\n"), result.err) == (CASES[script], "")


@pytest.mark.parametrize(
    ("script", "out", "error"),
    [
        ("Start-Job { Get-Item C:\\no; 1 } | Wait-Job | Receive-Job", "1\n", "Cannot find path"),
        (
            "$j = Start-Job { throw 'bad' } | Wait-Job; $j.State; Receive-Job $j; 'on'",
            "Failed\non\n",
            "bad",
        ),
        ("$j = Start-Job { ) }; 1", "", "Unexpected token"),
        ("Receive-Job -Id 9", "", "cannot find a job with the job ID 9"),
        ("Wait-Job -Name no", "", "the job name no was not found"),
        (
            "$j = Start-Job { Start-Sleep 60 }; Remove-Job $j; Stop-Job $j",
            "",
            "cannot remove the job with the job ID 1 because the job is not finished",
        ),
        ("Start-Job", "", "Parameter set cannot be resolved"),
    ],
)
def test_errors(powershell, script, out, error):
    result = powershell(script)
    assert result.out == out
    assert error in result.err


def test_a_file_as_a_job(powershell, drive_c):
    (drive_c / "data/job.ps1").write_text('param($n) "file $n"')
    script = "Start-Job -FilePath C:\\data\\job.ps1 -ArgumentList 5 | Wait-Job | Receive-Job"
    assert powershell(script).out == "file 5\n"


def test_output_of_programs_is_output_of_the_job(container_program, drive_c):
    (drive_c / "windows/system32/where.exe").touch()
    script = '$o = Start-Job { where.exe where } | Wait-Job | Receive-Job; "[$o]"'
    result = container_program("powershell", "-Command", script)
    assert result.stdout.lower() == b"[c:\\windows\\system32\\where.exe]\r\n"


def _children(pid: int) -> list[int]:
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    return [int(word) for word in text.split()]


def test_jobs_end_with_the_session_that_started_them(started):
    """The command is that of upstream's specs of CPU limits, with fewer jobs."""
    block = "foreach ($m in 1..2147483647) { foreach ($n in 1..2147483647) { $r = $m * $n } }"
    script = f"foreach ($i in 1..2) {{ Start-Job -ScriptBlock {{ {block} }} }}; get-job | wait-job"
    process = started("powershell", "-Command", script)
    deadline = time.monotonic() + 20
    while len(children := _children(process.pid)) < 2:
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    while any(_runs(pid) for pid in children):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def _runs(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except FileNotFoundError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"
