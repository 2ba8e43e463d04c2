"""Decoding of bodies with which nothing is wrong, quickly.

Nearly every body is such: nothing unknown, nothing null, no empty optional list, quantities and
times in canonical form. msgspec reads it into types compiled from the schema, which hold the zero
values that are always written, at a fifth of what `muntin.model.decoding` takes to walk through a
pod. A body that msgspec refuses is not wrong for that: `decoding` looks at it with care then, finds
the words for what is wrong and mends what is not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from functools import lru_cache
from types import GenericAlias
from typing import Annotated, Any

import msgspec

from muntin.model.recurring import SPEC, Recurring
from muntin.model.schema import INT_OR_STRING, MICRO_TIME, QUANTITY, TIME, Schema, Shape, Type
from muntin.model.zeros import zeros_of

Object = dict[str, Any]

# Compiling a large kind takes some milliseconds, and half a megabyte: only kinds that are written
# often are worth it.
OFTEN = 64

_RECURRING = frozenset({"Pod"})  # of these, many have the same spec

_INT32 = Annotated[int, msgspec.Meta(ge=-(2**31), lt=2**31)]
_INT64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
_DAY = r"[1-9][0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])"
_SECOND = r"([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]"
# Whatever matches is canonical; not everything that is canonical matches.
_SPECIAL: dict[str, Any] = {
    QUANTITY: Annotated[str, msgspec.Meta(pattern=r"\A[1-9][0-9]{0,2}([mkMG]|[KMG]i)?\Z")],
    INT_OR_STRING: _INT64 | str,
    TIME: Annotated[str, msgspec.Meta(pattern=rf"\A{_DAY}T{_SECOND}Z\Z")],
    MICRO_TIME: Annotated[str, msgspec.Meta(pattern=rf"\A{_DAY}T{_SECOND}\.[0-9]{{6}}Z\Z")],
}
_SCALARS: dict[str, Any] = {
    "s": str, "t": str, "i": _INT32, "i32": _INT32, "i64": _INT64,
    "n": int | float, "n64": int | float, "b": bool, "o": dict,
    "y": Annotated[str, msgspec.Meta(max_length=0)],  # base64 must be read to be judged
}  # fmt: skip
_PLAIN: Mapping[str, Any] = {"s": "", "y": "", "b": False, "i": 0, "i32": 0, "i64": 0}
_FACTORIES: Mapping[type, Callable[[], Any]] = {str: lambda: "", int: int, bool: bool}
_ANYTHING: Any = dict[str, Any] | list[Any] | str | int | float | bool  # but null
_NOT_EMPTY = msgspec.Meta(min_length=1)


# By msgspec, and (TypeError) by orjson what no JSON body holds.
_REFUSED = (msgspec.DecodeError, UnicodeDecodeError, RecursionError, TypeError)


class _Hard(Exception):
    """A type that is not compiled: it contains itself."""


@lru_cache(maxsize=2)
def exact(schema: Schema) -> Exact:
    """The compiled types of ``schema``."""
    return Exact(schema)


class Exact:
    """The compiled types of one schema, each made when it has been asked for often."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._zeros = zeros_of(schema)
        self._uses: dict[str, int] = {}
        self._compiled: dict[str, Any] = {}  # None for what is hard
        self._recurring: dict[str, Recurring] = {}
        # Of all kinds together: a pod's types are those of a dozen others. None for what is being
        # made, and stays for what contains itself.
        self._structs: dict[str, Any] = {}

    @property
    def compiled_types(self) -> int:
        """How many types were compiled; some kilobytes each."""
        return sum(made is not None for made in self._structs.values())

    def decode(self, type_: Type, body: Any, *, taken: bool = False) -> Object | None:
        """What decoding gives, as a new object; None says nothing of ``body``.

        When it is ``taken``, the spec of ``body`` may become that of the object.
        """
        name = type_.name
        if name not in self._compiled:
            uses = self._uses[name] = self._uses.get(name, 0) + 1
            if uses < OFTEN:
                return None
            self._compiled[name] = self._compile(type_)
        compiled = self._compiled[name]
        if compiled is None:
            return None
        recurring = self._recurring.get(name) if taken else None
        try:
            if recurring is not None:
                return recurring.of_value(body)
            found: Object = msgspec.to_builtins(msgspec.convert(body, compiled))
        except _REFUSED:
            return None
        return found

    def decode_text(self, type_: Type, text: bytes) -> Object | None:
        """As `decode`, of a JSON text; only of kinds whose specs recur, once they are compiled."""
        recurring = self._recurring.get(type_.name)
        if recurring is None or text.count(b'"spec"') > 1:  # whose first may be anything
            return None
        try:
            return recurring.of_text(text)
        except _REFUSED:
            return None

    def _compile(self, type_: Type) -> Any:
        try:
            made = self._struct(type_)
            if type_.short_name in _RECURRING:
                spec = self._value(type_.fields[SPEC])
                self._recurring[type_.name] = Recurring(self._define(type_, shell=True), spec)
        except _Hard:
            return None
        return made

    def _struct(self, type_: Type) -> Any:
        known = self._structs
        if not type_.fields:
            return dict
        if type_.name in known:
            if known[type_.name] is None:
                raise _Hard
            return known[type_.name]
        known[type_.name] = None
        known[type_.name] = self._define(type_)
        return known[type_.name]

    def _define(self, type_: Type, *, shell: bool = False) -> Any:
        """The type of objects; with ``shell`` their spec is text that is not looked at."""
        fields: list[tuple[str, Any, Any]] = []
        names = {}
        zeros = dict(self._zeros.of(type_))
        for index, (name, shape) in enumerate(type_.fields.items()):
            if shell and name == SPEC:
                fields.append((SPEC, msgspec.Raw, msgspec.Raw()))
                continue
            names[f"f{index}"] = name
            made = self._field(shape)
            zero = zeros.get(name, msgspec.UNSET)
            # A plain field that has its default is left out.
            default = _PLAIN[shape.code] if shape.plain else _default(zero)
            fields.append((f"f{index}", made | None if zero is None else made, default))
        return msgspec.defstruct(
            type_.short_name, fields, rename=names, forbid_unknown_fields=True, gc=False,
            omit_defaults=True,
        )  # fmt: skip

    def _field(self, shape: Shape) -> Any:
        found = self._value(shape)
        if shape.code in ("[", "{") and not shape.required:
            return Annotated[found, _NOT_EMPTY]
        return found

    def _value(self, shape: Shape) -> Any:
        code = shape.code
        if code == "@":
            return self._reference(shape.ref)
        if code in ("[", "{"):
            assert shape.items is not None
            items = self._value(shape.items)
            return GenericAlias(list, items) if code == "[" else GenericAlias(dict, (str, items))
        if code == "*":
            return _ANYTHING
        return _SCALARS[code]

    def _reference(self, ref: str) -> Any:
        special = _SPECIAL.get(ref)
        if special is not None:
            return special
        type_ = self._schema.type(ref)
        if type_.shape.code == "*":
            if "JSONSchemaPropsOr" in ref:  # schemas, which contain themselves
                raise _Hard
            return _ANYTHING
        return self._struct(type_)


def _empty() -> Object:  # what `dict` itself makes would be left out
    return {}


def _default(zero: Any) -> Any:
    """What a field is without a value, and still is when it is written; objects are made anew."""
    if zero is msgspec.UNSET:
        return zero
    if isinstance(zero, dict):
        return msgspec.field(default_factory=(lambda: deepcopy(zero)) if zero else _empty)
    # A default would be left out, but for those that are made.
    return msgspec.field(default_factory=_FACTORIES.get(type(zero), lambda: zero))
