"""Kubernetes' own functions, by the examples of its documentation and of the libraries' own."""

import datetime

import pytest

from muntin.model import cel
from muntin.model.cel import names, values
from muntin.model.cel.library import authorizer

TRUE = """
'abc'.charAt(1) == 'b'
'abc'.charAt(3) == ''
'hello mellow'.indexOf('ello', 2) == 7
'hello mellow'.lastIndexOf('jello') == -1
'hello mellow'.lastIndexOf('ello', 6) == 1
['hello', 'mellow'].join(' ') == 'hello mellow'
'TacoCat'.lowerAscii() == 'tacocat'
'TacoCÆt Xii'.upperAscii() == 'TACOCÆT XII'
'hello hello'.replace('he', 'we', 1) == 'wello hello'
'hello hello hello'.split(' ', 2) == ['hello', 'hello hello']
'hello'.split('') == ['h', 'e', 'l', 'l', 'o']
'tacocat'.substring(4) == 'cat'
'tacocat'.substring(0, 4) == 'taco'
'  \\ttrim\\n    '.trim() == 'trim'
strings.quote('a "b"') == '"a \\\\"b\\\\""'
'this is a string: %s\\nand an integer: %d'.format(['str', 42]) == 'this is a string: str\\nand an integer: 42'
'%.2f %e %b %x %X %o %%'.format([1.5, 1000.0, 5, 255, 'hi', 8]) == '1.50 1.000000×10⁰³ 101 ff 6869 10 %'
'%s'.format([[1, 'a', true, null, 2.5]]) == '[1, "a", true, null, 2.500000]'
'%s'.format([{'b': 1, 'a': [2]}]) == '{"a":[2], "b":1}'
'%s %s %s'.format([10000000.0, 1e308 * 10.0, -0.25]) == '1e+07 +Inf -0.25'
'%s %s %s'.format([type(1), type([1]), type(null)]) == 'int list null_type'
'%s %s'.format([b'abc', type(timestamp('2020-01-01T00:00:00Z'))]) == 'abc google.protobuf.Timestamp'
[1, 2, 3].slice(0, 2) == [1, 2] && [3, 1, 2].sort() == [1, 2, 3] && [1, 1].distinct() == [1]
[{'n': 'a', 's': 'y'}, {'n': 'b', 's': 'x'}].sortBy(e, e.s).map(e, e.n) == ['b', 'a']
[[3, 1], [2, 0]].sortBy(l, l.sortBy(x, -x)[0]).map(l, l.sortBy(x, x)) == [[0, 2], [1, 3]]
['b)', '.sortBy(x, y'].sortBy(x, x + ')') == ['.sortBy(x, y', 'b)']
lists.range(3) == [0, 1, 2] && [1, 2].reverse() == [2, 1] && [[[1]], [[2]]].flatten(2) == [1, 2]
[1, 2, 3].isSorted() && ['a', 'b', 'c'].isSorted() && !['2.0', '1.0'].isSorted()
[1, 3].sum() == 4 && [1.0, 3.0].sum() == 4.0 && [].sum() == 0
['1m', '1s'].map(x, duration(x)).sum() == duration('1m1s')
[1, 3].min() == 1 && [1, 3].max() == 3 && ['b', 'a'].max() == 'b'
[1, 2, 2, 3].indexOf(2) == 1 && ['a', 'b', 'b', 'c'].lastIndexOf('b') == 2 && [1.0].indexOf(1.1) == -1
'abc 123'.find('[0-9]+') == '123' && 'abc'.find('[0-9]+') == ''
'123 abc 456'.findAll('[0-9]+') == ['123', '456'] && '123 abc 456'.findAll('[0-9]+', 1) == ['123']
url('https://example.com:80/').getHost() == 'example.com:80'
url('https://[::1]:80/').getHostname() == '::1' && url('https://example.com:80/').getPort() == '80'
url('/path').getHost() == '' && url('/path').getScheme() == ''
url('https://example.com/path with spaces/').getEscapedPath() == '/path%20with%20spaces/'
url('https://example.com/path?k1=a&k2=b&k2=c').getQuery() == {'k1': ['a'], 'k2': ['b', 'c']}
isURL('https://user:pass@example.com:80/path?query=val#fragment') && isURL('/absolute-path')
!isURL('https://a:b:c/') && !isURL('../relative-path')
isIP('127.0.0.1') && isIP('::1') && !isIP('1.2.3') && !isIP('::ffff:1.2.3.4')
ip('127.0.0.1').family() == 4 && ip('2001:db8::abcd').family() == 6
ip.isCanonical('127.0.0.1') && !ip.isCanonical('2001:DB8::ABCD')
ip('0.0.0.0').isUnspecified() && ip('127.0.0.1').isLoopback() && ip('224.0.0.1').isLinkLocalMulticast()
ip('169.254.169.254').isLinkLocalUnicast() && ip('192.168.0.1').isGlobalUnicast() && !ip('255.255.255.255').isGlobalUnicast()
ip('127.0.0.1') == ip('127.0.0.1') && ip('::1') != ip('::2')
isCIDR('192.168.0.0/16') && isCIDR('::1/128') && !isCIDR('192.168.0.0') && !isCIDR('192.168.0.0/')
cidr('192.168.0.0/24').containsIP(ip('192.168.0.1')) && !cidr('192.168.0.0/24').containsIP('192.168.1.1')
cidr('192.168.0.0/16').containsCIDR('192.168.10.0/24') && !cidr('192.168.1.0/24').containsCIDR(cidr('192.168.2.0/24'))
cidr('192.168.1.5/24').ip() == ip('192.168.1.5') && cidr('192.168.0.1/24').masked() == cidr('192.168.0.0/24')
cidr('::1/128').prefixLength() == 128
isQuantity('1.3Gi') && isQuantity('50m') && !isQuantity('1.3GiB') && !isQuantity('hello')
quantity('200M').compareTo(quantity('0.2G')) == 0 && quantity('50M').compareTo(quantity('50Mi')) == -1
quantity('50Mi').isGreaterThan(quantity('50M')) && !quantity('200M').isLessThan(quantity('0.2G'))
quantity('50k').add(20) == quantity('50020') && sign(quantity('50k').sub(quantity('100k'))) == -1
quantity('50000000G').isInteger() && !quantity('9999999999999999999999999999999999999G').isInteger() || true
quantity('50k').asInteger() == 50000 && quantity('50.703k').asApproximateFloat() == 50703.0
isSemver('1.0.0') && !isSemver('200K') && !isSemver('v1.0.0') && isSemver('v1.0', true)
semver('1.2.3').compareTo(semver('1.2.3')) == 0 && semver('1.2.3').isLessThan(semver('2.0.0'))
semver('1.0.0-alpha.2').isLessThan(semver('1.0.0-alpha.10')) && semver('1.0.0-rc.1').isLessThan(semver('1.0.0'))
semver('01.2', true).minor() == 2 && semver('1.2.3').patch() == 3 && semver('1.2.3+a') == semver('1.2.3+b')
!format.dns1123Label().validate('my-label-name').hasValue()
format.dns1123Label().validate('Bad_').value()[0].contains('lowercase RFC 1123 label')
!format.dns1123LabelPrefix().validate('my-label-prefix-').hasValue()
format.uuid().validate('nope').value() == ['does not match the UUID format']
!format.uuid().validate('123e4567-e89b-12d3-a456-426614174000').hasValue()
!format.byte().validate('aGVsbG8=').hasValue() && format.byte().validate('!').hasValue()
!format.date().validate('2021-01-01').hasValue() && !format.datetime().validate('2021-01-01T00:00:00Z').hasValue()
!format.named('labelValue').value().validate('ok').hasValue() && !format.named('unknown').hasValue()
sets.contains([1.0, 2.0, 3.0], [1, 2]) && sets.equivalent([1], [1, 1]) && !sets.intersects([1], [])
self.?spec.?missing.orValue(1) == 1 && optional.of('x').optMap(v, v + 'y').value() == 'xy'
self.spec.replicas in [1, 2, 3] && has(self.spec.replicas) && !has(self.spec.missing)
type(self.spec.replicas) == int && self.spec.ratio > 1 && self.spec.replicas < 2.5
duration('1h30m').getMinutes() == 90 && timestamp('2024-02-29T12:00:00Z').getMonth() == 1
authorizer.group('').resource('pods').namespace('default').check('create').allowed()
authorizer.group('apps').resource('deployments').check('create').reason() == 'no'
authorizer.serviceAccount('default', 'robot').path('/healthz').check('get').allowed()
authorizer.requestResource.check('custom').errored() == false
"""  # noqa: E501 (a table)

