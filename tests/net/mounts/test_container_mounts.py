"""Container volumes while a process swaps folders and links: no mount leads to the host."""

from __future__ import annotations

import asyncio
import ctypes
import os
import shutil
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any, cast

import pytest

from muntin.cluster.node_files import LinuxNodeFiles, WindowsNodeFiles
from muntin.kit import mounts
from muntin.kit.clock import FakeClock
from muntin.kit.errors import Invalid, MuntinError, NotFound
from muntin.kubelet.config import KubeletConfig, NodeFacts
from muntin.kubelet.mounts import conceal_mounts, container_mounts
from muntin.kubelet.platform import linux, windows
from muntin.kubelet.volumes.mounter import Volume, VolumeMounter
from muntin.kubelet.volumes.tokens import TokenSource
from muntin.model.windows_releases import DEFAULT_BUILD, build_named, profile_of
from muntin.winruntime.mounts import bind_mounts, detach_mounts
from muntin.winruntime.windows_paths import HostDrive

ROUNDS = 200
PROFILE = profile_of(build_named(str(DEFAULT_BUILD)))
FACTS = NodeFacts(
    os_image="", kernel_version="", cpus=1, memory_bytes=1, ephemeral_storage_bytes=1,
    machine_id="", system_uuid="",
)  # fmt: skip
POD: dict[str, Any] = {
    "metadata": {"name": "p", "namespace": "n", "uid": "u"},
    "spec": {"containers": []},
}
_libc = ctypes.CDLL(None, use_errno=True)
_RENAME_EXCHANGE = 2


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "host").mkdir()
    (tmp_path / "host/whose").write_text("host")
    yield tmp_path
    for row in reversed(mounts.below([tmp_path])):
        mounts.detach(row.target)


def config(files: LinuxNodeFiles | WindowsNodeFiles) -> KubeletConfig:
    is_windows = isinstance(files, WindowsNodeFiles)
    return KubeletConfig(
        node_name="n", node_ip="10.0.0.1", version="v1.34.0", facts=FACTS, files=files,
        platform=windows(PROFILE) if is_windows else linux(),
    )  # fmt: skip


def linux_node(place: Path) -> tuple[KubeletConfig, Path]:
    """A node's configuration, and its root as pods with a hostPath see it."""
    files = LinuxNodeFiles(place / "node")
    files.prepare()
    return config(files), place / "node/root"


@contextmanager
def exchanging(folder: Path, link: Path) -> Iterator[None]:
    """Let the two change names as fast as the kernel does it."""
    stop, one, two = threading.Event(), os.fsencode(folder), os.fsencode(link)

    def exchange() -> None:
        while not stop.is_set():
            _libc.renameat2(-100, one, -100, two, _RENAME_EXCHANGE)

    thread = threading.Thread(target=exchange)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def whose(source: str) -> str:
    """What a runtime would mount that was given ``source``, some time later."""
    return (Path(source) / "whose").read_text()


def volume_mounts(settings: KubeletConfig, volume: Volume, **mount: Any) -> list[dict[str, Any]]:
    row = {"name": "v", "mountPath": "/v", **mount}
    return container_mounts(
        POD, {"name": "c", "volumeMounts": [row]}, 0,
        config=settings, volumes={"v": volume}, environment={}, ips=("10.0.0.2",),
    )[:1]  # fmt: skip


def conceal(settings: KubeletConfig) -> None:
    conceal_mounts(POD, {"name": "c", "volumeMounts": [{"name": "v"}]}, settings)


def race(settings: KubeletConfig, volume: Volume, mount: dict[str, Any], place: Path) -> list[str]:
    seen = []
    for _ in range(ROUNDS):
        try:
            mounts = volume_mounts(settings, volume, **mount)
            seen.append(whose(source_of(settings, mounts, place)))
        except (MuntinError, OSError):
            seen.append("")
        finally:
            detach_mounts(place / "shown")
            conceal(settings)
    return seen


