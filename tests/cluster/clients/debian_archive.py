"""Packages of a release of Debian, which this machine need not run: kept in a folder."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from whole_cluster import run

# apt with lists of its own; the machine's stay as they are.
APT = """\
Dir::State::Lists "{folder}/lists";
Dir::Cache "{folder}/cache";
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "{folder}/sources";
APT::Sandbox::User "root";
"""
SOURCES = """\
Types: {kind}
URIs: {mirror}
Suites: {release}
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
"""


def is_there() -> bool:
    """Whether this machine can fetch such packages: only Debian has Debian's keys and mirrors."""
    return "\nID=debian\n" in f"\n{Path('/etc/os-release').read_text()}\n"


def source(wanted: str, place: Path) -> None:
    """Upstream's archive of a source package, ``RELEASE/PACKAGE=VERSION``, into ``place``."""
    release, _, package = wanted.partition("/")
    with _apt("deb-src", release, place) as environment:
        command = ("apt-get", "source", "-qq", "--download-only", "--tar-only", package)
        run(*command, env=environment, cwd=place, timeout_s=300)


def program(wanted: str, place: Path) -> Path:
    """The folder that holds the files of a binary package, ``RELEASE/PACKAGE``; fetched once."""
    release, _, package = wanted.partition("/")
    unpacked = place / f"{package}-{release}"
    if unpacked.exists():
        return unpacked
    new = place / f".{package}-{release}"
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    with _apt("deb", release, new) as environment:
        run("apt-get", "download", "-qq", package, env=environment, cwd=new, timeout_s=300)
    [archive] = new.glob("*.deb")
    run("dpkg", "-x", str(archive), str(new / "files"), timeout_s=120)
    (new / "files").rename(unpacked)
    shutil.rmtree(new)
    return unpacked


@contextmanager
def _apt(kind: str, release: str, place: Path) -> Iterator[dict[str, str]]:
    """The environment of an apt that knows ``release`` alone.

    It comes from the mirror that this machine has its packages of; apt checks the signature.
    """
    folder = place / "apt"
    for name in ("lists", "cache/archives", "sources"):
        (folder / name).mkdir(parents=True)
    (folder / "apt.conf").write_text(APT.format(folder=folder))
    text = SOURCES.format(kind=kind, mirror=_mirror(), release=release)
    (folder / "sources" / "debian.sources").write_text(text)
    environment = {**os.environ, "APT_CONFIG": str(folder / "apt.conf")}
    run("apt-get", "update", "-qq", env=environment, timeout_s=300)
    yield environment
    shutil.rmtree(folder)


def _mirror() -> str:
    """Of Debian's own packages, not those of its security team."""
    if not _sites():  # nobody has asked this machine for packages yet
        run("apt-get", "update", "-qq", timeout_s=300)
    return _sites()[0]


def _sites() -> list[str]:
    words = ("apt-get", "indextargets", "--format", "$(SITE) $(RELEASE)", "Created-By: Packages")
    rows = [line.split() for line in run(*words).stdout.splitlines()]
    return [row[0] for row in rows if len(row) == 2 and "-" not in row[1] and row[0].strip("/")]