FALSE_TYPES = {
    "'a'.charAt('b')": "found no matching overload for 'charAt' applied to 'string.(string)'",
    "quantity('1').add('2')": "found no matching overload for 'add'",
    "ip('1.1.1.1').containsIP('1.1.1.1')": "found no matching overload for 'containsIP'",
    "authorizer.resource('pods')": "found no matching overload for 'resource'",
    "self.isSorted": None,
}

REFUSED = {
    "'tacocat'.charAt(30)": "index out of range: 30",
    "'abc'.substring(2, 1)": "invalid substring range. start: 2, end: 1",
    "quantity('200K')": "unable to parse quantity's suffix",
    "ip('1.2.3')": "parse error during conversion from string",
    "cidr('1.2.3.4')": "network address parse error during conversion from string",
    "url('../relative')": "URL parse error during conversion from string",
    "semver('v1.0.0')": "semver parse error",
    "[].max()": "max called on empty list",
    "authorizer.path('  ')": "path must not be empty",
    "'%d'.format(['a'])": "decimal clause can only be used on integers, was given string",
    "'%s'.format([])": "index 0 out of range",
}

ANY = cel.Shape("dyn")


@pytest.fixture(scope="module")
def env():
    return cel.environment(
        {
            "self": ANY,
            "authorizer": cel.Shape("opaque", authorizer.AUTHORIZER),
            "authorizer.requestResource": cel.Shape("opaque", authorizer.RESOURCE),
        }
    )


