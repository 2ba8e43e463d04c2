"""``muntin lint``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muntin.lint.findings import Finding
    from muntin.lint.profiles import Named
    from muntin.lint.report import Report
    from muntin.lint.settings import Settings
    from muntin.lint.sources import Source

_HELP = """Say what in manifests will not work on which Windows nodes.

PATH is a file, a directory (its manifests, CNI configurations and PowerShell scripts) or - for what
comes on stdin, such as the output of `helm template` or `kubectl kustomize`. All that is given is
linted together: a Service is judged by its pods.

\b
Examples:
  muntin lint deployment.yaml
  helm template shop ./chart | muntin lint -
  muntin lint --profile v1.20 --profile 1.34/2022 manifests/
  muntin lint --fix --diff manifests/           show what would be mended
  muntin lint --kubeconfig ~/.kube/config       a live cluster, for the nodes it has
  muntin lint --output sarif manifests/ > lint.sarif
  sudo muntin lint --prove --profile 1.34/2022 web.yaml    run it, and see

`# muntin: ignore RULE REASON` behind or above a line lets a finding stand. .muntin-lint.yaml in
this directory has settings. `muntin explain RULE` says more of a rule.

Exit codes: 0 nothing at or above --fail-on, 1 findings, 2 something could not be linted.
"""
FORMS = ("human", "json", "sarif", "junit", "github")
SEVERITIES = ("error", "warning", "info")
BROKEN = 2


class _Command(click.Command):
    """``--fix`` alone is ``--fix=safe``: what stands behind it is a path."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, ["--fix=safe" if one == "--fix" else one for one in args])


@click.command("lint", cls=_Command, help=_HELP, short_help="Say what will not work on Windows.")
@click.argument("paths", metavar="PATH...", nargs=-1)
@click.option(
    "--profile", "profiles", metavar="NAME", multiple=True,
    help="Nodes to lint for: v1.20, or KUBERNETES/WINDOWS[/RUNTIME[/PLUGIN]] such as 1.34/2022. "
    "Can be given several times.",
)  # fmt: skip
@click.option("--kubeconfig", metavar="FILE", help="Lint the objects of a live cluster.")
@click.option("--context", default="", help="A context of the kubeconfig, not its current one.")
@click.option("--output", "-o", type=click.Choice(FORMS), default="human", show_default=True)
@click.option("--level", type=click.Choice(SEVERITIES), help="Least to show.  [default: warning]")
@click.option(
    "--fail-on",
    type=click.Choice(SEVERITIES),
    help="Least that is exit code 1.  [default: warning]",
)
@click.option(
    "--registry", is_flag=True,
    help="Ask the registries of images for which Windows builds they are.",
)  # fmt: skip
@click.option(
    "--fix", type=click.Choice(["safe", "unsafe"]), metavar="[safe|unsafe]",
    help="Mend files in place; =unsafe also where something could have been meant.",
)  # fmt: skip
@click.option("--diff", is_flag=True, help="Print what --fix would change, and change nothing.")
@click.option(
    "--prove",
    is_flag=True,
    help="Run the objects on a cluster with a node of each profile, and tell what happened.",
)
@click.option(
    "--prove-wait", default=60.0, metavar="SECONDS", help="Longest wait for pods.  [default: 60]"
)
@click.option("--config", metavar="FILE", help="Settings, in place of ./.muntin-lint.yaml.")
def command(**flags: Any) -> int:
    """Findings on stdout; errors of use end in 2, as what cannot be linted does."""
    import gc

    gc.set_threshold(50_000)  # the start makes many objects and no garbage
    from muntin.cli import errors
    from muntin.kit.errors import MuntinError

    try:
        return _lint(**flags)
    except MuntinError as err:
        errors.fail(err.message, BROKEN)
    except BrokenPipeError:
        raise
    except OSError as err:
        errors.fail(f"{err.filename}: {err.strerror}", BROKEN)


