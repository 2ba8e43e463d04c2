"""CEL: whatever compiles is evaluated; both end in a value or in their one error."""

from functools import cache

from fuzzing import fuzz, texts

from muntin.model import cel

EXPRESSIONS = (
    "self.replicas <= 3 && self.names.all(n, n.startsWith('a')) || !has(self.any)",
    "self.names.map(n, n + 'x').filter(n, n.size() > 1).exists(n, n.matches('^a+$'))",
    "self.rows['a'].count * 2 - 1 % 3 == -4 ? [1, 2][0] == 1 : {'a': 1.5}['a'] > 1.0",
    "duration('1h') > duration('90s') && timestamp('2024-01-01T00:00:00Z').getFullYear() == 2024",
    "quantity('1.5Gi').isGreaterThan(quantity('1k'))"
    " && semver('1.2.3-a.1').isLessThan(semver('2.0.0'))",
    "ip('10.0.0.1').family() == 4 && cidr('10.0.0.0/8').containsIP('10.1.2.3')",
    "url('https://a.b:80/c?d=e').getPort() == '80' && isURL('x')",
    "'%s %d %.3f %x'.format(['a', 1, 2.5, 255]) == 'a' && 'a,b'.split(',').join('-') == 'a-b'",
    "self.any.a[0].b == null && int('12') + uint('3') == 15 && double('1e3') == 1000.0",
    "format.dns1123Label().validate('a') == optional.none() && base64.decode('YQ==') == b'a'",
    "[1, 2, 3].sum() + [3, 1].min() == 7 && [[1], [2]].flatten().isSorted()",
    "self.names && self.replicas || 'a'",
    "cel.bind(x, self.names, x.size() + x.size()) == 4 && self.names.indexOf('a') == 0",
)
ROW = cel.Shape("object", "Row", fields={"count": cel.Shape("int"), "when": cel.Shape("timestamp")})
SELF = cel.Shape(
    "object",
    "Self",
    fields={
        "replicas": cel.Shape("int"),
        "names": cel.Shape("list", element=cel.Shape("string")),
        "rows": cel.Shape("map", element=ROW),
        "any": cel.Shape("dyn"),
    },
)
VALUE = {
    "self": {
        "replicas": 3,
        "names": ["a", "b" * 100, "²", ""],
        "rows": {"a": {"count": 2}},
        "any": {"a": [{"b": None}], "c": "x"},
    }
}


@cache
def environment():
    return cel.environment({"self": SELF})


def evaluated(text):
    program = cel.compile(text, environment())
    program.evaluate(VALUE)


def priced(text):
    cel.compile(text, environment())
    cel.most_cost(text, environment(), SELF)


def test_expressions():
    fuzz(evaluated, texts(*EXPRESSIONS), cel.CompileError, cel.EvaluationError)


def test_costs():
    fuzz(priced, texts(*EXPRESSIONS), cel.CompileError)