def no_images(name: str) -> list[Path]:
    raise NotFound(name)


def source_of(settings: KubeletConfig, found: list[dict[str, Any]], place: Path) -> str:
    """What the OCI runtime is given: on Windows our runtime looks first."""
    if not settings.is_windows:
        return str(found[0]["host_path"])
    shown = place / "shown"
    for old in shown.iterdir() if shown.is_dir() else ():
        old.rmdir()
    drive = HostDrive(place / "c")
    return str(bind_mounts(found, drive, PurePosixPath, PROFILE, shown, no_images)[0]["source"])


@pytest.mark.parametrize("system", ["linux", "windows"])
def test_a_sub_path_that_is_exchanged_for_a_link(place: Path, system: str) -> None:
    if system == "linux":
        settings, _ = linux_node(place)
        volume, local = Volume("/var/lib/kubelet/pods/u/v"), place / "node/kubelet/pods/u/v"
    else:
        settings = config(WindowsNodeFiles(place / "c"))
        volume = Volume("C:\\var\\lib\\kubelet\\pods\\u\\v")
        local = place / "c/var/lib/kubelet/pods/u/v"
    (local / "a/data").mkdir(parents=True)
    (local / "a/data/whose").write_text("volume")
    (place / "host/data").mkdir()
    (place / "host/data/whose").write_text("host")
    (local / "b").symlink_to(place / "host")
    with exchanging(local / "a", local / "b"):
        seen = race(settings, volume, {"subPath": "a/data"}, place)
    assert set(seen) <= {"volume", ""}
    assert "volume" in seen
    assert not [row for row in mounts.below([place]) if "volume-subpaths" in row.target]


@pytest.mark.parametrize("system", ["linux", "windows"])
def test_a_host_path_that_is_exchanged_for_a_link(place: Path, system: str) -> None:
    if system == "linux":
        settings, root = linux_node(place)
        volume = Volume("/shared/a/data", is_host=True, host_type="Directory")
    else:
        settings, root = config(WindowsNodeFiles(place / "c")), place / "c"
        volume = Volume("C:\\shared\\a\\data", is_host=True, host_type="Directory")
    (root / "shared/a/data").mkdir(parents=True)
    (root / "shared/a/data/whose").write_text("node")
    (place / "host/data").mkdir()
    (place / "host/data/whose").write_text("host")
    (root / "shared/b").symlink_to(place / "host")
    with exchanging(root / "shared/a", root / "shared/b"):
        seen = race(settings, volume, {}, place)
    assert set(seen) <= {"node", ""}
    assert "node" in seen


def test_every_type_of_host_path_is_mounted_by_descriptor(place: Path) -> None:
    settings, root = linux_node(place)
    (root / "file").write_text("")
    os.mknod(root / "socket", 0o600 | stat.S_IFSOCK)
    kinds = {
        "": ("/made", stat.S_ISDIR),
        "Directory": ("/made", stat.S_ISDIR),
        "DirectoryOrCreate": ("/made/too", stat.S_ISDIR),
        "File": ("/file", stat.S_ISREG),
        "FileOrCreate": ("/file2", stat.S_ISREG),
        "Socket": ("/socket", stat.S_ISSOCK),
        "CharDevice": ("/dev/null", stat.S_ISCHR),
    }
    for type_, (path, is_kind) in kinds.items():
        volume = Volume(path, is_host=True, host_type=type_)
        source = Path(volume_mounts(settings, volume)[0]["host_path"])
        assert source == place / "node/kubelet/pods/u/volume-subpaths/v/c/0"
        assert is_kind(source.lstat().st_mode), type_
        conceal(settings)
        assert not mounts.below([source])


