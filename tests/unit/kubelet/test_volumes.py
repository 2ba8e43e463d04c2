"""Volume content, the atomic writer, subPath, hostPath."""

from __future__ import annotations

import base64
import os
import re
import shutil
import socket
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from muntin.kit.errors import Invalid, NotFound
from muntin.kubelet.node_files import RootedFiles, closing
from muntin.kubelet.platform import linux, windows
from muntin.kubelet.volumes.atomic_writer import write_files
from muntin.kubelet.volumes.content import File, Inputs, references, volume_files
from muntin.kubelet.volumes.host_path import open_host_path
from muntin.kubelet.volumes.sub_path import open_sub_path, wanted_sub_path
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


def write(folder: Path, files: dict[str, File], **options: Any) -> bool:
    folder.mkdir(parents=True, exist_ok=True)
    with closing(os.open(folder, os.O_PATH)) as directory:
        return write_files(directory, files, **options)


@pytest.mark.parametrize("replace_links", [True, False], ids=["linux", "windows"])
def test_atomic_writer_replaces_everything_at_once(tmp_path: Path, replace_links: bool) -> None:
    def show(files: dict[str, bytes]) -> bool:
        return write(
            tmp_path,
            {path: File(content) for path, content in files.items()},
            replace_links=replace_links,
        )

    assert show({"a": b"1", "dir/b": b"2"})
    assert not show({"a": b"1", "dir/b": b"2"})
    first = (tmp_path / "..data").readlink()
    assert (tmp_path / "a").readlink() == Path("..data/a")
    assert (tmp_path / "dir" / "b").read_bytes() == b"2"
    reader = (tmp_path / "a").open("rb")
    assert show({"a": b"new", "c": b"3"})
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
    write(tmp_path / "l", {"a": File(b"", 0o400)})
    assert (tmp_path / "l" / "a").stat().st_mode & 0o777 == 0o400
    write(tmp_path / "w", {"a": File(b"", 0o400)}, modes=False)
    assert (tmp_path / "w" / "a").stat().st_mode & 0o777 != 0o400


def test_links_that_only_the_node_can_follow(tmp_path: Path) -> None:
    """A container has the folder elsewhere: relative links lead on there, absolute ones nowhere."""
    node, container = tmp_path / "node", tmp_path / "container"
    for name, through in (("new", "..data"), ("old", str(node / "old/..data"))):
        write(node / name, {"a": File(b"1")}, links_through=through)
        assert (node / name / "a").read_bytes() == b"1"
    shutil.copytree(node, container, symlinks=True)
    shutil.rmtree(node)
    assert (container / "new/a").read_bytes() == b"1"
    assert not (container / "old/a").exists()


def test_files_do_not_go_where_links_lead(tmp_path: Path) -> None:
    """A pod that has the volume's folder as hostPath plants links and pipes in it."""
    outside, volume = tmp_path / "outside", tmp_path / "volume"
    outside.mkdir()
    (outside / "kept").write_text("host")
    write(volume, {"a": File(b"1")})
    (volume / "..data").unlink()
    (volume / "..data").symlink_to(outside)
    (volume / "..data_tmp").symlink_to(outside)
    (volume / "a").unlink()
    (volume / "a").symlink_to(outside / "kept")
    (volume / "planted").symlink_to(outside)
    os.mkfifo(volume / "..pipe")
    assert write(volume, {"a": File(b"2"), "b/c": File(b"3")})
    assert (volume / "a").read_bytes() == b"2"
    assert (volume / "b/c").read_bytes() == b"3"
    assert not (volume / "planted").is_symlink()
    assert [one.name for one in outside.iterdir()] == ["kept"]
    assert (outside / "kept").read_text() == "host"


def sub_path(volume: Path, path: str, *, create: bool) -> Path:
    with closing(os.open(volume, os.O_PATH)) as fd:
        opened = open_sub_path(fd, path, create=create, mount="data", container="web")
    with closing(opened):
        return Path(os.readlink(f"/proc/self/fd/{opened}"))


def test_sub_path_stays_inside(tmp_path: Path) -> None:
    volume = tmp_path / "volume"
    (volume / "in").mkdir(parents=True)
    volume.chmod(0o2777)
    (volume / "out").symlink_to(tmp_path)
    (volume / "up").symlink_to("../..")
    (volume / "loop").symlink_to("in")
    (volume / "gone").symlink_to("absent")
    assert sub_path(volume, "in", create=False) == volume / "in"
    assert sub_path(volume, "loop", create=False) == volume / "in"
    assert sub_path(volume, "loop/new/sub", create=True) == volume / "in/new/sub"
    assert (volume / "in/new/sub").stat().st_mode & 0o7777 == 0o2777
    words = 'failed to prepare subPath for volumeMount "data" of container "web"'
    for bad in ("out", "out/x", "up", "up/x", "gone/x"):
        with pytest.raises(Invalid, match=words):
            sub_path(volume, bad, create=True)
    with pytest.raises(Invalid, match="does not exist"):
        sub_path(volume, "absent", create=False)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["volume"]


