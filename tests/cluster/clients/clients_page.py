"""docs/reference/clients.md, from suites.yaml and the lists of what passes."""

from __future__ import annotations

from itertools import groupby

from suite_table import Suite, suites

INTRODUCTION = """\
# Test suites of client libraries

Suites that were written for Kubernetes, run unchanged against a cluster of Muntin's with one Linux
node. The one addition is a pytest plugin, `tests/cluster/clients/plugin/muntin_cluster.py`: it
stands in for the cluster tool that a suite starts (pytest-kind), and for a helper that the Python
client's archive leaves out.

- Images come from a registry inside the node that answers for all registries of the world with
  images made on this machine: busybox under the names of `ubuntu`, `nginx` (its `httpd`) and so on.
- As in kube-apiserver, versions that left Kubernetes (`extensions/v1beta1` and the like), which
  `muntin up` serves for old documents, are off.
- What a suite's own tool has in `kube-system` is started first, or deleted where it has it not.

`make clients` fetches the source archives with pip, runs the suites and compares
the tests that pass with `tests/cluster/clients/passed/`. Suites that are in no archive run from a
checkout that an environment variable names; the rows say which one was run, and when.

| suite | from | API | passed | skipped | deselected |
|---|---|---|---|---|---|
"""


def markdown() -> str:
    """The page."""
    every = suites()
    rows = [
        f"| {one.name} | {_origin(one)} | {one.api} | {len(one.passed())} "
        f"| {len(one.skipped)} | {len(one.deselected)} |\n"
        for one in every
    ]
    sections = [_section(list(group)) for _, group in groupby(every, lambda one: one.name)]
    return INTRODUCTION + "".join(rows) + "".join(sections)


def _origin(suite: Suite) -> str:
    if suite.package:
        return f"`{suite.package}`"
    return f"[{suite.commit[:7]}]({suite.repository}), `{suite.checkout}`, {suite.date}"


def _section(runs: list[Suite]) -> str:
    """What is not run of one suite, with the versions of the API that it holds for."""
    lines = [f"Note: {runs[0].note}.\n\n"] if runs[0].note else []
    for word in ("deselected", "skipped"):
        found: dict[tuple[str, str], list[str]] = {}
        for one in runs:
            for test, reason in getattr(one, word).items():
                found.setdefault((test, reason), []).append(one.api)
        for (test, reason), versions in found.items():
            where = "" if len(versions) == len(runs) else f" (API {', '.join(versions)})"
            lines.append(f"- {word}{where}: `{test}`\n  {reason}.\n")
    return f"\n## {runs[0].name}\n\n" + "".join(lines) if lines else ""
