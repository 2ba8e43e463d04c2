"""The page of the gates equals the table, the table is asked, and no version stands elsewhere."""

import ast
import re
from pathlib import Path

import pytest

from muntin.kit.errors import Invalid
from muntin.model.gates import Kind
from muntin.model.gates_page import markdown, reproduced
from muntin.model.windows import GATES, Feature
from muntin.model.windows_releases import BUILDS

ROOT = Path(__file__).parent.parent.parent
SOURCES = sorted((ROOT / "src/muntin").rglob("*.py"))
TABLES = {
    "feature_gates.py", "features.py", "kubelet_features.py", "lifecycle.py", "windows_releases.py",
}  # fmt: skip
ROWS = ROOT / "src/muntin/model/windows"
# The linter walks the table: that it names a row makes nothing behave so.
LINTER = ROOT / "src/muntin/lint"


def is_table(path: Path) -> bool:
    """Whether versions may stand in that file."""
    return path.name in TABLES or path.is_relative_to(ROWS)


def mentions() -> set[str]:
    """Names of Feature members that code uses; of the tables, only what is in their functions."""
    names = set()
    for path in SOURCES:
        if path.is_relative_to(LINTER):
            continue
        tree = ast.parse(path.read_text())
        asking = [tree]
        if is_table(path):
            asking = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
        for node in (inner for part in asking for inner in ast.walk(part)):
            match node:
                case ast.Attribute(value=ast.Name(id="Feature"), attr=attr):
                    names.add(attr)
    return names


def version_literals(tree: ast.AST, builds: set[int]) -> list[int]:
    """Lines with a Windows build or a Kubernetes version written out, docstrings aside."""
    found = []
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    pattern = re.compile(rf"\b({'|'.join(map(str, builds))})\b|\bv?1\.(1[0-9]|[23][0-9])(\.\d+)?$")
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or id(node) in docstrings:
            continue
        is_build = type(node.value) is int and node.value in builds
        text = node.value if isinstance(node.value, str) and "busybox:" not in node.value else ""
        if is_build or pattern.search(text):
            found.append(node.lineno)
        # A Kubernetes version as a tuple is found by its parent, below.
    for node in ast.walk(tree):
        if isinstance(node, ast.Tuple) and len(node.elts) == 2:
            values = [item.value for item in node.elts if isinstance(item, ast.Constant)]
            if (
                len(values) == 2
                and values[0] == 1
                and type(values[1]) is int
                and 10 <= values[1] < 60
            ):
                found.append(node.lineno)
    return found


def profile_comparisons(tree: ast.AST) -> list[int]:
    """Lines that compare an axis of a profile by hand, where a row of the table should be asked."""
    axes = {"build", "revision", "kubernetes", "hns", "runtime", "network_plugin"}
    found = []
    for node in ast.walk(tree):
        for side in [node.left, *node.comparators] if isinstance(node, ast.Compare) else ():
            match side:
                case ast.Attribute(
                    attr=attr, value=ast.Name(id="profile") | ast.Attribute(attr="profile")
                ) if attr in axes:
                    found.append(node.lineno)
    return found


def test_nobody_compares_profiles_by_hand():
    found = {
        f"{path.relative_to(ROOT)}:{line}"
        for path in SOURCES
        if "model" not in path.parts
        for line in profile_comparisons(ast.parse(path.read_text()))
    }
    assert found == set()
    assert profile_comparisons(ast.parse("a = x.profile.runtime == 'docker'")) == [1]


def test_the_page_is_the_table():
    page = ROOT / "docs/reference/windows-gates.md"
    tests = sorted((ROOT / "tests").rglob("*.py"))
    shown = reproduced(path.read_text(encoding="utf-8") for path in tests)
    assert page.read_text(encoding="utf-8") == markdown(shown), "run `make gen`"


def test_rows_that_tests_show_are_found():
    source = """
show = pytest.mark.reproduces(F.DSR)
@pytest.mark.reproduces(Feature.HCN_V2, Feature.OOM_KILL)
def test_a(): pass
"""
    table = "EDGES = {F.SVC_DSR: 1}\nparams = [param(marks=reproduces(row)) for row in EDGES]"
    assert reproduced([table]) == {Feature.SVC_DSR}
    assert reproduced([source, "x = 1"]) == {Feature.DSR, Feature.HCN_V2, Feature.OOM_KILL}
    with pytest.raises(Invalid, match=r"F\.NO_SUCH is no row"):
        reproduced(["reproduces(F.NO_SUCH)"])


def test_every_behaviour_is_asked_for_or_says_why_not():
    asked = mentions()
    behaviours = {name: row for name, row in GATES.items() if row.kind is Kind.BEHAVIOUR}
    silent = {name for name in behaviours if name.name not in asked}
    unexplained = {name for name in silent if not behaviours[name].not_yet}
    assert unexplained == set()
    excused = {name for name, row in GATES.items() if row.not_yet}
    assert excused - silent == set(), "asked for now: strike its not_yet"


def test_every_procedure_names_its_check_or_page():
    assert [n for n, row in GATES.items() if row.kind is Kind.PROCEDURE and not row.page] == []


def test_versions_stand_in_the_tables_alone():
    builds = {row.build for row in BUILDS}
    found = {
        f"{path.relative_to(ROOT)}:{line}"
        for path in SOURCES
        if not is_table(path)
        for line in version_literals(ast.parse(path.read_text()), builds)
    }
    assert found == set()


@pytest.mark.parametrize(
    "code",
    ["if build >= 20348: pass", "v = '1.34'", "v = (1, 34)", "v = 'v1.20.2'", "x = '10.0.17763'"],
)
def test_the_guard_finds_what_it_looks_for(code):
    assert version_literals(ast.parse(code), {20348, 17763}) == [1]


def test_the_guard_lets_docstrings_and_other_numbers_be():
    assert (
        version_literals(ast.parse('"""Of 1.34."""\nx = "1.1"\ny = (1, 3)\nz = 2034'), {20348})
        == []
    )
