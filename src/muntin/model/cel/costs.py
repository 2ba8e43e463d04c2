"""What calls of Kubernetes' functions cost at most.

Source: kubernetes v1.36 staging/src/k8s.io/apiserver/pkg/cel/library/cost.go; cel-go ext/sets.go,
ext/lists.go.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from muntin.kit.cel.cost import MOST, NEW_LIST, Called, Operand, Size, capped, scaled, searched
from muntin.kit.cel.rewriting import SORTED

LONGEST_FORMAT_PATTERN = 128  # MaxNameFormatRegexSize
_CHECK = 350_000
_ONE = Size(1, 1)
_ADDRESS = Size(4, 16)

Target = Operand | None
Cost = Callable[[str, Target, list[Operand]], Called | None]

_NOMINAL = (
    "serviceAccount", "path", "group", "resource", "subresource", "namespace", "name", "allowed",
    "reason", "error", "errored", "masked", "prefixLength", "family", "isUnspecified",
    "isLoopback", "isLinkLocalMulticast", "isLinkLocalUnicast", "isGlobalUnicast", "format.named",
    "sign", "asInteger", "isInteger", "asApproximateFloat", "isGreaterThan", "isLessThan",
    "compareTo", "add", "sub", "major", "minor", "patch", "getScheme", "getHostname", "getHost",
    "getPort", "getEscapedPath", "getQuery",
)  # fmt: skip


def of_call(name: str, overload: str, target: Target, args: list[Operand]) -> Called | None:
    """The costs of a call; None if it is none of Kubernetes' own."""
    cost = _COSTS.get(name)
    return cost(overload, target, args) if cost is not None else None


def _fixed(cost: int, overload: str, target: Target, args: list[Operand]) -> Called:
    return Called(cost)


def _read(times: float, overload: str, target: Target, args: list[Operand]) -> Called | None:
    """The first argument is gone through."""
    return Called(args[0].size.read(times * 0.1)) if args else None


def _parsed(overload: str, target: Target, args: list[Operand]) -> Called | None:
    """The only argument is gone through, and gives something as long."""
    return Called(args[0].size.read(), args[0].size) if len(args) == 1 else None


def _changed(overload: str, target: Target, args: list[Operand]) -> Called | None:
    """The target is gone through, and gives something as long."""
    return Called(target.size.read(), target.size) if target is not None else None


def _shown(overload: str, target: Target, args: list[Operand]) -> Called | None:
    return Called(target.size.read()) if target is not None else None


def _quoted(overload: str, target: Target, args: list[Operand]) -> Called | None:
    size = args[0].size
    return Called(size.read(), Size(capped(size.least + 2), capped(size.most * 2 + 2)))


def _selector(overload: str, target: Target, args: list[Operand]) -> Called | None:
    if len(args) != 1:
        return None
    size = args[0].size
    count = scaled(size.most, 0.5)
    return Called(capped(10 + size.read() + scaled(count, 50.0)))


def _elements(overload: str, target: Target, args: list[Operand]) -> Called | None:
    if target is None:
        return None
    if target.element is None:
        return Called(target.size.read())
    type_, size = target.element
    each = 1 + (size.read() if type_.kind in ("string", "bytes") else 0)
    return Called(capped(target.size.most * each))


def _replaced(overload: str, target: Target, args: list[Operand]) -> Called | None:
    if target is None or len(args) < 2:
        return None
    size, old, new = target.size, args[0].size, args[1].size
    count, kept = [0, 0], [0, 0]
    if not old.least:
        count[1], kept[1] = capped(size.most + 1), size.most
    elif new.most <= old.least:
        kept[1] = size.most
    else:
        count[1] = math.ceil(size.most / old.least)
    if not old.most:
        count[0], kept[0] = capped(size.least + 1), size.least
    elif old.most <= new.least:
        kept[0] = size.least
    else:
        count[0] = math.ceil(size.least / old.most)
    found = Size(*count).times(new).plus(Size(*kept))
    return Called(size.read(0.2), found)


def _split(overload: str, target: Target, args: list[Operand]) -> Called | None:
    if target is None:
        return None
    most = target.size.most
    if len(args) > 1 and args[1].expr.name == "int" and isinstance(args[1].expr.value, int):
        most = args[1].expr.value
    return Called(target.size.read(0.2), Size(0, most))


def _joined(overload: str, target: Target, args: list[Operand]) -> Called | None:
    if target is None:
        return None
    size = Size(0, 0)
    if target.element is not None:
        size = target.size.times(target.element[1])
    if args:
        gaps = Size(max(target.size.least - 1, 0), max(target.size.most - 1, 0))
        size = size.plus(args[0].size.times(gaps))
    return Called(size.read(), size)


