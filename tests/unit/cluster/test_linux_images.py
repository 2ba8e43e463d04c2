"""Local images, containerd's configuration, and where a node's files are."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import tarfile
import time
import tomllib
from pathlib import Path

import pytest

from muntin.cluster.containerd import (
    ContainerdOptions,
    ContainerdPaths,
    config_toml,
    conflist_template,
)
from muntin.cluster.images_linux import (
    PAUSE_IMAGE,
    archive,
    busybox_image,
    pause_image,
    pause_program,
)
from muntin.cluster.node_files import LinuxNodeFiles, WindowsNodeFiles
from muntin.kit.errors import Invalid
from muntin.kubelet.node_files import MountLimits, closing


def test_archive_is_an_oci_layout_and_always_the_same() -> None:
    image = busybox_image(b"\x7fELF", ["sh", "ls", "busybox"])
    data = archive([image, pause_image()])
    assert archive([image, pause_image()]) == data
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        names = tar.getnames()
        index = json.loads(tar.extractfile("index.json").read())  # type: ignore[union-attr]
        manifest = index["manifests"][0]
        blob = f"blobs/{manifest['digest'].replace(':', '/')}"
        layers = json.loads(tar.extractfile(blob).read())["layers"]  # type: ignore[union-attr]
        layer = tar.extractfile(f"blobs/{layers[0]['digest'].replace(':', '/')}")
        assert layer is not None
        with tarfile.open(fileobj=io.BytesIO(layer.read())) as inner:
            files = {one.name: one for one in inner.getmembers()}
    assert names[0] == "oci-layout"
    tags = [row["annotations"]["io.containerd.image.name"] for row in index["manifests"]]
    assert {"docker.io/library/busybox:latest", PAUSE_IMAGE} <= set(tags)
    assert files["bin/sh"].linkname == "bin/busybox"
    assert files["tmp"].mode == 0o1777


@pytest.mark.parametrize("told", [signal.SIGTERM, signal.SIGINT])
def test_pause_waits_until_it_is_told_to_stop(tmp_path: Path, told: signal.Signals) -> None:
    program = tmp_path / "pause"
    program.write_bytes(pause_program())
    program.chmod(0o755)
    with subprocess.Popen([program]) as process:
        state = Path(f"/proc/{process.pid}/stat")
        for _ in range(3000):  # until it sleeps: what it does first is to take its signals
            if state.read_text().rpartition(") ")[2][:1] == "S":
                break
            time.sleep(0.01)
        assert process.poll() is None
        process.send_signal(told)
        assert process.wait(30) == 0
    assert pause_image().config["Entrypoint"] == ["/pause"]


def test_containerd_configuration_is_toml(tmp_path: Path) -> None:
    paths = ContainerdPaths.of(tmp_path / 'st"ate', tmp_path / "run")
    options = ContainerdOptions(sandbox_image="pause:1", restrict_oom_score_adj=True)
    config = tomllib.loads(config_toml(paths, options))
    cri = config["plugins"]["io.containerd.grpc.v1.cri"]
    assert config["root"] == os.fspath(tmp_path / 'st"ate' / "containerd")
    assert config["grpc"]["address"] == os.fspath(tmp_path / "run" / "cri.sock")
    assert cri["sandbox_image"] == "pause:1"
    assert cri["restrict_oom_score_adj"] is True
    assert cri["netns_mounts_under_state_dir"] is True
    assert cri["cni"]["conf_template"] == os.fspath(paths.cni_template)
    assert cri["containerd"]["runtimes"]["runc"]["runtime_type"] == "io.containerd.runc.v2"


def test_conflist_waits_for_the_pod_cidr(tmp_path: Path) -> None:
    conflist = json.loads(conflist_template(data_dir=tmp_path))
    ptp, portmap = conflist["plugins"]
    assert ptp["ipam"]["ranges"] == [[{"subnet": "{{.PodCIDR}}"}]]
    # A bridge would need br_netfilter for services between pods of one node.
    assert (ptp["type"], ptp["ipMasq"]) == ("ptp", False)
    assert portmap["capabilities"] == {"portMappings": True}


def test_files_of_a_linux_node(tmp_path: Path) -> None:
    """The kubelet's own folders are out of the node's root: a hostPath does not reach them."""
    files = LinuxNodeFiles(tmp_path)
    assert files.runtime("/var/lib/kubelet/pods") == str(tmp_path / "kubelet/pods")
    assert files.runtime("/var/log/pods/x") == str(tmp_path / "pod-logs/x")
    for path in ("/data", "/var/lib/kubelet/pods/../../../data", "/var/lib/kubeletx"):
        with pytest.raises(Invalid, match="not a folder of the kubelet"):
            files.runtime(path)
    (tmp_path / "root/usrx").mkdir(parents=True)
    for path, place in (("/a/../../usrx", tmp_path / "root/usrx"), ("/usr/bin", Path("/usr/bin"))):
        with closing(files.open_host(path, os.O_PATH)) as fd:
            assert os.path.samestat(os.fstat(fd), place.stat())


def test_nothing_is_made_or_removed_on_the_machine(tmp_path: Path) -> None:
    """A hostPath that makes what is missing, or a forged volume that is to be deleted."""
    files = LinuxNodeFiles(tmp_path)
    (tmp_path / "root").mkdir()
    os.close(files.make_host_folders("/usr/muntin-test/x"))
    os.close(files.open_host("/usr/muntin-test/file", os.O_WRONLY | os.O_CREAT, 0o600))
    os.close(files.open_host("/a/../usr/muntin-test/file", os.O_RDONLY))
    assert (tmp_path / "root/usr/muntin-test/x").is_dir()
    assert not _limits(files, "/usr/muntin-test").read_only
    files.remove_host("/usr/muntin-test")
    files.remove_host("/usr/bin")
    assert list((tmp_path / "root/usr").iterdir()) == []
    assert not Path("/usr/muntin-test").exists()
    assert Path("/usr/bin").is_dir()
    with closing(files.make_host_folders("/usr/bin")) as fd:
        assert os.path.samestat(os.fstat(fd), Path("/usr/bin").stat())


def _limits(files: LinuxNodeFiles, path: str, *, privileged: bool = False) -> MountLimits:
    with closing(files.open_host(path, os.O_PATH)) as fd:
        return files.mount_limits(fd, privileged=privileged)


def test_pods_only_read_what_the_machine_shares(tmp_path: Path) -> None:
    """A privileged container may change devices and kernel interfaces, but no programs."""
    files = LinuxNodeFiles(tmp_path)
    (tmp_path / "root/proc/own").mkdir(parents=True)
    (tmp_path / "root/link").symlink_to("/proc")
    for path in ("/usr/bin", "/bin", "/lib", "/a/../usr"):
        assert _limits(files, path).read_only
        assert _limits(files, path, privileged=True).read_only
    for path in ("/proc", "/proc/sys/kernel/core_pattern", "/sys", "/sys/fs", "/dev"):
        assert _limits(files, path).read_only
        assert not _limits(files, path, privileged=True).read_only
    for path in ("/dev/fd", "/dev/core"):  # links of the machine
        if Path(path).exists():
            assert _limits(files, path).read_only
    for path in ("/", "/proc/own", "/link/own"):
        assert not _limits(files, path).read_only


def test_each_node_has_shared_memory_and_terminals_of_its_own(tmp_path: Path) -> None:
    files = LinuxNodeFiles(tmp_path)
    (tmp_path / "root").mkdir()
    with closing(files.make_host_folders("/dev/shm")) as fd:
        assert os.path.samestat(os.fstat(fd), (tmp_path / "root/dev/shm").stat())
    with pytest.raises(FileNotFoundError):
        files.open_host("/dev/pts/0", os.O_PATH)
    assert not _limits(files, "/dev").recursive
    assert _limits(files, "/dev", privileged=True).recursive
    assert _limits(files, "/sys").recursive
    with closing(os.open("/dev/shm", os.O_PATH)) as fd:  # as by a subPath of /dev
        with pytest.raises(Invalid, match="privileged containers only"):
            files.mount_limits(fd, privileged=False)
        assert not files.mount_limits(fd, privileged=True).read_only


def test_files_of_a_windows_node(tmp_path: Path) -> None:
    (tmp_path / "windows").mkdir()
    files = WindowsNodeFiles(tmp_path)
    os.close(files.make_host_folders("C:\\Windows\\x"))
    assert (tmp_path / "windows/x").is_dir()
    assert files.runtime("C:\\Windows") == "C:\\Windows"
