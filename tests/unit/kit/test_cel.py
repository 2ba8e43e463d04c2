"""The language itself: types, errors with their places, optional variables, bounds."""

import subprocess
import sys
import time

import pytest

from muntin.kit.cel import CompileError, Environment, EvaluationError, Function, Shape

ROW = Shape("object", "Row", fields={"count": Shape("int"), "when": Shape("timestamp")})
SELF = Shape(
    "object",
    "Self",
    fields={
        "replicas": Shape("int"),
        "names": Shape("list", element=Shape("string")),
        "rows": Shape("map", element=ROW),
        "grid": Shape("list", element=Shape("list", element=Shape("int"))),
        "any": Shape("dyn"),
    },
)


@pytest.fixture(scope="module")
def environment():
    return Environment(
        {"self": SELF, "oldSelf": Shape("optional", element=SELF)},
        [
            Function("twice", ("string",), "list(string)", lambda text: [text, text]),
            Function("maybe", ("int",), "list(int)", lambda n: [n] if n else [], member=False),
            Function("fails", ("int",), "int", lambda n: 1 // 0),
        ],
        optional=("maybe",),
    )


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("self.foo", "1:5: undefined field 'foo'\n | self.foo\n | ....^"),
        (
            "foo.bar == 1",
            "1:1: undeclared reference to 'foo' (in container '')\n | foo.bar == 1\n | ^",
        ),
        (
            "self.replicas == 'a'",
            "1:15: found no matching overload for '_==_' applied to '(int, string)'\n"
            " | self.replicas == 'a'\n | ..............^",
        ),
        ("true &&\n self.bar", "2:6: undefined field 'bar'\n |  self.bar\n | .....^"),
        ("self.rows.all(k, self.rows[k].size > 1)", "1:30: undefined field 'size'"),
        ("'a'.matches('(')", "1:13: invalid matches argument"),
        ("has(self)", "1:5: invalid argument to has() macro"),
        ("duration('x') < duration('1h')", "1:10: invalid duration argument"),
        ("timestamp('x') < timestamp('y')", "1:11: invalid timestamp argument"),
        ("[1, 'a'].size() == 2", "1:5: expected type 'int' but found 'string'"),
        ("{'a': 1, 'b': 'c'}.size() == 2", "1:15: expected type 'int' but found 'string'"),
        (
            "'a'.startsWith(1)",
            "found no matching overload for 'startsWith' applied to 'string.(int)'",
        ),
        ("self.`my-name` == 1", "1:6: unsupported syntax: '`'"),
        ("1 +", "1:4: Syntax error: mismatched input '<EOF>'"),
        ("maybe(1).hasValue() && zoo", "1:24: undeclared reference to 'zoo'"),
        (
            "self.names.transformMapEntry(i, n, {n: i}).size() > 0 && zoo",
            "1:58: undeclared reference to 'zoo'",
        ),
        ("self.names.transformMapEntry(n, {n: 1})", "undeclared reference to 'transformMapEntry'"),
        ("self.names.sortBy(n, n)", "undeclared reference to 'sortBy'"),
        ("oldSelf.replicas.size()", "found no matching overload"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(environment, expression, message):
    with pytest.raises(CompileError) as error:
        environment.compile(expression)
    assert message in error.value.message


@pytest.mark.parametrize(
    ("expression", "type_", "value"),
    [
        ("self.replicas + 1", "int", 3),
        ("self.names.exists(n, n == 'a')", "bool", True),
        ("self.rows.all(k, self.rows[k].count > 1)", "bool", True),
        ("self.grid[0][1]", "dyn", 2),
        ("has(self.any)", "bool", False),
        ("self.?any.?deep.orValue('none')", "dyn", "none"),
        ("self.names.map(n, n + '!')", "list(string)", ["a!", "b!"]),
        ("cel.bind(n, self.replicas, n * n)", "int", 4),
        ("'x'.twice()", "list(string)", ["x", "x"]),
        ("maybe(3).hasValue() && !maybe(0).hasValue()", "bool", True),
        ("maybe(2).orValue(5) + maybe(0).orValue(5)", "int", 7),
        ("'maybe(' + 'x'", "string", "maybe(x"),
        ("self.names.transformMapEntry(i, n, {n: i})", "map(dyn, dyn)", {"a": 0, "b": 1}),
        (
            "self.names.transformMapEntry(i, n, i > 0, {n: maybe(i).value()})",
            "map(dyn, dyn)",
            {"b": 1},
        ),
        (
            "{1: {2: 3}}.transformMapEntry(k, v, v.transformMapEntry(a, b, {b: [k, a]}))",
            "map(dyn, dyn)",
            {3: [1, 2]},
        ),
        ("oldSelf.hasValue() ? oldSelf.value().replicas : 0", "int", 1),
    ],
)
def test_values(environment, expression, type_, value):
    program = environment.compile(expression)
    assert program.result == type_
    row = {"count": 2}
    new = {"replicas": 2, "names": ["a", "b"], "rows": {"x": row}, "grid": [[1, 2]]}
    assert program.evaluate({"self": new, "oldSelf": {"replicas": 1}}) == value


def test_maps_may_have_any_name():
    text = Shape("map", element=Shape("string"))
    fields = {"matchLabels": text, "match_labels": text, "a__dash__b": text, "MatchLabels": text}
    shape = Shape("object", "Maps", fields=fields)
    program = Environment({"self": shape}).compile("self.matchLabels.x == self.a__dash__b.x")
    assert program.evaluate({"self": {"matchLabels": {"x": "1"}, "a__dash__b": {"x": "1"}}}) is True


def test_an_optional_variable_may_be_missing(environment):
    program = environment.compile("oldSelf.hasValue()")
    assert program.evaluate({"self": {}}) is False
    assert program.evaluate({"self": {}, "oldSelf": {}}) is True


def test_one_activation_serves_several_programs(environment):
    activation = environment.activation({"self": {"replicas": 3}})
    assert environment.compile("self.replicas == 3").evaluate(activation) is True
    assert environment.compile("self.replicas").evaluate(activation) == 3


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("self.any.x", "no such key: any"),
        ("1 / 0", "division by zero"),
        ("self.names[7]", "index out of bounds: 7"),
        ("dyn(1) + 'a'", "no such overload"),
        ("['a', 'a'].transformMapEntry(i, n, {n: i})", "insert failed: key a already exists"),
        ("1.fails()", "integer division or modulo by zero"),
        ("'a'.matches('(' + '')", "invalid regular expression"),
    ],
)
def test_what_has_no_value_says_why(environment, expression, message):
    program = environment.compile(expression)
    with pytest.raises(EvaluationError, match=message.replace("(", r"\(")):
        program.evaluate({"self": {"names": []}})


