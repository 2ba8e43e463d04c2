"""Comments and settings that let a finding stand."""

import pytest

from muntin.kit.errors import Invalid, NotFound
from muntin.lint.ignores import ignored, of_text
from muntin.lint.report import is_rule, make
from muntin.lint.settings import Ignored, decode, load
from muntin.lint.sources import Source
from muntin.lint.texts import read_text
from muntin.model.gates import Severity

TEXT = """\
# muntin: ignore a of the whole document
kind: Pod
spec:
  one: 1 # muntin: ignore b of this line
  # muntin: ignore c of what is below
  # and more is said
  list:
  - x: 1

    y: 2
  - z: 3
  two: 2
---
kind: Other
# muntin: ignore d of one line
three: 3
four: 4
"""


def lines(rule):
    found, problems = of_text(TEXT, lambda name: True)
    assert problems == []
    return [n for n in range(1, 18) if ignored(rule, n, found)]


def test_what_a_comment_reaches():
    assert lines("a") == list(range(1, 13))
    assert lines("b") == [4]
    assert lines("c") == [5, 6, 7, 8, 9, 10, 11]
    assert lines("d") == [15, 16]
    assert lines("e") == []


@pytest.mark.parametrize(
    ("comment", "rule"),
    [
        ("# muntin: ignore no-such-rule because", "ignore-unknown"),
        ("# muntin: ignore", "ignore-unknown"),
        ("# muntin: ignore empty-dir-memory", "ignore-reason"),
        ("  # muntin: ignore empty-dir-memory  ", "ignore-reason"),
    ],
)
def test_a_comment_that_does_nothing_is_told_of(comment, rule):
    found, problems = of_text(f"a: 1\n{comment}\n", is_rule)
    assert found == []
    assert [(problem.rule, problem.line) for problem in problems] == [(rule, 2)]


def source(text, name="x.yaml"):
    return Source(name, *read_text(text, name))


BAD = """\
kind: Pod
apiVersion: v1
spec:
  os: {name: windows}
  volumes:
  - emptyDir: {medium: Memory}
"""


def about(text, **more):
    """(findings of empty-dir-memory, findings let stand)"""
    report = make([source(text)], [], **more)
    return sum(one.rule == "empty-dir-memory" for one in report.findings), report.ignored


def test_a_report_counts_what_it_leaves_out():
    assert about(BAD) == (1, 0)
    let = BAD.replace("Memory}", "Memory} # muntin: ignore empty-dir-memory it is known")
    assert about(let) == (0, 1)
    assert about(BAD, ignore=[Ignored("empty-dir-memory", "so")]) == (0, 1)
    assert about(BAD, ignore=[Ignored("empty-dir-memory", "so", ("y/*",))]) == (1, 0)


def test_what_cannot_be_read_breaks_a_report_and_what_is_doubled_does_not():
    report = make([source("a: [")], [])
    assert report.broken
    assert report.reaches(Severity.ERROR)
    report = make([source(BAD.replace("kind: Pod", "kind: Pod\nkind: Pod"))], [])
    assert not report.broken
    assert {"duplicate-key", "empty-dir-memory"} <= {one.rule for one in report.findings}


def test_settings():
    text = """\
profiles: [v1.20, 1.34/2022]
paths: [deploy]
exclude: ["*/old/*"]
level: info
failOn: error
ignore:
- rule: empty-dir-memory
  reason: our nodes are patched
  paths: ["deploy/a*.yaml"]
"""
    found = decode(text, "x")
    assert found.profiles == ("v1.20", "1.34/2022")
    assert (found.level, found.fail_on) == (Severity.INFO, Severity.ERROR)
    assert found.ignore == (
        Ignored("empty-dir-memory", "our nodes are patched", ("deploy/a*.yaml",)),
    )
    assert decode("", "x") == decode("# nothing\n", "x")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("profile: [a]", "unknown field 'profile'"),
        ("profiles: a", "profiles: a list of texts is wanted, not 'a'"),
        ("level: loud", "'loud' is unknown"),
        ("ignore: [{rule: x}]", "ignore[0]: rule and reason are wanted"),
        ("ignore: [{rule: x, reason: z, path: []}]", "unknown field 'path'"),
        ("- a", "a map is wanted"),
        ("a: [", "x:1:5: "),
    ],
)
def test_settings_that_are_wrong(text, words):
    with pytest.raises(Invalid) as caught:
        decode(text, "x")
    assert words in caught.value.message


def test_no_settings_are_fine_unless_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert load(None) == decode("", "x")
    with pytest.raises(NotFound):
        load("missing.yaml")
    (tmp_path / ".muntin-lint.yaml").write_text("level: info\n")
    assert load(None).level is Severity.INFO
