"""One run of a client's own test suite: its archive, its environment, a cluster, the outcomes."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

import stand_in_images
from suite_table import HERE, Suite
from whole_cluster import Cluster, eventually, run

CACHE = Path.home() / ".cache" / "muntin" / "clients"
REGISTRY_PORT = 5000
LIMIT_S = 480
_preparing = Lock()

HOSTS_TOML = f"""\
server = "http://127.0.0.1:{REGISTRY_PORT}"
[host."http://127.0.0.1:{REGISTRY_PORT}"]
  capabilities = ["pull", "resolve"]
"""
# As kube-apiserver has it: the versions that only old documents use are off.
CLUSTER = """\
apiVersion: muntin.dev/v1alpha1
kind: Cluster
registryConfigDir: registries
apiServer:
  runtimeConfig: {extensions/v1beta1: false, apps/v1beta1: false, apps/v1beta2: false}
"""


def outcomes(suite: Suite, folder: Path) -> dict[str, str]:
    """What became of every test of ``suite``; ``folder`` is for the files of the run.

    Raises:
        AssertionError: it could not be run; the message holds the output.
    """
    with _preparing:  # pip alone keeps a processor busy, and runs of one suite share the folder
        source, python = _prepare(suite)
    cluster = Cluster(f"c{os.getpid()}{_digest(suite.id)[:4]}", folder)
    try:
        with _cluster(cluster, suite):
            return _run(suite, source, python, cluster)
    finally:
        cluster.down()


def _prepare(suite: Suite) -> tuple[Path, Path]:
    """The folder of the suite's sources and its interpreter, made once for the same pins."""
    what = [*([suite.package] if suite.package else []), *suite.requirements]
    place = CACHE / f"{suite.name}-{_digest(json.dumps([what, sys.version]))}"
    if not (place / "whole").exists():
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        run(sys.executable, "-m", "venv", str(place / "venv"), timeout_s=120)
        pip = (str(place / "venv/bin/pip"), "--disable-pip-version-check")
        run(*pip, "install", "--quiet", *what, timeout_s=400)
        if suite.package:
            name = suite.package.partition("==")[0]
            run(
                *pip, "download", "--quiet", "--no-deps", "--no-binary", name,
                "--dest", str(place), suite.package, timeout_s=200,
            )  # fmt: skip
            _unpack(place)
        (place / "whole").touch()
    source = Path(os.environ[suite.checkout]) if suite.checkout else place / "source"
    return source, place / "venv/bin/python"


def _unpack(place: Path) -> None:
    [archive] = place.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        tar.extractall(place / "unpacked", filter="data")
    [top] = (place / "unpacked").iterdir()
    top.rename(place / "source")


@contextmanager
def _cluster(cluster: Cluster, suite: Suite) -> Iterator[None]:
    registries = cluster.folder / "registries" / "_default"
    registries.mkdir(parents=True)
    (registries / "hosts.toml").write_text(HOSTS_TOML)
    file = cluster.folder / "cluster.yaml"
    file.write_text(CLUSTER)
    images = cluster.folder / "images.tar"
    stand_in_images.write(images, with_python=bool(suite.checkout))
    nodes = ("--linux-nodes", "1", "--windows-nodes", "0")
    cluster.up("--config", str(file), "--kubernetes-version", suite.api, *nodes)
    program = str(HERE / "stand_in_registry.py")
    inside = (sys.executable, "-m", "muntin", "shell", "--name", cluster.name, "lin01", "--")
    registry = subprocess.Popen(
        [*inside, sys.executable, program, str(images), str(REGISTRY_PORT)],
        env=cluster.environment, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        for name in suite.system:
            _start_system(cluster, name)
        for name in suite.absent:
            cluster.kubectl("delete", name)
        yield
    finally:
        registry.kill()
        registry.wait()


def _start_system(cluster: Cluster, name: str) -> None:
    place = ("-n", "kube-system", "-l", f"app={name}")
    cluster.kubectl("create", "deployment", name, "-n", "kube-system", "--image=nginx")
    eventually(lambda: cluster.get("pods", *place)["items"])
    cluster.wait_ready(*place)


def _run(suite: Suite, source: Path, python: Path, cluster: Cluster) -> dict[str, str]:
    results = cluster.folder / "results.json"
    deselected = [word for test in suite.deselected for word in ("--deselect", test)]
    environment = {
        **cluster.environment,
        "PATH": f"{python.parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(HERE / "plugin"),
        "CLIENT_SUITE_RESULTS": str(results),
    }
    began = time.monotonic()
    with (cluster.folder / "output.txt").open("w") as output:
        subprocess.run(
            [str(python.parent / "pytest"), "-p", "muntin_cluster", "-p", "no:cacheprovider", "-q",
             *suite.arguments, *deselected],
            cwd=source, env=environment, timeout=LIMIT_S, stdout=output, stderr=output, check=False,
        )  # fmt: skip
    text = (cluster.folder / "output.txt").read_text()
    assert results.exists(), f"{suite.id} did not run:\n{text[-4000:]}"
    found: dict[str, str] = json.loads(results.read_text())
    print(f"{suite.id}: {len(found)} tests in {time.monotonic() - began:.0f} s\n{text[-6000:]}")
    return found


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]
