"""Small rules: environment, mounts, limits, exit codes, accounts, known images, paths."""

from pathlib import Path, PurePosixPath

import pytest

from muntin.kit.errors import Invalid, NotFound, Unsupported
from muntin.model.windows import Feature
from muntin.model.windows_releases import build_named, profile_of
from muntin.seams.oci.reference import parse
from muntin.winruntime.base.users import user_named
from muntin.winruntime.environment import container_environment
from muntin.winruntime.exit_codes import ending, signed, time_to_end
from muntin.winruntime.known_images import known_image
from muntin.winruntime.mounts import bind_mounts, destination
from muntin.winruntime.resources import MAX_PIDS, limits
from muntin.winruntime.windows_paths import HostDrive, drive_path

PROFILE = profile_of(build_named("2019"))


def test_variables_are_one_whatever_their_case() -> None:
    pod = [{"key": "PATH", "value": b"C:\\p"}, {"key": "b", "value": b"1"}]
    assert container_environment(["Path=C:\\i", "A=x=y"], pod) == {
        "Path": "C:\\p", "A": "x=y", "b": "1",
    }  # fmt: skip


@pytest.mark.parametrize(
    "path", ["C:\\a\\b", "c:/a/b", "/a/b", "\\a\\b", "a/./b", "C:\\a\\x\\..\\b"]
)
def test_a_windows_path_below_its_drive(path: str) -> None:
    assert drive_path(path) == PurePosixPath("a/b")


@pytest.mark.parametrize("path", ["D:\\a", "\\\\server\\share", "C:\\..\\a"])
def test_a_path_that_is_not_on_the_drive(path: str) -> None:
    with pytest.raises(Invalid):
        drive_path(path)


def test_the_node_s_names_keep_their_case(tmp_path: Path) -> None:
    (tmp_path / "Var/Lib").mkdir(parents=True)
    assert HostDrive(tmp_path).relative("c:\\var\\lib\\New") == "Var/Lib/New"


@pytest.mark.parametrize(("runtime", "asked", "given"), [
    ("containerd", 60, 60), ("docker", 60, 5), ("docker", 2, 2), ("docker", 0, 0)
])  # fmt: skip
def test_windows_waits_five_seconds_for_what_docker_stops(
    runtime: str, asked: float, given: float
) -> None:
    profile = profile_of(build_named("2019"), runtime=runtime)
    assert time_to_end(asked, profile) == given


@pytest.mark.reproduces(Feature.HOSTPATH_AUTOCREATE)
def test_docker_makes_no_folder_for_what_is_missing(tmp_path: Path) -> None:
    mounts = [{"container_path": "C:\\a", "host_path": "C:\\x"}]
    docker = profile_of(build_named("2019"), runtime="docker")
    with pytest.raises(Invalid, match=r"bind source path does not exist: C:\\x$"):
        bind_mounts(
            mounts, HostDrive(tmp_path), lambda path: path, docker, tmp_path / "mounts", list
        )
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("path", "error", "words"),
    [
        ("C:", Invalid, "destination path can not be C drive"),
        ("c:/", Invalid, "destination path can not be C drive"),
        ("D:\\x", Unsupported, "drive C: only"),
        ("\\\\.\\pipe\\x", Unsupported, "named pipe"),
    ],
)
def test_mounts_that_cannot_be(path: str, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        destination(path)


def test_limits_are_parts_of_the_whole_machine() -> None:
    half = limits({"cpu_maximum": 625, "memory_limit_in_bytes": 1 << 20}, cpus=8)
    assert (half.cpu_quota_us, half.cpu_period_us, half.memory_bytes) == (50_000, 100_000, 1 << 20)
    assert limits({"cpu_count": 2}, cpus=8).cpu_quota_us == 200_000
    assert limits({}, cpus=8).document() == {"pids": {"limit": MAX_PIDS}}
    with pytest.raises(Invalid, match="Count: '1', Limit: '2', and Weight: '0' are mutually excl"):
        limits({"cpu_count": 1, "cpu_maximum": 2}, cpus=8)


def test_exit_codes() -> None:
    assert [signed(n) for n in (0, 5, 0xC0000005, 0xC000013A)] == [0, 5, -1073741819, -1073741510]
    assert ending({"status": "3221225477", "wait_status": 5 << 8}, PROFILE).exit_code == -1073741819
    assert ending({"status": "", "wait_status": 9}, PROFILE).exit_code == 1
    assert ending({"status": "", "wait_status": 0}, PROFILE).reason == "Completed"
    killed = ending({"oom_kills": 1, "status": "0", "wait_status": 0}, PROFILE)
    assert (killed.exit_code, killed.reason) == (137, "Error")


def test_accounts_of_a_container() -> None:
    assert user_named("containeruser").uid == 1000
    assert user_named("NT AUTHORITY\\NETWORK SERVICE").name == "NETWORK SERVICE"
    for name in ("bob", "DOMAIN\\ContainerUser"):
        with pytest.raises(NotFound, match="The user name or password is incorrect"):
            user_named(name)


def test_names_that_stand_for_our_base() -> None:
    core = known_image(parse("mcr.microsoft.com/windows/servercore:1809-amd64"), PROFILE)
    assert core is not None
    assert (core.build, core.user) == (PROFILE.build, "ContainerAdministrator")
    pause = known_image(parse("registry.k8s.io/pause:3.9"), PROFILE)
    assert pause is not None
    assert pause.is_pause
    assert known_image(parse("docker.io/library/nginx"), PROFILE) is None
    newer = parse("mcr.microsoft.com/windows/servercore:ltsc2022")
    with pytest.raises(NotFound, match="no match for platform in manifest"):
        known_image(newer, PROFILE)
    docker = profile_of(build_named("2019"), runtime="docker")
    with pytest.raises(NotFound, match=r"no matching manifest for windows/amd64 10\.0\.17763"):
        known_image(newer, docker)
    host = profile_of(build_named("2025"))
    assert known_image(newer, host) is not None
