"""What one evaluation may cost is bounded by what it would look at, before it starts."""

import time

import pytest

from muntin.kit.cel import Environment, EvaluationError, Shape

STRING = Shape("string")
ENVIRONMENT = Environment({"text": STRING, "names": Shape("list", element=STRING)})
LONG = "a" * 2_000_000


def evaluate(expression, **variables):
    return ENVIRONMENT.compile(expression).evaluate({"text": "", "names": [], **variables})


@pytest.mark.parametrize(
    "expression",
    [
        "names.all(name, !text.contains('a' + name + 'b'))",
        "names.all(name, names.all(other, text != name + other))",
        "names.exists(name, text.matches('a*' + name + '$'))",
        "[text].exists(long, names.exists(name, long.endsWith(name)))",
        "[text + text].all(long, names.all(name, !long.contains(name)))",
    ],
)
def test_a_long_text_in_each_step_of_a_long_loop_is_refused_at_once(expression):
    began = time.process_time()
    with pytest.raises(EvaluationError, match="actual cost limit exceeded"):
        evaluate(expression, text=LONG, names=["x"] * 3000)
    assert time.process_time() - began < 1


def test_what_looks_at_no_text_may_loop_beside_a_long_one():
    assert evaluate("names.exists(name, false)", text=LONG, names=["x"] * 3000) is False


def test_a_long_text_may_be_searched_a_few_times_and_short_ones_often():
    assert evaluate("names.all(name, !text.contains(name))", text=LONG, names=["x"] * 20) is True
    assert evaluate("names.all(n, !text.contains(n))", text="a" * 9000, names=["x"] * 3000) is True
    assert evaluate("text.contains('b')", text=LONG, names=["x"] * 3000) is False
    nested = "names.map(a, names.map(b, names.map(c, a + b + c))).size() == 10"
    assert evaluate(nested, text="a" * 30_000, names=["x"] * 10) is True


def test_variables_that_several_programs_share_are_measured_once():
    activation = ENVIRONMENT.activation({"text": LONG, "names": ["x"] * 3000})
    program = ENVIRONMENT.compile("names.all(name, !text.contains(name))")
    for _ in range(2):
        with pytest.raises(EvaluationError, match="actual cost limit exceeded"):
            program.evaluate(activation)
    assert activation.extent.text == len(LONG)
