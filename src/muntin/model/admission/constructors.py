"""Constructors of apply configurations and JSON patches, written as maps.

``Object{spec: Object.spec{replicas: 2}}`` is ``{"spec": {"replicas": 2}}`` and the name of each
inner type says where it belongs; ``JSONPatch{op: "add", path: "/x", value: 1}`` is a map too. So
no types need to be declared for all places of all kinds.
Source: Kubernetes documentation, Mutating Admission Policy; apiserver pkg/cel/mutation.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from muntin.model.cel.names import escape

PATCH_FIELDS = ("from", "op", "path", "value")
_HIDDEN = re.compile(
    r"""[rRbB]{0,2}(?:'{3}.*?'{3}|"{3}.*?"{3}|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")|//[^\n]*""", re.S
)
_CONSTRUCTOR = re.compile(r"(?<![\w.])(Object(?:\s*\.\s*\w+)*|JSONPatch)\s*\{")
_FIELD = re.compile(r"(\s*\??\s*)([A-Za-z_]\w*)(?=\s*:)")


@dataclass(frozen=True, slots=True)
class Written:
    """``text`` is the expression with maps; ``constructors`` are the names of those at its top
    level, ``problems`` what is wrong with them."""

    text: str
    constructors: tuple[str, ...]
    problems: tuple[str, ...]


@dataclass(slots=True)
class _Scope:
    """What a brace, bracket or parenthesis encloses: the type that it makes, if it is one's."""

    closes: str
    type: str = ""
    field: str = ""


@dataclass(slots=True)
class _Writer:
    source: str
    hidden: str
    out: list[str] = field(default_factory=list)
    scopes: list[_Scope] = field(default_factory=list)
    constructors: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    at: int = 0

    def run(self) -> Written:
        while self.at < len(self.source):
            if (found := _CONSTRUCTOR.match(self.hidden, self.at)) is not None:
                self._open(re.sub(r"\s", "", found[1]), found.end())
            else:
                self._step()
        return Written("".join(self.out), tuple(self.constructors), tuple(self.problems))

    def _open(self, name: str, end: int) -> None:
        outer = next((scope for scope in reversed(self.scopes) if scope.type), None)
        if outer is None:
            self.constructors.append(name)
        elif outer.type != "JSONPatch":
            wanted = f"{outer.type}.{outer.field}"
            if name != wanted:
                self.problems.append(
                    f'unexpected type name "{name}", expected "{wanted}", which matches field name '
                    "path from root Object type"
                )
        self.out.append("{")
        self.at = end
        self.scopes.append(_Scope("}", name))
        self._name()

    def _step(self) -> None:
        character = self.hidden[self.at]
        self.out.append(self.source[self.at])
        self.at += 1
        if character in "([{":
            self.scopes.append(_Scope({"(": ")", "[": "]", "{": "}"}[character]))
        elif self.scopes and character == self.scopes[-1].closes:
            self.scopes.pop()
        elif character == "," and self.scopes and self.scopes[-1].type:
            self._name()

    def _name(self) -> None:
        """Write the name of a field as a key, after ``{`` or ``,``."""
        found = _FIELD.match(self.hidden, self.at)
        if found is None:
            return
        scope, name = self.scopes[-1], _unescaped(found[2])
        scope.field = name
        if scope.type == "JSONPatch" and name not in PATCH_FIELDS:
            self.problems.append(f"undefined field '{name}'")
        self.out.append(f'{found[1]}"{name}"')
        self.at = found.end()


def _unescaped(name: str) -> str:
    """The property that an identifier of an expression stands for."""
    if "__" not in name:
        return name
    for written, plain in (("dot", "."), ("dash", "-"), ("slash", "/"), ("underscores", "__")):
        name = name.replace(f"__{written}__", plain)
    if name.startswith("__") and name.endswith("__") and escape(name[2:-2]) == name:
        return name[2:-2]
    return name


def as_maps(expression: str) -> Written:
    """``expression`` with its constructors written as maps."""
    hidden = _HIDDEN.sub(lambda found: " " * len(found[0]), expression)
    return _Writer(expression, hidden).run()
