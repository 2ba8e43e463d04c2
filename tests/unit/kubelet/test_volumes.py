"""Volume content, the atomic writer, subPath, hostPath."""

from __future__ import annotations

import base64
import shutil
from pathlib import Path
from typing import Any

import pytest

from muntin.kit.errors import Invalid, NotFound
from muntin.kubelet.platform import linux, windows
from muntin.kubelet.volumes.atomic_writer import write_files
from muntin.kubelet.volumes.content import File, Inputs, references, volume_files
from muntin.kubelet.volumes.host_path import prepare_host_path
from muntin.kubelet.volumes.sub_path import prepare_sub_path
from muntin.model.windows_releases import BUILDS, profile_of

MAP = {"data": {"a": "1", "b": "2"}, "binaryData": {"c": base64.b64encode(b"\xff").decode()}}


def inputs(**objects: Any) -> Inputs:
    known = {"map": MAP, "vault": {"data": {"key": b"\x00s"}}, **objects}
    return Inputs(
        find=lambda kind, name: known.get(name),
        token=lambda source: f"token for {source.get('audience', '')}",
        field=lambda path: f"<{path}>",
        resource=lambda reference: "3",
    )


def data(files: dict[str, File]) -> dict[str, bytes]:
    return {path: file.data for path, file in files.items()}


def test_whole_objects_and_items() -> None:
    whole = volume_files({"configMap": {"name": "map"}}, inputs())
    assert data(whole) == {"a": b"1", "b": b"2", "c": b"\xff"}
    assert {file.mode for file in whole.values()} == {0o644}
    items = [{"key": "a", "path": "deep/er/a.txt", "mode": 0o400}]
    source = {"name": "map", "items": items, "defaultMode": 0o600}
    some = volume_files({"configMap": source}, inputs())
    assert some == {"deep/er/a.txt": File(b"1", 0o400)}
    secret = volume_files({"secret": {"secretName": "vault", "defaultMode": 0}}, inputs())
    assert secret == {"key": File(b"\x00s", 0)}


def test_absent_objects_and_keys() -> None:
    with pytest.raises(NotFound, match='configmap "no" not found'):
        volume_files({"configMap": {"name": "no"}}, inputs())
    assert volume_files({"configMap": {"name": "no", "optional": True}}, inputs()) == {}
    items = [{"key": "z", "path": "z"}]
    with pytest.raises(Invalid, match="references non-existent"):
        volume_files({"configMap": {"name": "map", "items": items}}, inputs())


def test_projected_joins_its_sources() -> None:
    projected = {
        "sources": [
            {"serviceAccountToken": {"path": "token", "audience": "api"}},
            {"configMap": {"name": "map", "items": [{"key": "a", "path": "a"}]}},
            {"secret": {"name": "vault"}},
            {
                "downwardAPI": {
                    "items": [
                        {"path": "ns", "fieldRef": {"fieldPath": "metadata.namespace"}},
                        {"path": "cpu", "resourceFieldRef": {"resource": "limits.cpu"}},
                    ]
                }
            },
        ]
    }
    assert data(volume_files({"projected": projected}, inputs())) == {
        "token": b"token for api",
        "a": b"1",
        "key": b"\x00s",
        "ns": b"<metadata.namespace>",
        "cpu": b"3",
    }
    assert set(references({"projected": projected})) == {("ConfigMap", "map"), ("Secret", "vault")}


@pytest.mark.parametrize("replace_links", [True, False], ids=["linux", "windows"])
def test_atomic_writer_replaces_everything_at_once(tmp_path: Path, replace_links: bool) -> None:
    def write(files: dict[str, bytes]) -> bool:
        return write_files(
            tmp_path,
            {path: File(content) for path, content in files.items()},
            replace_links=replace_links,
        )

    assert write({"a": b"1", "dir/b": b"2"})
    assert not write({"a": b"1", "dir/b": b"2"})
    first = (tmp_path / "..data").readlink()
    assert (tmp_path / "a").readlink() == Path("..data/a")
    assert (tmp_path / "dir" / "b").read_bytes() == b"2"
    reader = (tmp_path / "a").open("rb")
    assert write({"a": b"new", "c": b"3"})
    assert reader.read() == b"1"
    reader.close()
    assert (tmp_path / "a").read_bytes() == b"new"
    assert not (tmp_path / "dir").exists()
    assert (tmp_path / "..data").readlink() != first
    assert sorted(one.name for one in tmp_path.iterdir() if not one.name.startswith("..")) == [
        "a",
        "c",
    ]
    assert len(list(tmp_path.glob("..2*"))) == 1


