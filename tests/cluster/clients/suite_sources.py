"""Where a suite's tests come from, and its interpreter: fetched once, then kept in the cache."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
from pathlib import Path

import debian_archive
from suite_table import Suite
from whole_cluster import run

CACHE = Path.home() / ".cache" / "muntin" / "clients"


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
        debian_archive.source(suite.debian, place)
    else:
        return
    [archive] = place.glob("*.tar.gz")
    unpacked = place / "unpacked"
    unpacked.mkdir()
    run("tar", "-xzf", str(archive), "-C", str(unpacked), timeout_s=60)
    [top] = unpacked.iterdir()
    top.rename(place / "source")


def is_to_be_had(suite: Suite) -> bool:
    """Whether this machine can fetch the suite: only Debian has Debian's source packages."""
    if suite.debian:
        return debian_archive.is_there()
    return not suite.checkout or suite.checkout in os.environ