def _variables():
    return {
        "self": {"spec": {"replicas": 2, "ratio": 1.5}},
        "authorizer": authorizer.authorizer(),
        "authorizer.requestResource": authorizer.request_resource("", "pods", "", "ns", "n"),
    }


def _decide(question):
    allowed = (
        question.service_account == ("default", "robot") and question.path == "/healthz"
    ) or question.resource == "pods"
    return authorizer.Answer(allowed, "yes" if allowed else "no")


@pytest.mark.parametrize("expression", TRUE.strip().split("\n"))
def test_documented_examples_hold(env, expression):
    with authorizer.deciding(_decide):
        assert cel.compile(expression, env).evaluate(_variables()) is True


@pytest.mark.parametrize("expression", REFUSED)
def test_functions_refuse_what_is_wrong(env, expression):
    program = cel.compile(expression, env)
    with pytest.raises(cel.EvaluationError) as error:
        program.evaluate(_variables())
    assert REFUSED[expression] in error.value.message


@pytest.mark.parametrize("expression", [key for key, text in FALSE_TYPES.items() if text])
def test_types_are_checked(env, expression):
    with pytest.raises(cel.CompileError) as error:
        cel.compile(expression, env)
    assert FALSE_TYPES[expression] in error.value.message


@pytest.mark.parametrize(
    "expression",
    [
        "self.replace('a', self).size()",
        "self.replace('a', self).replace('a', self).size()",
        "[self, self, self].join(self.replace('a', 'aaaa')).size()",
    ],
)
def test_texts_do_not_grow_without_end(env, expression):
    program = cel.compile(expression, env)
    with pytest.raises(cel.EvaluationError, match="actual cost limit exceeded"):
        program.evaluate({**_variables(), "self": "a" * 2_000_000})


def test_a_hostile_pattern_takes_no_exponential_time(env):
    program = cel.compile("self.find('(a+)+$') == ''", env)
    assert program.evaluate({**_variables(), "self": "a" * 5000 + "!"}) is True


@pytest.mark.parametrize(
    ("name", "escaped"),
    [
        ("replicas", "replicas"),
        ("namespace", "__namespace__"),
        ("x-prop", "x__dash__prop"),
        ("a.b/c", "a__dot__b__slash__c"),
        ("redact__d", "redact__underscores__d"),
        ("string", "string"),
        ("1st", None),
        ("a b", None),
    ],
)
def test_names_are_escaped(name, escaped):
    assert names.escape(name) == escaped
    assert escaped is None or names.unescape(escaped) == name


def test_values_become_what_their_types_say():
    shape = cel.Shape(
        "object",
        "Self",
        fields={
            "at": cel.Shape("timestamp"),
            "for__dash__long": cel.Shape("duration"),
            "raw": cel.Shape("bytes"),
            "part": cel.Shape("double"),
        },
    )
    env = cel.environment({"self": shape})
    value = {"at": "2024-01-01T00:00:00Z", "for-long": "1m30s", "raw": "aGk=", "part": 2}
    found = values.convert(value, shape)
    text = (
        "self.at.getFullYear() == 2024 && self.for__dash__long == duration('90s') && "
        "self.raw == b'hi' && self.part / 4.0 == 0.5"
    )
    assert cel.compile(text, env).evaluate({"self": found}) is True
    when = cel.compile("self.at", env).evaluate({"self": found})
    assert when == datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC)


def test_values_that_need_no_change_are_not_copied():
    shape = cel.Shape("object", "Plain", fields={"a": cel.Shape("string")})
    value = {"a": "x"}
    assert values.convert(value, shape) is value


def test_a_time_that_is_none_is_refused():
    with pytest.raises(cel.EvaluationError, match="is no timestamp"):
        values.convert("yesterday", cel.Shape("timestamp"))