def _found(overload: str, target: Target, args: list[Operand]) -> Called | None:
    if target is None or not args:
        return None
    return Called(searched(target.size, args[0].size), Size(0, target.size.most))


def _ip(overload: str, target: Target, args: list[Operand]) -> Called | None:
    return _read(1, overload, target, args) if args else Called(1)


def _contains(twice: bool, overload: str, target: Target, args: list[Operand]) -> Called | None:
    if not args:
        return None
    cost = _ADDRESS.plus(_ADDRESS).read()
    if twice:
        cost += _ADDRESS.read() + 1
    if args[0].expr.type.kind == "string":
        cost += args[0].size.read()
    return Called(capped(cost))


def _validated(overload: str, target: Target, args: list[Operand]) -> Called | None:
    if not args:
        return None
    return Called(scaled(args[0].size.read(), LONGEST_FORMAT_PATTERN * 0.25))


def _sets(times: int, overload: str, target: Target, args: list[Operand]) -> Called | None:
    if len(args) != 2:
        return None
    return Called(capped(args[0].size.times(args[1].size).most * times + 1))


def _listed(times: float, size: Size) -> Called:
    """A list is made, of as many elements as are looked at."""
    return Called(capped(size.read(times) + 1 + NEW_LIST), size)


def _number(operand: Operand, otherwise: int) -> int:
    """Of a constant."""
    expr = operand.expr
    if expr.kind != "const" or expr.name != "int":
        return otherwise
    return 0 if expr.value >> 63 else int(expr.value)


def _slice(overload: str, target: Target, args: list[Operand]) -> Called | None:
    if target is None or len(args) != 2:
        return None
    count = (_number(args[1], target.size.most) - _number(args[0], 0)) & MOST
    return _listed(1, Size(count, count))


def _range(overload: str, target: Target, args: list[Operand]) -> Called | None:
    count = _number(args[0], MOST)
    return _listed(1, Size(count, count))


def _flat(overload: str, target: Target, args: list[Operand]) -> Called | None:
    if target is None:
        return None
    return _listed(_number(args[0], MOST) if args else 1, target.size)


def _reversed(overload: str, target: Target, args: list[Operand]) -> Called | None:
    return _listed(1, target.size) if target is not None else None


def _against_each_other(overload: str, target: Target, args: list[Operand]) -> Called | None:
    """Each element is compared with each; cel-go takes the result to be as long as that, too."""
    if target is None:
        return None
    is_text = target.element is not None and target.element[0].kind in ("string", "bytes")
    each = 2.1 if is_text and overload.startswith("sort") else 2.0
    return _listed(each, target.size.times(target.size))


# Types whose values are told apart at once.
_AT_ONCE = ("net.IP", "net.CIDR", "kubernetes.Quantity", "kubernetes.Semver")


def _equal(overload: str, target: Target, args: list[Operand]) -> Called | None:
    if len(args) != 2 or args[0].expr.type != args[1].expr.type:
        return None
    name = args[0].expr.type.name
    if name in _AT_ONCE or name.startswith("kubernetes.authorization."):
        return Called(1)
    if name == "kubernetes.URL":
        return Called(scaled((args[1].known or _ONE).most, 0.1))
    if name == "kubernetes.NamedFormat":
        return Called(scaled(64, 0.1))
    return None


_COSTS: dict[str, Cost] = {
    "check": partial(_fixed, _CHECK),
    **dict.fromkeys(_NOMINAL, partial(_fixed, 1)),
    **dict.fromkeys(("fieldSelector", "labelSelector"), _selector),
    **dict.fromkeys(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"), _elements),
    **dict.fromkeys(("url", "jsonpatch.escapeKey"), _parsed),
    **dict.fromkeys(("lowerAscii", "upperAscii", "substring", "trim"), _changed),
    **dict.fromkeys(("cidr", "isIP", "isCIDR", "quantity", "isQuantity", "semver", "isSemver"),
                    partial(_read, 1)),
    "ip.isCanonical": partial(_read, 2),
    "format": _shown,
    "strings.quote": _quoted,
    "replace": _replaced,
    "split": _split,
    "join": _joined,
    "find": _found,
    "findAll": _found,
    "ip": _ip,
    "containsIP": partial(_contains, False),
    "containsCIDR": partial(_contains, True),
    "validate": _validated,
    "sets.contains": partial(_sets, 1),
    "sets.intersects": partial(_sets, 1),
    "sets.equivalent": partial(_sets, 2),
    "slice": _slice,
    "lists.range": _range,
    "flatten": _flat,
    "reverse": _reversed,
    **dict.fromkeys(("sort", "distinct", SORTED), _against_each_other),
    "_==_": _equal,
}  # fmt: skip