def test_what_is_read_only_is_so_for_the_runtime_too(place: Path) -> None:
    """runc 1.2 and newer would mount it for writing again."""
    settings, root = linux_node(place)
    (root / "link").symlink_to("/var/lib/kubelet")
    (root / "data").mkdir()
    kinds = {"/var/lib/kubelet": True, "/link": True, "/link/pods": True, "/var/lib": False}
    os.close(settings.files.make_folders("/var/lib/kubelet/pods"))
    for path, read_only in {**kinds, "/proc": True, "/usr": True, "/data": False}.items():
        (mount,) = volume_mounts(settings, Volume(path, is_host=True))
        assert mount["readonly"] is read_only, path
        conceal(settings)


@pytest.mark.parametrize("privileged", [False, True])
def test_kernel_interfaces_are_for_privileged_containers(place: Path, privileged: bool) -> None:
    settings, _ = linux_node(place)
    row = {"name": "v", "mountPath": "/v"}
    container = {"name": "c", "securityContext": {"privileged": privileged}}
    for path in ("/proc/sys/kernel", "/sys/kernel", "/dev"):
        volumes = {"v": Volume(path, is_host=True)}
        mount, *_ = container_mounts(
            POD, {**container, "volumeMounts": [row]}, 0,
            config=settings, volumes=volumes, environment={}, ips=("10.0.0.2",),
        )  # fmt: skip
        assert mount["readonly"] is not privileged
        flags = os.statvfs(mount["host_path"]).f_flag
        assert bool(flags & os.ST_RDONLY) is not privileged
        conceal(settings)
    if privileged:
        return
    pts = {**row, "subPath": "pts"}
    with pytest.raises(Invalid, match="/dev/pts of the machine is for privileged containers"):
        container_mounts(
            POD, {**container, "volumeMounts": [pts]}, 0,
            config=settings, volumes=volumes, environment={}, ips=("10.0.0.2",),
        )  # fmt: skip


def test_programs_of_the_machine_are_read_only(place: Path) -> None:
    settings, _ = linux_node(place)
    source = volume_mounts(settings, Volume("/usr/../usr/share", is_host=True))[0]["host_path"]
    assert os.listdir(source) == os.listdir("/usr/share")
    with pytest.raises(OSError, match="Read-only"):
        (Path(source) / "muntin-test").touch()


def test_an_empty_dir_in_memory(place: Path) -> None:
    settings, _ = linux_node(place)
    nothing, tokens = cast(Any, None), TokenSource(cast(Any, None), FakeClock())
    mounter = VolumeMounter(settings.platform, settings.files, nothing, tokens, "10.0.0.1")
    source = {"medium": "Memory", "sizeLimit": "1Mi"}
    spec = {"volumes": [{"name": "m", "emptyDir": source}], "securityContext": {"fsGroup": 77}}
    pod = {**POD, "spec": {**POD["spec"], **spec}}
    for _ in range(2):
        ready = asyncio.run(mounter.prepare(pod, {}))["m"]
    local = Path(settings.files.runtime(ready.path))
    status = local.stat()
    assert (stat.S_IMODE(status.st_mode), status.st_gid) == (0o2777, 77)
    assert [row.kind for row in mounts.below([local])] == ["tmpfs"]
    with pytest.raises(OSError, match="No space"):
        (local / "file").write_bytes(bytes(2 << 20))
    asyncio.run(mounter.remove("u"))
    assert not mounts.below([place / "node/kubelet"])
    assert list((place / "node/kubelet/pods").iterdir()) == []


def test_a_pod_that_goes_takes_its_mounts_along_and_nothing_else(place: Path) -> None:
    """A kubelet that is killed while a container starts leaves mounts of files of others."""
    settings, root = linux_node(place)
    (root / "data").mkdir()
    (root / "data/kept").write_text("")
    source = volume_mounts(settings, Volume("/data", is_host=True))[0]["host_path"]
    assert (Path(source) / "kept").exists()
    settings.files.remove("/var/lib/kubelet/pods/u")
    assert list((place / "node/kubelet/pods").iterdir()) == []
    assert (root / "data/kept").exists()


