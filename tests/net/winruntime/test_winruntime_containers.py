"""Windows containers through CRI: programs, users, errors, limits, stops. Needs root and Wine."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from runtime_lab import NANOSERVER, SERVERCORE, Lab, lab

from muntin.kit import netns
from muntin.kit.errors import Invalid, NotFound, TimedOut
from muntin.model.windows import Feature
from muntin.seams.cri import Unknown
from muntin.seams.cri.enums import ContainerState, PodSandboxState

HELLO_SERVER = """
$l = New-Object System.Net.HttpListener ; $l.Prefixes.Add('http://*:80/') ; $l.Start() ;
while ($l.IsListening) { $c = $l.GetContext() ; $r = $c.Response ;
$b = [System.Text.Encoding]::UTF8.GetBytes('hi') ; $r.ContentLength64 = $b.Length ;
$r.OutputStream.Write($b, 0, $b.Length) ; $r.Close() }
"""


def on_node(test: Callable[[Lab], Awaitable[None]]) -> None:
    """Run ``test`` with a node of its own."""

    async def run() -> None:
        root = Path(tempfile.mkdtemp(prefix="w", dir="/tmp"))
        async with lab(root) as node:
            await test(node)

    asyncio.run(run())


@pytest.mark.reproduces(Feature.DEFAULT_USER_SERVERCORE)
def test_a_program_runs_with_its_own_drive_name_user_and_environment() -> None:
    async def test(node: Lab) -> None:
        script = "ver & hostname & whoami & echo %GREETING% & echo x> C:\\here.txt & cd & exit 5"
        container = await node.run(
            "pod-a", "cmd", "/c", script,
            envs=[{"key": "greeting", "value": 'a "b"'}, {"key": "GREETING", "value": 'c "d"'}],
            working_dir="C:\\Windows\\Temp",
        )  # fmt: skip
        status = await node.ended(container)
        assert (status["exit_code"], status["reason"]) == (5, "Error")
        said = [line.strip() for line in node.stdout("pod-a") if line.strip()]
        assert said == [
            "Microsoft Windows 10.0.17763",
            "POD-A",
            "POD-A\\ContainerAdministrator",
            'c "d"',
            "C:\\Windows\\Temp",
        ]
        other = await node.run("pod-b", "cmd", "/c", "if exist C:\\here.txt (exit 1) else exit 0")
        assert (await node.ended(other))["reason"] == "Completed"

    on_node(test)


@pytest.mark.reproduces(Feature.API_EXIT_CODES)
def test_exit_codes_are_signed_and_whole_in_exec_too() -> None:
    async def test(node: Lab) -> None:
        crash = await node.run("crash", "cmd", "/c", "exit -1073741819")
        assert (await node.ended(crash))["exit_code"] == -1073741819
        container = await node.run("stays", "cmd", stdin=True)
        assert await node.exec(container, "cmd", "/c", "echo out& echo err>&2& exit 259") == (
            259, "out\r\n", "err\r\n",
        )  # fmt: skip
        with pytest.raises(Unknown, match="The system cannot find the file specified"):
            await node.exec(container, "no-such-program.exe")
        for endless in ("for /l %i in (0,0,1) do @rem", "powershell -c Start-Sleep 60"):
            with pytest.raises(TimedOut, match="deadline exceeded"):
                await node.exec(container, "cmd", "/c", endless, limit_s=1)

    on_node(test)


@pytest.mark.reproduces(Feature.RUNASUSERNAME_UNKNOWN_USER)
def test_what_cannot_start_says_so_in_the_words_of_hcs() -> None:
    async def test(node: Lab) -> None:
        for name, command, extra, text in (
            ("absent", "absent.exe", {}, "The system cannot find the file specified."),
            ("folder", "cmd", {"working_dir": "C:\\no"}, "The directory name is invalid."),
            (
                "user",
                "cmd",
                {"windows": {"security_context": {"run_as_username": "bob"}}},
                "The user name or password is incorrect.",
            ),
        ):
            container = await node.create(name, command, **extra)
            with pytest.raises(Unknown) as caught:
                await node.cri.StartContainer({"container_id": container})
            assert f"hcs::System::CreateProcess {container}: {text}: unknown" in str(caught.value)
            status = await node.status(container)
            assert (status["state"], status["exit_code"], status["reason"]) == (
                ContainerState.CONTAINER_EXITED, 128, "StartError",
            )  # fmt: skip

    on_node(test)


def test_images_are_ours_by_name_or_refused_as_containerd_refuses() -> None:
    async def test(node: Lab) -> None:
        async def pull(image: str) -> None:
            await node.cri.PullImage({"image": {"image": image}})

        await pull(SERVERCORE)
        await pull("registry.k8s.io/pause:3.10.2")
        assert (await node.cri.ImageStatus({"image": {"image": SERVERCORE}}))["image"]["id"]
        assert "image" not in await node.cri.ImageStatus({"image": {"image": NANOSERVER}})
        with pytest.raises(NotFound, match="no match for platform in manifest: not found"):
            await pull("mcr.microsoft.com/windows/servercore:ltsc2022")
        with pytest.raises(
            NotFound, match=r'failed to resolve reference "mcr.+:nope": .+not found'
        ):
            await pull("mcr.microsoft.com/windows/servercore:nope")
        with pytest.raises(Invalid, match="must be lowercase"):
            await pull("docker.io/Big")
        await node.cri.RemoveImage({"image": {"image": SERVERCORE}})
        assert "image" not in await node.cri.ImageStatus({"image": {"image": SERVERCORE}})

    on_node(test)


def test_volumes_users_and_read_only_mounts() -> None:
    async def test(node: Lab) -> None:
        data = node.config.host_drive / "Data"
        data.mkdir()
        (data / "one.txt").write_text("first\r\n")
        mounts = [
            {"container_path": "c:/in", "host_path": "C:\\data", "readonly": True},
            {"container_path": "C:\\out", "host_path": "c:\\new"},
        ]
        script = "whoami & type C:\\in\\one.txt & echo no> C:\\in\\x & echo yes> C:\\out\\y"
        container = await node.run("vol", "cmd", "/c", script, image=NANOSERVER, mounts=mounts)
        status = await node.ended(container)
        assert status["mounts"][0]["container_path"] == "c:/in"
        assert [line.strip() for line in node.stdout("vol")] == ["VOL\\ContainerUser", "first"]
        errors = [text for stream, _, text in node.log("vol") if stream == "stderr"]
        assert any("Access is denied." in text for text in errors)
        assert not (data / "x").exists()
        with pytest.raises(Invalid, match="destination path can not be C drive"):
            await node.create(
                "drive", "cmd", mounts=[{"container_path": "c:", "host_path": "c:/x"}]
            )

    on_node(test)


def test_powershell_serves_and_other_programs_join_it() -> None:
    async def test(node: Lab) -> None:
        container = await node.run("web", "powershell.exe", "-command", HELLO_SERVER)
        [namespace] = netns.names(node.config.netns_prefix)
        assert await _get(namespace) == b"hi"
        code, out, _ = await node.exec(container, "cmd", "/c", "ver")
        assert (code, out.strip()) == (0, "Microsoft Windows 10.0.17763")
        assert (await node.exec(container, "powershell", "-c", "1 + 1"))[1].strip() == "2"
        stats = (await node.cri.ContainerStats({"container_id": container}))["stats"]
        assert stats["memory"]["working_set_bytes"]["value"] > 1 << 20
        assert stats["cpu"]["usage_core_nano_seconds"]["value"] > 0
        await node.cri.StopContainer({"container_id": container, "timeout": 10})
        assert (await node.status(container))["state"] == ContainerState.CONTAINER_EXITED

    on_node(test)


@pytest.mark.reproduces(Feature.API_SIGNALS)
def test_a_stop_asks_first_and_ends_what_does_not_listen() -> None:
    async def test(node: Lab) -> None:
        polite = await node.run("polite", "cmd", stdin=True)
        deaf = await node.run("deaf", "cmd", stdin=True)
        await node.cri.StopContainer({"container_id": polite, "timeout": 20})
        await node.cri.StopContainer({"container_id": deaf, "timeout": 0})
        assert (await node.status(polite)).get("exit_code", 0) == 0
        assert (await node.status(deaf))["exit_code"] == 1
        for container in (polite, deaf, "unknown"):
            await node.cri.StopContainer({"container_id": container, "timeout": 0})

    on_node(test)


def test_the_memory_limit_ends_a_container_and_says_who_did_it() -> None:
    async def test(node: Lab) -> None:
        container = await node.run(
            "big", "powershell", "-c", "$a = 'x' * 300000000; Start-Sleep 20",
            windows={"resources": {"memory_limit_in_bytes": 40 << 20, "cpu_maximum": 5000}},
        )  # fmt: skip
        status = await node.ended(container)
        assert (status["exit_code"], status["reason"]) == (137, "Error")
        assert "the emulation ended the container at its memory limit" in status["message"]

        small = {"resources": {"memory_limit_in_bytes": 16 << 20}}
        shown = await node.run("shown", "cmd", "/c", "echo small", windows=small)
        assert (await node.ended(shown))["reason"] == "Completed"
        assert node.stdout("shown") == ["small"]
        stays = await node.run("stays", "cmd", stdin=True, windows=small)
        ours = await node.run("ours", "powershell", "-c", "Start-Sleep 60", windows=small)
        for container in (stays, ours):  # Wine starts in the second one now
            assert (await node.exec(container, "cmd", "/c", "echo hi"))[:2] == (0, "hi\r\n")
            memory = (await node.cri.ContainerStats({"container_id": container}))["stats"]["memory"]
            used, left = (memory[f"{k}_bytes"]["value"] for k in ("working_set", "available"))
            assert 0 < used < 12 << 20
            assert used + left == 16 << 20

    on_node(test)


def test_the_sandbox_lives_as_long_as_its_pause_process() -> None:
    async def test(node: Lab) -> None:
        sandbox = await node.sandbox("p")
        status = await node.cri.PodSandboxStatus({"pod_sandbox_id": sandbox, "verbose": True})
        assert status["status"]["network"]["ip"] == "127.0.0.1"
        pid = json.loads(status["info"]["info"])["pid"]
        [namespace] = netns.names(node.config.netns_prefix)
        async with asyncio.timeout(10):  # it is named once its program runs
            while _name_and_namespace(pid)[0] != "pause":  # noqa: ASYNC110 - nothing tells
                await asyncio.sleep(0.02)
        assert _name_and_namespace(pid) == ("pause", netns.path_of(namespace).stat().st_ino)
        os.kill(pid, 9)
        async with asyncio.timeout(10):
            while not await _is_not_ready(node, sandbox):  # noqa: ASYNC110 - nothing tells
                await asyncio.sleep(0.02)
        await node.cri.StopPodSandbox({"pod_sandbox_id": sandbox})
        await node.cri.RemovePodSandbox({"pod_sandbox_id": sandbox})
        assert netns.names(node.config.netns_prefix) == []
        with pytest.raises(NotFound):
            await node.cri.PodSandboxStatus({"pod_sandbox_id": sandbox})

    on_node(test)


async def _is_not_ready(node: Lab, sandbox: str) -> bool:
    [item] = (await node.cri.ListPodSandbox({}))["items"]
    assert item["id"] == sandbox
    return bool(item.get("state") == PodSandboxState.SANDBOX_NOTREADY)


async def _get(namespace: str) -> bytes:
    """The body of ``GET /`` on port 80 inside the namespace, once somebody answers."""
    async with asyncio.timeout(10):
        while True:
            sock = netns.socket_in(namespace)
            sock.setblocking(False)
            try:
                await asyncio.get_running_loop().sock_connect(sock, ("127.0.0.1", 80))
                break
            except OSError:
                sock.close()
                await asyncio.sleep(0.02)
        reader, writer = await asyncio.open_connection(sock=sock)
        writer.write(b"GET / HTTP/1.1\r\nHost: pod\r\nConnection: close\r\n\r\n")
        answer = await reader.read()
        writer.close()
        await writer.wait_closed()
        return answer.partition(b"\r\n\r\n")[2]


def _name_and_namespace(pid: int) -> tuple[str, int]:
    process = Path(f"/proc/{pid}")
    return (process / "comm").read_text().strip(), (process / "ns/net").stat().st_ino


def test_limits_change_and_the_log_is_reopened_while_a_container_runs() -> None:
    async def test(node: Lab) -> None:
        go = node.config.host_drive / "Data/go"
        go.parent.mkdir()
        script = (
            "'one'; while (-not (Test-Path C:\\in\\go)) { Start-Sleep -Milliseconds 100 }; 'two'"
        )
        mounts = [{"container_path": r"C:\in", "host_path": r"C:\Data"}]
        container = await node.run("long", "powershell", "-c", script, mounts=mounts)
        log = node.config.host_drive / "var/log/pods/default_long/c/0.log"
        await _said(node, "long", "one")
        log.rename(log.with_suffix(".old"))
        await node.cri.ReopenContainerLog({"container_id": container})
        resources = {"cpu_maximum": 2500, "memory_limit_in_bytes": 200 << 20}
        await node.cri.UpdateContainerResources({"container_id": container, "windows": resources})
        status = await node.status(container)
        assert status["resources"]["windows"] == resources
        stats = (await node.cri.ContainerStats({"container_id": container}))["stats"]
        assert 0 < stats["memory"]["available_bytes"]["value"] < 200 << 20
        go.touch()
        await node.ended(container)
        assert node.stdout("long") == ["two"]

    on_node(test)


async def _said(node: Lab, name: str, text: str) -> None:
    async with asyncio.timeout(10):
        while True:
            with contextlib.suppress(OSError):
                if text in node.stdout(name):
                    return
            await asyncio.sleep(0.01)
