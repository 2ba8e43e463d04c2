"""PowerShell in a real container runs Windows programs, and they run it. Needs root and Wine."""

from __future__ import annotations

from runtime_lab import Lab
from test_winruntime_containers import on_node


def test_native_programs_give_output_input_and_whole_exit_codes() -> None:
    script = (
        "$v = cmd /c ver; \"[$($v -join '')]\"; "
        "cmd /c 'exit 1073741819'; $?; $LASTEXITCODE; "
        "'b', 'a' | findstr b; "
        "cmd /c 'echo direct'; "
        "$env:FROM = 'ps'; cmd /c 'echo %FROM% %COMPUTERNAME%'; "
        "(cmd /c 'echo e 1>&2' 2>&1).Trim(); "
        "Set-Location C:\\Windows; cmd /c cd; exit 300"
    )

    async def test(node: Lab) -> None:
        container = await node.run("native", "powershell.exe", "-command", script)
        status = await node.ended(container)
        said = [line.strip() for line in node.stdout("native") if line.strip()]
        assert said == [
            "[Microsoft Windows 10.0.17763]", "False", "1073741819", "b", "direct", "ps NATIVE",
            "e", "C:\\Windows",
        ]  # fmt: skip
        assert status["exit_code"] == 300

    on_node(test)


def test_cmd_runs_powershell_and_sees_its_code_and_streams() -> None:
    async def test(node: Lab) -> None:
        container = await node.run("stays", "powershell", "-c", "Start-Sleep 60")
        line = "powershell -NoProfile -c 'out'; [Console]::Error.Write('err'); exit 7"
        assert await node.exec(container, "cmd", "/c", line) == (7, "out\r\n", "err")
        code, out, _ = await node.exec(
            container, "cmd", "/c", "set A=1& powershell -c $env:A; $pwd.Path; (gps cmd).Name"
        )
        assert (code, out.split()) == (0, ["1", "C:\\", "cmd"])

    on_node(test)