def _lint(
    *,
    paths: tuple[str, ...],
    profiles: tuple[str, ...],
    kubeconfig: str | None,
    context: str,
    output: str,
    level: str | None,
    fail_on: str | None,
    registry: bool,
    fix: str | None,
    diff: bool,
    prove: bool,
    prove_wait: float,
    config: str | None,
) -> int:
    from muntin.lint import report, settings
    from muntin.lint.profiles import named
    from muntin.model.gates import Severity

    chosen = settings.load(config)
    wanted = [named(name) for name in profiles or chosen.profiles]
    sources, live = _sources(
        paths or (() if kubeconfig else chosen.paths), chosen, kubeconfig, context
    )
    wanted = wanted or live
    if fix or diff:
        sources = _fix(sources, wanted, chosen, unsafe=fix == "unsafe", show=diff)
    if registry:
        from muntin.lint import registries

        registries.ask(one.documents for one in sources)
    found = report.make(
        sources,
        wanted,
        level=Severity(level) if level else chosen.level or Severity.WARNING,
        ignore=chosen.ignore,
    )
    if prove and not found.broken:
        return _prove(sources, wanted, found.findings, output, prove_wait)
    if not diff:
        to_stderr = bool(fix) and "-" in paths
        click.echo(_written(found, output), err=to_stderr)
    if found.broken:
        return BROKEN
    least = Severity(fail_on) if fail_on else chosen.fail_on or Severity.WARNING
    return 1 if found.reaches(least) else 0


def _prove(
    sources: Sequence[Source],
    profiles: Sequence[Named],
    found: Sequence[Finding],
    output: str,
    wait_s: float,
) -> int:
    """0 when all came up well."""
    from muntin.cli.proving import prove
    from muntin.lint.profiles import default

    if output != "human":
        raise click.UsageError("--prove reports to people: leave --output out")
    documents = [document for source in sources for document in source.documents]
    names = [one.name for one in profiles] or [default().name]
    return 0 if prove(documents, found, names, wait_s) else 1


def _sources(
    paths: tuple[str, ...], chosen: Settings, kubeconfig: str | None, context: str
) -> tuple[list[Source], list[Named]]:
    """What is to be linted, and the profiles of a live cluster's nodes."""
    from muntin.lint import sources

    if not paths and kubeconfig is None:
        raise click.UsageError("no PATH: a file, a directory or - for stdin; or --kubeconfig")
    found = list(sources.collect(paths, sys.stdin.buffer.read, chosen.exclude))
    if kubeconfig is None:
        return found, []
    from muntin.lint import live

    objects, profiles = live.read(kubeconfig, context)
    return [*found, *objects], profiles


def _fix(
    found: Sequence[Source],
    profiles: Sequence[Named],
    chosen: Settings,
    *,
    unsafe: bool,
    show: bool,
) -> list[Source]:
    """Sources as they are when mended: in place, or only shown."""
    from muntin.kit import files
    from muntin.lint import fixing
    from muntin.lint.sources import STDIN, Source
    from muntin.lint.texts import read_text

    texts = {one.name: one.documents[0].text for one in found if one.documents and not one.live}
    without = frozenset(one.rule for one in chosen.ignore if not one.paths)
    mended = fixing.fixed(texts, profiles, unsafe=unsafe, without=without)
    result = []
    for one in found:
        new = mended.get(one.name)
        if new is not None and (show or one.name == STDIN):
            shown = fixing.difference(texts[one.name], new, one.name) if show else new
            click.echo(shown, nl=False)
        if new is None or new == texts[one.name]:
            result.append(one)
            continue
        if one.path is not None and not show:
            files.change(one.path, new.encode(one.encoding))
        result.append(one if show else Source(one.name, *read_text(new, one.name), one.path))
    return result


def _written(found: Report, output: str) -> str:
    import os

    if output == "human":
        from muntin.lint.outputs import human

        colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
        return human.write(found, colour=colour)
    if output == "json":
        from muntin.lint.outputs import json_form

        return json_form.write(found.findings)
    if output == "sarif":
        from importlib.metadata import version

        from muntin.lint.outputs import sarif

        return sarif.write(found.findings, version("muntin"))
    if output == "junit":
        from muntin.lint.outputs import junit

        return junit.write(found.findings, found.files)
    from muntin.lint.outputs import github

    return github.write(found.findings)