def test_modes_are_kept_only_where_they_mean_something(tmp_path: Path) -> None:
    write_files(tmp_path / "l", {"a": File(b"", 0o400)})
    assert (tmp_path / "l" / "a").stat().st_mode & 0o777 == 0o400
    write_files(tmp_path / "w", {"a": File(b"", 0o400)}, modes=False)
    assert (tmp_path / "w" / "a").stat().st_mode & 0o777 != 0o400


def test_links_that_only_the_node_can_follow(tmp_path: Path) -> None:
    """A container has the folder elsewhere: relative links lead on there, absolute ones nowhere."""
    node, container = tmp_path / "node", tmp_path / "container"
    for name, lead_in in (("new", True), ("old", False)):
        write_files(node / name, {"a": File(b"1")}, links_lead_in=lead_in)
        assert (node / name / "a").read_bytes() == b"1"
    shutil.copytree(node, container, symlinks=True)
    shutil.rmtree(node)
    assert (container / "new/a").read_bytes() == b"1"
    assert not (container / "old/a").exists()


def test_sub_path_stays_inside(tmp_path: Path) -> None:
    volume = tmp_path / "volume"
    (volume / "in").mkdir(parents=True)
    (volume / "out").symlink_to(tmp_path)
    (volume / "loop").symlink_to("in")
    assert prepare_sub_path(volume, "in", create=False) == volume / "in"
    assert prepare_sub_path(volume, "loop", create=False) == volume / "in"
    assert prepare_sub_path(volume, "new\\sub", create=True).is_dir()
    for bad in ("../x", "/etc", "out/x"):
        with pytest.raises(Invalid):
            prepare_sub_path(volume, bad, create=True)
    with pytest.raises(Invalid, match="does not exist"):
        prepare_sub_path(volume, "absent", create=False)


def test_host_path_types(tmp_path: Path) -> None:
    platform = linux()
    file = tmp_path / "file"
    file.write_text("")
    prepare_host_path(file, "/file", "File", platform)
    prepare_host_path(tmp_path, "/dir", "Directory", platform)
    prepare_host_path(tmp_path / "new", "/new", "DirectoryOrCreate", platform)
    assert (tmp_path / "new").is_dir()
    prepare_host_path(tmp_path / "f2", "/f2", "FileOrCreate", platform)
    assert (tmp_path / "f2").is_file()
    for kind, words in (
        ("Directory", "is not a directory"),
        ("Socket", "is not a socket file"),
        ("CharDevice", "is not a character device"),
    ):
        with pytest.raises(Invalid, match=words):
            prepare_host_path(file, "/file", kind, platform)
    with pytest.raises(Invalid, match="invalid volume type"):
        prepare_host_path(file, "/file", "Odd", platform)


@pytest.mark.parametrize(
    ("path", "sent"),
    [
        ("/data", "c:/data"),
        ("\\data", "c:\\data"),
        ("data", "c:\\data"),
        ("C:\\data", "C:\\data"),
        ("D:/data", "D:/data"),
        ("\\\\.\\pipe\\x", "\\\\.\\pipe\\x"),
        ("\\\\server\\share", "\\\\server\\share"),
    ],
)
def test_windows_mount_paths(path: str, sent: str) -> None:
    platform = windows(profile_of(BUILDS[3]))
    assert platform.container_path(path) == sent
    assert linux().container_path(path) == path


def test_windows_directories() -> None:
    platform = windows(profile_of(BUILDS[3]))
    assert platform.volume_dir("u", "kubernetes.io/configmap", "v") == (
        "C:\\var\\lib\\kubelet\\pods\\u\\volumes\\kubernetes.io~configmap\\v"
    )
    assert platform.log_dir("ns", "p", "u") == "C:\\var\\log\\pods\\ns_p_u"