def test_errors_are_absorbed_as_the_language_says(environment):
    assert environment.compile("1 / 0 > 1 || true").evaluate({"self": {}}) is True


def test_loops_have_an_end(environment):
    variables = {"self": {"names": ["x"] * 300}}
    text = "self.names.all(a, self.names.all(b, self.names.all(c, a == b)))"
    started = time.process_time()
    with pytest.raises(EvaluationError, match="actual cost limit exceeded"):
        environment.compile(text).evaluate(variables)
    assert time.process_time() - started < 5


def test_growth_has_an_end(environment):
    text = "size(v10)"
    for number in range(10, 0, -1):
        before = f"v{number - 1}" if number > 1 else "self.names"
        text = f"cel.bind(v{number}, {before} + {before}, {text})"
    with pytest.raises(CompileError, match="it makes values 1024 times larger"):
        environment.compile(text)


@pytest.mark.parametrize(
    "expression",
    [
        "cel.bind(a, self.names + self.names, a + a).size() > 0",
        "self.names.map(n, n + n + n + n).all(n, n.size() > 3)",
        " + ".join(["self.replicas"] * 20) + " > 1",
        "self.names.all(a, self.names.all(b, a + b != b + a + 'x'))",
        " && ".join(f"self.names.exists(n, n == 'x{i}')" for i in range(40)),
    ],
)
def test_ordinary_expressions_do_not_grow_too_much(environment, expression):
    assert environment.compile(expression).result == "bool"


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("true && 'a'", "1:9: expected type 'bool' but found 'string'"),
        ("self.replicas || true", "1:5: expected type 'bool' but found 'int'"),
    ],
)
def test_a_side_that_is_no_bool_is_named_with_its_place(expression, message):
    plain = Environment({"self": SELF}, [])
    with pytest.raises(CompileError) as caught:
        plain.compile(expression)
    assert message in caught.value.message


def test_depth_and_length_have_an_end(environment):
    for text in ("(" * 500 + "1" + ")" * 500, "'" + "x" * 100_000 + "'"):
        with pytest.raises(CompileError):
            environment.compile(text)


def test_nothing_is_loaded_before_the_first_environment():
    code = (
        "import sys, muntin.kit.cel, muntin.model.cel; "
        "print([m for m in sys.modules if m.startswith(('cel_expr', 'google'))])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
