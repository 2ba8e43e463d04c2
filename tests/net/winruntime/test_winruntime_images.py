"""Application images over our own base: from an archive, and from a registry with log-in."""

from __future__ import annotations

import asyncio
import socket
import tempfile
from pathlib import Path

import pytest
from image_files import Image, digest
from runtime_lab import lab

from muntin.kit.errors import NotFound
from muntin.kit.http.server import HttpServer, Request, Response
from muntin.seams.cri import Unknown
from muntin.winruntime.image_load import load_into

FIRST = {
    "Files/App/Hello.cmd": b"@echo hello %1 from %NAME% in %CD%\r\n@type C:\\app\\words.txt\r\n",
    "Files/App/Words.txt": b"old\r\n",
    "Files/Windows/System32/extra.dll": b"MZ",
}
SECOND = {"Files/APP/words.TXT": b"new\r\n", "Files/Windows/System32/.wh.EXTRA.dll": b""}

# More than have room, by their whole names, in the options of a mount.
MANY = [{f"Files/App/{number}.txt": b""} for number in range(60)]


def app(**more: str) -> Image:
    return Image(
        FIRST, SECOND, *MANY, Entrypoint=["cmd", "/c", "C:\\App\\hello.cmd"], Cmd=["you"],
        Env=["NAME=image"], WorkingDir="C:\\app", **more,
    )  # fmt: skip


def test_an_archive_s_image_runs_over_the_base() -> None:
    async def run() -> None:
        root = Path(tempfile.mkdtemp(prefix="w", dir="/tmp"))
        async with lab(root) as node:
            name = "example.test/team/app:1"
            archive = app().oci_archive(root / "app.tar", name)
            [record] = await load_into(node.config, archive)
            container = await node.create_existing("app", name)
            await node.cri.StartContainer({"container_id": container})
            assert (await node.ended(container)).get("exit_code", 0) == 0
            assert node.stdout("app") == ["hello you from image in C:\\app", "new"]
            again = await node.run_existing(
                "look", name, "cmd", "/c", "dir /b C:\\windows\\system32\\ex*.dll"
            )
            await node.ended(again)
            assert "extra.dll" not in "".join(node.stdout("look"))
            await node.cri.RemoveImage({"image": {"image": record.id}})

            newer = app(os_version="10.0.20348.1").oci_archive(root / "newer.tar", "x.test/n:1")
            await load_into(node.config, newer)
            wrong = await node.create_existing("wrong", "x.test/n:1")
            with pytest.raises(Unknown, match="operating system does not match the host operating"):
                await node.cri.StartContainer({"container_id": wrong})

    asyncio.run(run())


def test_a_registry_s_image_is_pulled_with_a_token() -> None:
    image = app()
    blobs = image.blobs()

    async def handle(request: Request) -> Response:
        if request.path == "/token":
            assert request.headers["authorization"].startswith("Basic ")
            return Response(200, {}, b'{"token":"t1"}')
        host = request.headers["host"]
        if request.headers.get("authorization") != "Bearer t1":
            ask = f'Bearer realm="http://{host}/token",service="r",scope="repository:a/b:pull"'
            return Response(401, {"WWW-Authenticate": ask}, b"")
        last = request.path.rpartition("/")[2]
        if request.path == "/v2/a/b/manifests/1":
            last = digest(image.manifest)
        if last not in blobs:
            return Response(404, {}, b"{}")
        kind = "application/vnd.oci.image.manifest.v1+json"
        return Response(200, {"Content-Type": kind}, blobs[last])

    async def run() -> None:
        root = Path(tempfile.mkdtemp(prefix="w", dir="/tmp"))
        server = HttpServer(handle)
        listener = socket.create_server(("127.0.0.1", 0))
        name = f"127.0.0.1:{listener.getsockname()[1]}/a/b"
        await server.listen(listener)
        try:
            async with lab(root) as node:
                auth = {"username": "u", "password": "p"}
                pulled = await node.cri.PullImage({"image": {"image": f"{name}:1"}, "auth": auth})
                assert pulled["image_ref"] == digest(image.config)
                [found] = (await node.cri.ListImages({}))["images"]
                assert found["repo_tags"] == [f"{name}:1"]
                assert found["repo_digests"] == [f"{name}@{digest(image.manifest)}"]
                with pytest.raises(NotFound, match=r"failed to resolve reference .+ not found"):
                    await node.cri.PullImage({"image": {"image": f"{name}:2"}, "auth": auth})
        finally:
            await server.close()

    asyncio.run(run())
