"""Images of users' own: archives into the nodes that can run them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from image_archives import docker_archive, tar
from whole_cluster import eventually


@pytest.fixture
def windows_image(tmp_path: Path, release: str = "10.0.17763.1") -> Path:
    layer = tar({"Files/app/hello.cmd": b"@echo hello from the layer\r\n"})
    command = {"Cmd": ["cmd", "/c", "C:\\app\\hello.cmd"]}
    fields = {"os": "windows", "os.version": release, "config": command}
    return docker_archive(tmp_path / "app.tar", "example.com/load/app:1", layer, **fields)


def test_a_windows_application_runs_from_its_layer(cluster, namespace, windows_image):
    text = cluster.muntin("load", str(windows_image)).stdout
    assert text.splitlines() == [
        "app.tar: lin01: the image is for windows",
        "app.tar: win01: loaded",
        "app.tar: win02: loaded",
    ]
    overrides = json.dumps({"spec": {"nodeSelector": {"kubernetes.io/os": "windows"}}})
    cluster.kubectl(
        *("run", "app", "--image=example.com/load/app:1", "--restart=Never"),
        f"--overrides={overrides}",
    )
    eventually(lambda: cluster.get("pod", "app")["status"]["phase"] == "Succeeded")
    assert cluster.kubectl("logs", "app").stdout.strip() == "hello from the layer"


def test_a_linux_image_goes_to_the_linux_node(cluster, tmp_path):
    layer = tar({"hello": b"hi"})
    image = docker_archive(tmp_path / "lin.tar", "example.com/load/lin:1", layer, os="linux")
    text = cluster.muntin("load", str(image), "--node", "lin01").stdout
    assert text == "lin.tar: lin01: loaded\n"
    found = cluster.muntin("cri", "lin01", "ImageStatus",
                           '{"image": {"image": "example.com/load/lin:1"}}').stdout  # fmt: skip
    assert "example.com/load/lin:1" in json.loads(found)["image"]["repo_tags"]


def test_what_cannot_be_loaded_is_said_in_two_lines(cluster, windows_image, tmp_path):
    (tmp_path / "text").write_text("no archive")
    for args, code, words in (
        ([str(tmp_path / "text")], 3, "is not an image archive"),
        ([str(tmp_path / "absent")], 8, "there is no file"),
        ([str(windows_image), "--node", "lin01"], 8, "no node can run it"),
        ([str(windows_image), "--node", "x"], 8, "there is no node x"),
    ):
        done = cluster.muntin("load", *args, check=False)
        assert done.returncode == code
        assert words in done.stderr
        assert len(done.stderr.splitlines()) <= 2
