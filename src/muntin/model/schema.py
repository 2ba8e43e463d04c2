"""The API's types, per Kubernetes version: fields, their kinds, and how lists and maps merge.

`load` reads data/schema.tsv (made by scripts/gen_api_schema.py) and keeps the lines of one
version; a type is parsed when it is first asked for. A line is: versions (a bit set over the names
in the first line), type name, own shape, group/version/kinds, fields. A shape is a letter and
attributes:
``s`` string, ``y`` base64, ``t`` time, ``i i32 i64`` integers, ``n n64`` numbers, ``b`` boolean,
``o`` object, ``*`` anything, ``@Name`` a type, ``[`` list of, ``{`` map to;
then ``|l=`` list type, ``|k=`` list map keys, ``|m=`` map type, ``|p=`` patch merge key and
``|s=`` patch strategy. ``!`` before a field's name means that it is required, ``?`` that its zero
value (false, 0, "") is the same as none, and left out.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from muntin.kit.errors import Unsupported
from muntin.model.resources import Resource

QUANTITY = "io.k8s.apimachinery.pkg.api.resource.Quantity"
INT_OR_STRING = "io.k8s.apimachinery.pkg.util.intstr.IntOrString"
TIME = "io.k8s.apimachinery.pkg.apis.meta.v1.Time"
MICRO_TIME = "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime"


@dataclass(frozen=True, slots=True)
class Shape:
    """What a field holds: ``code`` is a letter of the module's table, or ``@``, ``[`` or ``{``.

    ``ref`` names the type of an ``@``; ``items`` is the shape of a list's or map's members. Of a
    ``plain`` field the zero value is none: upstream's type has no pointer for it.
    """

    code: str
    ref: str = ""
    items: Shape | None = None
    list_type: str = ""
    list_map_keys: tuple[str, ...] = ()
    map_type: str = ""
    merge_key: str = ""
    strategies: tuple[str, ...] = ()
    required: bool = False
    plain: bool = False


@dataclass(frozen=True, slots=True)
class Type:
    """One named type; ``fields`` is empty for scalars and free-form objects (see ``shape``)."""

    name: str
    shape: Shape
    fields: Mapping[str, Shape]
    kinds: tuple[tuple[str, str, str], ...]

    @property
    def short_name(self) -> str:
        """The last part of its name, as Go calls it: ``PodSpec``."""
        return self.name.rpartition(".")[2]

    @property
    def go_name(self) -> str:
        """``v1.PodSpec``, as Go's messages call it."""
        return ".".join(self.name.split(".")[-2:])

    @property
    def required(self) -> tuple[str, ...]:
        """The names of the fields that must be there."""
        return tuple(name for name, shape in self.fields.items() if shape.required)


@lru_cache(maxsize=1024)
def _shape(text: str, mark: str = "") -> Shape:
    body, *attributes = text.split("|")
    values = dict(attribute.split("=", 1) for attribute in attributes)
    code = body if body and body[0] not in "@[{" else body[:1]
    return Shape(
        code=code,
        ref=body[1:] if code == "@" else "",
        items=_member_shape(text) if code in ("[", "{") else None,
        list_type=values.get("l", ""),
        list_map_keys=tuple(values["k"].split("+")) if "k" in values else (),
        map_type=values.get("m", ""),
        merge_key=values.get("p", ""),
        strategies=tuple(values["s"].split(",")) if "s" in values else (),
        required=mark == "!",
        plain=mark == "?",
    )


def _member_shape(text: str) -> Shape:
    # Attributes stand behind the whole text and belong to the outermost list or map.
    return _shape(text.split("|")[0][1:])


def _parse_kinds(text: str) -> Iterator[tuple[str, str, str]]:
    for row in text.split():
        group, version, kind = row.rsplit("/", 2)
        yield group, version, kind


def _parse_type(line: str) -> Type:
    name, own, kinds, fields = line.split("\t")
    shapes = {}
    for row in fields.split():
        label, _, code = row.partition(":")
        field_name = label.lstrip("!?")
        shapes[field_name] = _shape(code, label[: len(label) - len(field_name)])
    return Type(name, _shape(own), shapes, tuple(_parse_kinds(kinds)))


@dataclass(slots=True, eq=False)
class Schema:
    """All types of one API version."""

    version: str
    _lines: Mapping[str, str]
    _kinds: Mapping[tuple[str, str, str], str]
    _types: dict[str, Type] = field(default_factory=dict)

    @property
    def type_names(self) -> tuple[str, ...]:
        """The names of all types, sorted."""
        return tuple(self._lines)

    @property
    def kinds(self) -> Mapping[tuple[str, str, str], str]:
        """The type name of each (group, version, kind)."""
        return self._kinds

    def type(self, name: str) -> Type:
        """The type of that full name; KeyError if this version does not have it."""
        found = self._types.get(name)
        if found is None:
            found = self._types[name] = _parse_type(self._lines[name])
        return found

    @property
    def digest(self) -> str:
        """A text that differs whenever any type differs."""
        import hashlib

        content = "\n".join(self._lines.values())
        return hashlib.sha256(content.encode("utf-8")).hexdigest()

    def has_type(self, name: str) -> bool:
        """Whether this API version has a type of that full name."""
        return name in self._lines

    def has_kind(self, group: str, version: str, kind: str) -> bool:
        """Whether this API version knows the kind."""
        return (group, version, kind) in self._kinds

    def kind_type(self, group: str, version: str, kind: str) -> Type | None:
        """The type of a kind."""
        name = self._kinds.get((group, version, kind))
        return None if name is None else self.type(name)

    def type_of(self, resource: Resource) -> Type:
        """The type of a served resource's objects; KeyError if this version does not have it."""
        return self.type(self._kinds[(resource.group, resource.version, resource.kind)])

    def resolve(self, shape: Shape) -> Type | None:
        """The type that an ``@`` shape refers to; None for any other shape."""
        return self.type(shape.ref) if shape.code == "@" else None


def _data() -> tuple[list[str], list[str]]:
    raw = pkgutil.get_data("muntin.model", "data/schema.tsv")
    assert raw is not None
    head, *lines = raw.decode("utf-8").splitlines()
    return head.split(), lines


def versions() -> tuple[str, ...]:
    """The Kubernetes versions whose API is known, oldest first."""
    return tuple(_data()[0])


@lru_cache(maxsize=2)
def load(version: str) -> Schema:
    """The types of ``version``, such as a minor release's two numbers or ``v`` and three.

    Raises:
        Unsupported: that version's API is not known; the message lists those that are.
    """
    known, lines = _data()
    minor = ".".join(version.removeprefix("v").split(".")[:2])
    if minor not in known:
        raise Unsupported(
            f"the API of Kubernetes {version} is not known; known versions: {', '.join(known)}"
        )
    bit = 1 << known.index(minor)
    types: dict[str, str] = {}
    kinds: dict[tuple[str, str, str], str] = {}
    for line in lines:
        mask, _, rest = line.partition("\t")
        if not int(mask, 16) & bit:
            continue
        name, _, gvks, _ = rest.split("\t")
        types[name] = rest
        for gvk in _parse_kinds(gvks):
            kinds[gvk] = name
    return Schema(minor, dict(sorted(types.items())), kinds)
