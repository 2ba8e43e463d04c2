"""The page docs/reference/windows-gates.md as a function of the gates table."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from muntin.kit.errors import Invalid
from muntin.model.gates import Evidence, Gate, Kind, Otherwise
from muntin.model.windows import AREAS, GATES, MAX_BACKENDS, MAX_BACKENDS_NEWER, Feature
from muntin.model.windows.support import (
    LIFECYCLES,
    NETWORK_PLUGINS,
    RUNTIMES,
    Program,
    builds_of,
    lifecycle,
)
from muntin.model.windows_releases import API_VERSIONS, BUILDS

_EFFECTS = {
    Otherwise.REJECT: "refused with an error",
    Otherwise.IGNORE: "accepted, without effect",
    Otherwise.DEGRADE: "does not work",
    Otherwise.DIFFER: "works in another way",
}

_HEAD = """# What works on which Windows node

This page is made from the table in `src/muntin/model/windows/` by `make gen`; change it there.
None of the rows was compared with a real Windows machine: the evidence says where a fact is from.
"""


def markdown(shown: frozenset[Feature] = frozenset()) -> str:
    """The whole page; ``shown`` are the rows that a test shows at work."""
    parts = (_features(shown), _fidelity(shown), _builds(), _versions(), _programs())
    return "\n".join([_HEAD, *(line for part in parts for line in (*part, ""))])


def reproduced(sources: Iterable[str]) -> frozenset[Feature]:
    """The rows that tests say they show, by the mark ``reproduces`` in their sources.

    Raises:
        Invalid: a test names a row that does not exist.
    """
    found: set[Feature] = set()
    for source in sources:
        if "reproduces" not in source:
            continue
        tree = ast.parse(source)
        for node in ast.walk(tree):
            match node:
                case ast.Call(
                    func=ast.Name(id="reproduces") | ast.Attribute(attr="reproduces"), args=args
                ):
                    for argument in args:
                        found |= _rows_of(argument, tree)
    return frozenset(found)


def _rows_of(argument: ast.expr, tree: ast.Module) -> set[Feature]:
    """``Feature.DSR``, or a name that runs over the keys of a table of the file."""
    match argument:
        case ast.Attribute(attr=name) if name in Feature.__members__:
            return {Feature[name]}
        case ast.Name(id=name):
            tables = [
                loop.iter.id
                for node in ast.walk(tree)
                if isinstance(node, ast.ListComp | ast.GeneratorExp)
                for loop in node.generators
                if isinstance(loop.target, ast.Name) and loop.target.id == name
                if isinstance(loop.iter, ast.Name)
            ]
            rows = [key for table in tables for key in _keys(table, tree)]
            if rows:
                return {one for key in rows for one in _rows_of(key, tree)}
    raise Invalid(f"{ast.unparse(argument)} is no row of the gates table")


def _keys(table: str, tree: ast.Module) -> list[ast.expr]:
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Dict(keys=keys)):
                if name == table:
                    return [key for key in keys if key is not None]
    return []


def _fidelity(shown: frozenset[Feature]) -> list[str]:
    """How many behaviours are shown by a test, of all, by class of evidence."""
    rows = [
        "## Fidelity",
        "",
        "How many of the behaviours in the table a test shows through kubectl, a process, a packet "
        "or an answer of the API. Code acts on more of them; of the others the table says why not.",
        "",
        "| evidence | behaviours | acted on | shown by a test |",
        "|---|---|---|---|",
    ]
    behaviours = {name: row for name, row in GATES.items() if row.kind is Kind.BEHAVIOUR}
    for evidence in (*Evidence, None):
        names = [name for name, row in behaviours.items() if evidence in (None, row.evidence)]
        acted = sum(not behaviours[name].not_yet for name in names)
        tested = sum(name in shown for name in names)
        rows.append(f"| {evidence or 'all'} | {len(names)} | {acted} | {tested} |")
    return rows


def _features(shown: frozenset[Feature]) -> list[str]:
    """One section for each area, in it one table for each kind of rows."""
    lines = [
        "## The rows",
        "",
        "A row says nothing of nodes outside of what it speaks of. The last column says whether a "
        "test shows a behaviour, why nothing acts on it yet, or the check or page of a procedure.",
    ]
    for area, rows in AREAS.items():
        lines += ["", f"### {area}"]
        for kind in Kind:
            named = [(feature, row) for feature, row in rows.items() if row.kind is kind]
            if named:
                lines += ["", f"{_KINDS[kind]}:", "", *_TABLE]
                lines += [_line(feature, row, feature in shown) for feature, row in named]
    return [
        *lines,
        "",
        f"One load balancer takes {MAX_BACKENDS} endpoints, or {MAX_BACKENDS_NEWER} where "
        "`more-than-64-backends` works.",
    ]


_KINDS = {
    Kind.BEHAVIOUR: "Behaviour",
    Kind.SUPPORT: "What is supported",
    Kind.PROCEDURE: "Procedures",
}
_TABLE = [
    "| feature | what it means | speaks of | works on | elsewhere | instead | touches | evidence "
    "| source | here |",
    "|---|---|---|---|---|---|---|---|---|---|",
]


def _line(feature: Feature, row: Gate, is_shown: bool) -> str:
    elsewhere = _EFFECTS[row.otherwise]
    if row.message:
        elsewhere += f": \u201c{row.message}\u201d"
    source = row.source + (f"; wins over `{row.overrides}`" if row.overrides else "")
    cells = (
        f"`{feature}`",
        row.summary,
        row.scope_text(),
        row.where(),
        elsewhere,
        row.advice,
        ", ".join(f"`{path}`" for path in row.applies_to),
        row.evidence,
        source,
        row.not_yet or row.page or ("shown by a test" if is_shown else ""),
    )
    return f"| {' | '.join(_cell(str(cell)) for cell in cells)} |"


def _cell(text: str) -> str:
    """A bar would end the cell."""
    return text.replace("|", "\\|")


def _builds() -> list[str]:
    rows = [
        "## Windows releases",
        "",
        "| build | names | product name | image tags | HNS (approximate) | channel "
        "| mainstream support until | last support | listed by |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in BUILDS:
        life = lifecycle(row.build)
        assert life is not None
        listed = life.kubernetes.text("Kubernetes") if life.kubernetes else "none"
        rows.append(
            f"| {row.full_version} | {', '.join(row.names)} | {row.product_name} "
            f"| {', '.join(row.tags)} | {row.hns[0]}.{row.hns[1]} | {life.channel} "
            f"| {life.mainstream} | {life.extended} | {listed} |"
        )
    return rows


def _versions() -> list[str]:
    versions = ", ".join(".".join(map(str, version)) for version in API_VERSIONS)
    oldest = min(row.kubernetes.low for row in LIFECYCLES if row.kubernetes and row.kubernetes.low)
    rows = [
        "## Kubernetes versions",
        "",
        f"The API server knows the schemas of {versions}.",
        "",
        "| Kubernetes | Windows builds that it lists for nodes |",
        "|---|---|",
    ]
    for minor in range(oldest[1], API_VERSIONS[-1][1] + 1):
        version = (oldest[0], minor)
        rows.append(f"| {oldest[0]}.{minor} | {', '.join(map(str, builds_of(version)))} |")
    return rows


def _programs() -> list[str]:
    rows = ["## Runtimes and network plugins"]
    for title, programs in (("runtime", RUNTIMES), ("network plugin", NETWORK_PLUGINS)):
        rows += [
            "",
            f"| {title} | since | with | on | HNS network | needs | source |",
            "|---|---|---|---|---|---|---|",
            *map(_program, programs),
        ]
    return rows


def _program(row: Program) -> str:
    return (
        f"| {row.name} | {'.'.join(map(str, row.oldest)) or '-'} "
        f"| {row.kubernetes.text('Kubernetes')} | {row.builds.text('build')} "
        f"| {row.network or '-'} | {row.needs or '-'} | {row.source} |"
    )
