"""Where a suite's tests come from, and its interpreter: fetched once, then kept in the cache."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import tarfile
from pathlib import Path

from suite_table import Suite
from whole_cluster import run

CACHE = Path.home() / ".cache" / "muntin" / "clients"

# apt with lists of its own, which hold Debian's source packages; the machine's stay as they are.
APT = """\
Dir::State::Lists "{folder}/lists";
Dir::Cache "{folder}/cache";
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "{folder}/sources";
APT::Sandbox::User "root";
"""
DEBIAN_SOURCES = """\
Types: deb-src
URIs: {mirror}
Suites: {release}
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
"""


def prepare(suite: Suite) -> tuple[Path, Path]:
    """The folder of the suite's sources and its interpreter, made once for the same pins."""
    what = [suite.package, suite.debian, *suite.requirements, sys.version]
    place = CACHE / f"{suite.name}-{digest(json.dumps(what))}"
    if not (place / "whole").exists():
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        run(sys.executable, "-m", "venv", str(place / "venv"), timeout_s=600)
        wanted = [*([suite.package] if suite.package else []), *suite.requirements]
        _pip(place, "install", *wanted)
        _fetch(suite, place)
        (place / "whole").touch()
    source = Path(os.environ[suite.checkout]) if suite.checkout else place / "source"
    return source, place / "venv/bin/python"


def digest(text: str) -> str:
    """A short name for ``text``."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _pip(place: Path, verb: str, *words: str) -> None:
    pip = (str(place / "venv/bin/pip"), "--disable-pip-version-check")
    run(*pip, verb, "--quiet", *words, timeout_s=900)


def _fetch(suite: Suite, place: Path) -> None:
    if suite.package:
        name = suite.package.partition("==")[0]
        only = ("--no-deps", "--no-binary", name, "--dest", str(place))
        _pip(place, "download", *only, suite.package)
    elif suite.debian:
        _debian_source(suite.debian, place)
    else:
        return
    [archive] = place.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        tar.extractall(place / "unpacked", filter="data")
    [top] = (place / "unpacked").iterdir()
    top.rename(place / "source")


def _debian_source(wanted: str, place: Path) -> None:
    """Upstream's archive of a Debian source package, ``RELEASE/PACKAGE=VERSION``, into ``place``.

    It comes from the mirror that this machine has its packages of; apt checks the signature.
    """
    release, _, package = wanted.partition("/")
    folder = place / "apt"
    for name in ("lists", "cache/archives", "sources"):
        (folder / name).mkdir(parents=True)
    (folder / "apt.conf").write_text(APT.format(folder=folder))
    sources = DEBIAN_SOURCES.format(mirror=_mirror(), release=release)
    (folder / "sources" / "debian.sources").write_text(sources)
    environment = {**os.environ, "APT_CONFIG": str(folder / "apt.conf")}
    run("apt-get", "update", "-qq", env=environment, timeout_s=300)
    source = ("apt-get", "source", "-qq", "--download-only", "--tar-only", package)
    run(*source, env=environment, cwd=place, timeout_s=300)
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


def is_to_be_had(suite: Suite) -> bool:
    """Whether this machine can fetch the suite: only Debian has Debian's source packages."""
    if suite.debian:
        return "\nID=debian\n" in f"\n{Path('/etc/os-release').read_text()}\n"
    return not suite.checkout or suite.checkout in os.environ
