"""Which version's new expressions may use what: each library on both sides of its edge."""

import pytest

from muntin.model import cel
from muntin.model.cel.library import FUNCTIONS, LATER, authorizer
from muntin.model.features import ApiFeature, is_in

# The newest API that does not know what an expression uses, the expression, and the columns and
# names of what is undeclared there. Those of 1.34 were taken from kube-apiserver.
EDGES = """
1.26 | authorizer.path('/a').check('get').allowed() | 16 path, 28 check, 43 allowed
1.28 | optional.of(1).hasValue() | 1 optional, 12 of, 24 hasValue
1.28 | quantity('1k').isInteger() | 9 quantity, 25 isInteger
1.29 | '%s'.format([1]) == '1' | 12 format
1.29 | strings.quote('a') == 'a' | 1 strings, 14 quote
1.29 | sets.contains([1], [1]) | 1 sets, 14 contains
1.30 | ip('::1').family() == 6 | 3 ip, 17 family
1.30 | ip.isCanonical('::1') | 1 ip, 15 isCanonical
1.30 | cidr('::1/128').prefixLength() == 128 | 5 cidr, 29 prefixLength
1.31 | format.uuid().validate('').hasValue() | 1 format, 12 uuid, 23 validate
1.31 | format.named('uuid').hasValue() | 1 format, 13 named
1.31 | request.fieldSelector('a').check('get').allowed() | 22 fieldSelector
1.31 | request.labelSelector('a').check('get').allowed() | 22 labelSelector
1.32 | [1].all(i, v, true) | 8 all, 9 i, 12 v
1.32 | [1].exists_one(i, v, true) | 15 exists_one, 16 i, 19 v
1.32 | [1].transformList(i, v, 1) == [1] | 18 transformList, 19 i, 22 v
1.33 | isSemver('1.0.0') | 9 isSemver
1.33 | semver('1.0.0') == self | 7 semver
1.34 | [1, 2].reverse() == [2, 1] | 15 reverse
1.34 | [1, 2].slice(0, 1) == [1] | 13 slice
1.34 | lists.range(3) == [0] | 1 lists, 12 range
1.34 | [3, 1].sort() == [1, 3] | 12 sort
1.34 | [[1]].flatten() == [1] | 14 flatten
1.34 | [1, 1].distinct() == [1] | 16 distinct
"""
# The same of what is refused in other words.
REFUSED = [
    (28, "self.?a.orValue(1) == 1", (5, "unsupported syntax '.?'")),
    (28, "self[?'a'] == 1", (5, "unsupported syntax '[?'")),
    (28, "{?'a': optional.of(1)} == {}", (2, "unsupported syntax '?'")),
    (28, "1 < 2.5", (3, "found no matching overload for '_<_' applied to '(int, double)'")),
]
# What is looked at from the next version on.
CHECKED = [
    (29, "self.matches('(')", (14, "invalid matches argument")),
    (29, "duration('1 day') == self", (10, "invalid duration argument")),
]

VARIABLES = {
    "self": cel.Shape("dyn"),
    "authorizer": cel.Shape("opaque", authorizer.AUTHORIZER),
    "request": cel.Shape("opaque", authorizer.RESOURCE),
}


def _edges():
    found = []
    for line in EDGES.strip().split("\n"):
        version, expression, names = map(str.strip, line.split(" | "))
        issues = [name.split(" ") for name in names.split(", ")]
        said = [(int(at), f"undeclared reference to '{n}' (in container '')") for at, n in issues]
        found.append((int(version.partition(".")[2]), expression, said))
    return found


def _said(expression, minor):
    """The issues about an expression that is new in that API."""
    try:
        cel.compile(expression, cel.environment(VARIABLES, api=(1, minor)))
    except cel.CompileError as err:
        return [(issue.column, issue.text) for issue in err.issues]
    return []


LATE = [*_edges(), *((minor, text, [issue]) for minor, text, issue in REFUSED)]


@pytest.mark.parametrize(("minor", "expression", "said"), LATE)
def test_new_expressions_use_what_the_api_before_knew(minor, expression, said):
    assert _said(expression, minor) == said
    assert _said(expression, minor + 1) == []


@pytest.mark.parametrize(("minor", "expression", "issue"), CHECKED)
def test_texts_are_looked_at_beforehand(minor, expression, issue):
    assert _said(expression, minor) == []
    assert _said(expression, minor + 1) == [issue]


@pytest.mark.parametrize("expression", [expression for _, expression, _ in LATE])
def test_expressions_that_were_accepted_may_use_all(expression):
    assert cel.compile(expression, cel.environment(VARIABLES)).result in ("bool", "dyn")


@pytest.mark.parametrize(
    "expression",
    ["['a'].join('').lowerAscii() == 'a'", "[1].isSorted() && [1].sum() == 1", "isURL('/')",
     "'a'.find('a') == self", "[1].all(v, v == 1) && [1].exists_one(v, v == 1)"],
)  # fmt: skip
def test_the_first_libraries_are_there_always(expression):
    assert _said(expression, 25) == []


def test_a_program_of_an_older_api_runs():
    env = cel.environment(VARIABLES, api=(1, 25))
    assert cel.compile("self.size() == 1 && 2 > 1", env).evaluate({"self": "a"}) is True


def test_every_library_has_an_edge_and_is_known_to_programs():
    rows = {feature for feature in ApiFeature if feature.name.startswith("CEL_")}
    edges = {minor for minor, *_ in (*LATE, *CHECKED)}
    for feature in rows:
        (since,) = (m for m in range(20, 40) if is_in(feature, (1, m)) > is_in(feature, (1, m - 1)))
        assert since - 1 in edges
    assert set(LATER) <= rows
    assert all(function in FUNCTIONS for functions in LATER.values() for function in functions)
