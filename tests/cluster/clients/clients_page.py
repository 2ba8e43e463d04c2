"""docs/reference/clients.md, from suites.yaml and the lists of what passes."""

from __future__ import annotations

from itertools import groupby

import yaml
from suite_table import HERE, Suite, suites

INTRODUCTION = """\
# Test suites of client libraries

Suites that were written for Kubernetes, run unchanged against a cluster of Muntin's with one Linux
node. The one addition is a pytest plugin, `tests/cluster/clients/plugin/muntin_cluster.py`: it
stands in for the cluster tool that a suite starts (pytest-kind), for helpers that the Python
client's archive leaves out, and it leaves out the tests that are named here by their whole ids.

- Images come from a registry inside the node that answers for all registries of the world with
  images made on this machine: busybox under the names of `ubuntu`, `nginx` (its `httpd`) and so on.
- As in kube-apiserver, versions that left Kubernetes (`extensions/v1beta1` and the like), which
  `muntin up` serves for old documents, are off.
- What a suite's own tool has in `kube-system` is started first, or deleted where it has it not.

The archives are source archives of the Python Package Index, fetched with pip, and a source package
of Debian's, fetched with apt from the mirror that the machine uses; they and their environments
are kept in `~/.cache/muntin/clients`. `make check` runs the runs that say so, `make clients` every
one, and both compare the tests that pass with `tests/cluster/clients/passed/`. A suite that is in
no archive runs from a checkout that an environment variable names; its rows say which one was run,
and when.

| suite | from | API | run by | passed | skipped | deselected |
|---|---|---|---|---|---|---|
"""

PROGRAMS = """
## Programs at work

Programs of others that watch a cluster and work on it, side by side on one hybrid cluster, each
with the rights that its documentation or chart gives it; a minute in `make check`, ten minutes in
`make programs`.

- **Prometheus 2.53** (client-go; `trixie/prometheus` of Debian: that of Debian 12 is built without
  the discovery). Its service discovery knows the pods, Services, EndpointSlices and Ingresses that
  come and go, and no others; it scrapes the API server and the kubelets of both systems.
- **Dask's operator** (kr8s and kopf; `dask-kubernetes` of PyPI, its kinds and rights from its Helm
  chart). Clusters of Deployments and Services come, grow and go; the containers are stand-ins.
- **kopf's examples** (kopf and pykube-ng; its source archive): children, builtins, daemons, timers
  and indices at once. Children go with their owners, daemons see their objects.

Their logs hold no line of an error or a warning but these:

"""


def markdown() -> str:
    """The page."""
    every = suites()
    rows = [
        f"| {one.name} | {_origin(one)} | {one.api} | {_run_by(one)} "
        f"| {len(one.passed())} | {len(one.skipped)} | {len(one.deselected)} |\n"
        for one in every
    ]
    sections = [_section(list(group)) for _, group in groupby(every, lambda one: one.name)]
    return INTRODUCTION + "".join(rows) + "".join(sections) + PROGRAMS + _complaints()


def _complaints() -> str:
    allowed = yaml.safe_load((HERE / "programs.yaml").read_text())
    lines = [
        f"- {program}: `{pattern}`: {reason}\n"
        for program, reasons in allowed.items()
        for pattern, reason in reasons.items()
    ]
    return "".join(lines)


def _run_by(suite: Suite) -> str:
    if suite.checkout:
        return "hand"
    return "`make check`" if suite.in_check else "`make clients`"


def _origin(suite: Suite) -> str:
    if suite.package:
        return f"PyPI: `{suite.package}`"
    if suite.debian:
        return f"Debian: `{suite.debian}`"
    return f"[{suite.commit[:7]}]({suite.repository}), `{suite.checkout}`, {suite.date}"


def _section(runs: list[Suite]) -> str:
    """What is not run of one suite, with the versions of the API that it holds for."""
    note = f"Note: {runs[0].note}.\n" if runs[0].note else ""
    lines = []
    for word in ("deselected", "skipped"):
        found: dict[tuple[str, str], list[str]] = {}
        for one in runs:
            for test, reason in getattr(one, word).items():
                found.setdefault((test, reason), []).append(one.api)
        for (test, reason), versions in found.items():
            where = "" if len(versions) == len(runs) else f" (API {', '.join(versions)})"
            lines.append(f"- {word}{where}: `{test}`\n  {reason}.\n")
    text = "\n".join(part for part in (note, "".join(lines)) if part)
    return f"\n## {runs[0].name}\n\n{text}" if text else ""
