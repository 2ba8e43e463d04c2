"""What expressions cost at most, in cel-go's units.

The costs are those by which kube-apiserver 1.36 said a rule exceeded its budget of 10,000,000.
"""

import pytest

from muntin.kit.cel import Environment, Shape
from muntin.kit.cel.cost import MOST

BODY = 3 * 1024 * 1024 - 2  # characters of a text without a bound
TEXT = Shape("string", most=BODY, least_bytes=2)


def cost(expression, **fields):
    shape = Shape("object", "Self", fields=fields)
    environment = Environment({"self": shape, "oldSelf": Shape("optional", element=shape)})
    return environment.most_cost(expression, shape, lambda *_: None)


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        ("self.texts.all(x, self.texts.all(y, x == y))", 31_457_863),
        ("self.texts.all(x, x.matches('^[a-z]+$'))", 6_291_503),
        ("true", 0),
        ("self.text == 'abc'", 3),
        ("has(self.text)", 1),
        ("self.text.startsWith('abcdefghijklm')", 4),
        ("oldSelf.hasValue()", 2),
        ("[1, 2, 3].all(x, x > 0)", 26),
        ("self.text + self.text == 'x'", 4 + 629_146 + 1),
        ("self.texts.size() > 0 || true", 4),
    ],
)
def test_costs(expression, wanted):
    fields = {"text": TEXT, "texts": Shape("list", element=TEXT, most=10, least_bytes=2)}
    assert cost(expression, **fields) == wanted


def test_what_has_no_bound_costs_as_much_as_can_be():
    assert cost("'a' + string(self.n) == 'a1'", n=Shape("int")) > 10**18


def test_costs_stop_growing():
    deep = Shape("list", element=Shape("list", element=TEXT, most=BODY), most=BODY)
    rule = "self.a.all(x, self.a.all(y, self.a.all(z, self.a.all(q, x == y && z == q))))"
    assert cost(rule, a=deep) == MOST
