"""The linter: Deployments a second in a warm process, and what one command takes.

All is processor time of one core, which other programs on the machine change little.

``--kubeconform FILE``: the program to compare with; it checks schemas and knows no Windows. Its
schemas are those of kubernetes-validate, read from disk.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import page
from measure import Samples, milliseconds, table

COUNT = 1000
RUNS = 15
MANIFEST = (Path(__file__).parent / "lint_deployment.yaml").read_text(encoding="utf-8")


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--kubeconform", default="", help="program to compare with")


def measure(chosen: argparse.Namespace) -> None:
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        with tempfile.TemporaryDirectory(prefix="muntin-bench-") as name:
            folder = Path(name)
            for number, text in enumerate(_manifests()):
                (folder / f"{number}.yaml").write_text(text, encoding="utf-8")
            rows = [_warm(), *_commands("`muntin lint`", _muntin(), folder)]
            if chosen.kubeconform:
                with tempfile.TemporaryDirectory(prefix="muntin-bench-") as schemas:
                    command = _kubeconform(chosen.kubeconform, Path(schemas))
                    rows += _commands("kubeconform", command, folder)
    finally:
        os.sched_setaffinity(0, cores)
    page.write("lint", table(("what, in processor time", "median", "worst", "a second"), rows))


def _manifests() -> list[str]:
    return [MANIFEST.replace("win-webserver", f"web-{number}") for number in range(COUNT)]


def _warm() -> tuple[str, str, str, str]:
    """One file after the other in one process, each from its text to its findings."""
    from muntin.lint import lint_text

    texts = _manifests()
    samples = Samples()
    for _ in range(4):
        began = time.process_time()
        for text in texts:
            lint_text(text)
        samples.add(time.process_time() - began)
    samples.values.pop(0)  # the first warms up
    return _row(f"{COUNT} Deployments, warm process", samples, COUNT)


def _commands(name: str, command: tuple[str, ...], folder: Path) -> list[tuple[str, str, str, str]]:
    """One file, then all of them, each with a new process."""
    rows = []
    for text, paths, runs in (
        (f"{name}, one file", [str(folder / "0.yaml")], RUNS),
        (f"{name}, {COUNT} files", [str(folder)], 3),
    ):
        samples = Samples()
        for _ in range(runs):
            began = _children()
            done = subprocess.run((*command, *paths), capture_output=True, text=True, check=False)
            samples.add(_children() - began)
            if done.returncode != 0:
                sys.exit(f"bench: {' '.join(command)}: {done.stderr}")
        rows.append(_row(text, samples, COUNT if paths == [str(folder)] else 0))
    return rows


def _children() -> float:
    """Processor time of all programs that were started and have ended, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _row(text: str, samples: Samples, count: int) -> tuple[str, str, str, str]:
    rate = f"{count / samples.median:,.0f}" if count else ""
    return text, milliseconds(samples.median), milliseconds(samples.worst), rate


def _muntin() -> tuple[str, ...]:
    return (str(Path(sys.executable).with_name("muntin")), "lint")


def _kubeconform(program: str, folder: Path) -> tuple[str, ...]:
    """With the schema of Deployments in one file, as it takes no other."""
    import kubernetes_validate

    schemas = Path(kubernetes_validate.__file__).parent / "kubernetes-json-schema/v1.34.0-local"
    whole = {}
    for name in ("_definitions.json", "deployment-apps-v1.json"):
        text = (schemas / name).read_text(encoding="utf-8")
        whole |= json.loads(text.replace("/api/_definitions.json#", "#"))
    (folder / "deployment-apps-v1.json").write_text(json.dumps(whole), encoding="utf-8")
    place = f"{folder}/{{{{.ResourceKind}}}}{{{{.KindSuffix}}}}.json"
    return (program, "-n", "1", "-schema-location", place)