def test_the_nodes_root_shows_logs_read_only(place: Path) -> None:
    settings, root = linux_node(place)
    os.close(settings.files.make_folders("/var/log/pods/n_p_u"))
    assert (root / "var/log/pods/n_p_u").is_dir()
    with pytest.raises(OSError, match="Read-only"):
        (root / "var/log/pods/n_p_u").rmdir()
    before = len(mounts.below([place]))
    LinuxNodeFiles(place / "node").prepare()
    assert len(mounts.below([place])) == before


def test_a_pod_that_ruins_the_nodes_root_does_not_keep_the_node_from_starting(place: Path) -> None:
    (place / "node/root").mkdir(parents=True)
    (place / "node/root/var").write_text("")
    settings, _ = linux_node(place)
    os.close(settings.files.make_folders("/var/lib/kubelet/pods"))
    assert (place / "node/kubelet/pods").is_dir()


def test_mounts_of_windows_go_below_c_the_outer_first(place: Path) -> None:
    wanted = [
        {"container_path": "C:\\a\\b", "host_path": "C:\\x", "readonly": True},
        {"container_path": "c:/a", "host_path": "C:\\y"},
    ]
    bound = bind_mounts(
        wanted, HostDrive(place), PurePosixPath, PROFILE, place / "shown", no_images
    )
    assert [m["destination"] for m in bound] == ["/prefix/drive_c/a", "/prefix/drive_c/a/b"]
    assert [m["options"][1] for m in bound] == ["rw", "ro"]
    (place / "x/file").touch()
    assert [(Path(m["source"]) / "file").exists() for m in bound] == [False, True]
    detach_mounts(place / "shown")
    assert mounts.below([place / "shown"]) == []


def test_the_hosts_file_of_windows_is_that_of_linux_programs_too(place: Path) -> None:
    (place / "h").write_text("1.2.3.4 name")
    target = "C:\\Windows\\System32\\drivers\\etc\\hosts"
    wanted = [{"container_path": target, "host_path": "C:\\h"}]
    mounts = bind_mounts(
        wanted, HostDrive(place), PurePosixPath, PROFILE, place / "shown", no_images
    )
    drive = "/prefix/drive_c/Windows/System32/drivers/etc/hosts"
    assert [m["destination"] for m in mounts] == [drive, "/etc/hosts"]
    assert {Path(m["source"]).read_text() for m in mounts} == {"1.2.3.4 name"}


def test_an_image_of_windows_as_a_volume(place: Path) -> None:
    """The layers lie over each other; a link in the image leads nowhere else."""
    for layer, text in (("low", "old"), ("high", "new")):
        (place / layer / "data").mkdir(parents=True)
        (place / layer / "data/whose").write_text(text)
        (place / layer / f"data/{layer}").touch()
    (place / "high/link").symlink_to(place / "host")

    def source(below: str) -> Path:
        shutil.rmtree(place / "shown", ignore_errors=True)
        mount = {
            "container_path": "C:\\v",
            "image": {"image": "i"},
            "image_sub_path": below,
            "readonly": True,
        }
        (found,) = bind_mounts(
            [mount], HostDrive(place), PurePosixPath, PROFILE, place / "shown",
            lambda name: [place / "high", place / "low", place / "absent"] if name == "i" else [],
        )  # fmt: skip
        assert found["options"][1] == "ro"
        return Path(found["source"])

    whole = source("")
    assert sorted(one.name for one in (whole / "data").iterdir()) == ["high", "low", "whose"]
    with pytest.raises(OSError, match="Read-only"):
        (whole / "new").touch()
    detach_mounts(place / "shown")
    assert whose(str(source("data"))) == "new"
    detach_mounts(place / "shown")
    for below in ("link", "data/whose", "absent"):
        with pytest.raises(Invalid, match=f"no folder '{below}' in the image"):
            source(below)
        detach_mounts(place / "shown")
    assert not mounts.below([place / "shown"])