@pytest.mark.parametrize(
    ("mount", "windows_words", "linux_words"),
    [
        ({"subPath": "a/./b"}, "", ""),
        ({"subPathExpr": "$(DIR)/x"}, "", ""),
        (
            {"subPathExpr": "$(EMPTY)/$(NONE)"},
            "missing value for EMPTY, NONE",
            "missing value for EMPTY, NONE",
        ),
        (
            {"subPathExpr": "$(ROOT)"},
            "error SubPath `/tmp` must not be an absolute path",
            "error SubPath `/tmp` must not be an absolute path",
        ),
        (
            {"subPathExpr": "$(USERS)"},
            "error SubPath `C:\\Users` must not be an absolute path",
            "",
        ),
        ({"subPathExpr": "$(SHARE)"}, "error SubPath `\\x` must not be an absolute path", ""),
        (
            {"subPath": "a/../b"},
            "unable to provision SubPath `a/../b`: must not contain '..'",
            "unable to provision SubPath `a/../b`: must not contain '..'",
        ),
        (
            {"subPath": "a\\..\\b"},
            "unable to provision SubPath `a\\..\\b`: must not contain '..'",
            "",
        ),
    ],
)
def test_sub_paths_that_kubelets_refuse(
    mount: dict[str, str], windows_words: str, linux_words: str
) -> None:
    environment = {
        "DIR": "d", "EMPTY": "", "ROOT": "/tmp", "USERS": "C:\\Users", "SHARE": "\\x",
    }  # fmt: skip
    for is_windows, words in ((True, windows_words), (False, linux_words)):
        refused = pytest.raises(Invalid, match=f"^{re.escape(words)}$") if words else nullcontext()
        with refused:
            wanted_sub_path(mount, environment, is_windows=is_windows)


def test_parts_of_a_sub_path() -> None:
    mount = {"subPath": "a//./b\\c/"}
    assert wanted_sub_path(mount, {}, is_windows=True) == "a/b/c"
    assert wanted_sub_path(mount, {}, is_windows=False) == "a/b\\c"


def host_path(root: Path, path: str, type_: str, *, is_windows: bool = False) -> Path:
    platform = windows(profile_of(BUILDS[3])) if is_windows else linux()
    fd = open_host_path(RootedFiles(root), path, type_, platform)
    with closing(fd):
        return Path(os.readlink(f"/proc/self/fd/{fd}"))


def test_host_path_types(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert host_path(tmp_path, "/file", "File") == tmp_path / "file"
    assert host_path(tmp_path, "/", "Directory") == tmp_path
    assert host_path(tmp_path, "/new/sub", "DirectoryOrCreate") == tmp_path / "new/sub"
    assert host_path(tmp_path, "/f2", "FileOrCreate") == tmp_path / "f2"
    assert host_path(tmp_path, "/any/thing", "") == tmp_path / "any/thing"
    with pytest.raises(FileNotFoundError):
        host_path(tmp_path, "/other", "", is_windows=True)
    for kind, words in (
        ("Directory", "is not a directory"),
        ("DirectoryOrCreate", "is not a directory"),
        ("Socket", "is not a socket file"),
        ("CharDevice", "is not a character device"),
        ("BlockDevice", "is not a block device"),
    ):
        with pytest.raises(Invalid, match=words):
            host_path(tmp_path, "/file", kind)
    with pytest.raises(Invalid, match="is not a file"):
        host_path(tmp_path, "/new", "FileOrCreate")
    with pytest.raises(Invalid, match="invalid volume type"):
        host_path(tmp_path, "/file", "Odd")


@pytest.mark.parametrize(
    ("type_", "target"),
    [
        ("", "host"),
        ("Directory", "host"),
        ("DirectoryOrCreate", "host"),
        ("File", "host/file"),
        ("FileOrCreate", "host/file"),
        ("Socket", "host/socket"),
        ("CharDevice", "/dev/null"),
        ("BlockDevice", "/dev/vda"),
    ],
)
def test_a_link_of_the_node_does_not_lead_to_the_machine(
    tmp_path: Path, type_: str, target: str
) -> None:
    """Whatever the type, and whether the link is the last part of the path or before it."""
    root, host = tmp_path / "root", tmp_path / "host"
    root.mkdir()
    host.mkdir()
    (host / "file").write_text("")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(host / "socket"))
    real = tmp_path / target
    for link, path in (("last", "/last"), ("before", f"/before/{real.name}")):
        (root / link).symlink_to(real if link == "last" else real.parent)
        try:
            opened_path = host_path(root, path, type_)
        except (OSError, Invalid):
            continue
        assert opened_path.is_relative_to(root)
    assert sorted(one.name for one in host.iterdir()) == ["file", "socket"]


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
