"""Names of properties as expressions write them.

Source: kubernetes v1.34 staging/src/k8s.io/apiserver/pkg/cel/escaping.go; Kubernetes documentation:
Common Expression Language in Kubernetes, escaping.
"""

from __future__ import annotations

import re

_RESERVED = frozenset(
    ("true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function",
     "if", "import", "let", "loop", "package", "namespace", "return", "var", "void", "while")
)  # fmt: skip
_ESCAPES = {"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}
_is_accessible = re.compile(r"[A-Za-z_.\-/][A-Za-z0-9_.\-/]*").fullmatch
_special = re.compile(r"__|[.\-/]")
_escaped = re.compile(r"__(underscores|dot|dash|slash)__")
_PLAIN = {"underscores": "__", "dot": ".", "dash": "-", "slash": "/"}


def escape(name: str) -> str | None:
    """How an expression names the property; None when no expression can."""
    if name in _RESERVED:
        return f"__{name}__"
    if _is_accessible(name) is None:
        return None
    return _special.sub(lambda found: _ESCAPES[found[0]], name)


def unescape(name: str) -> str:
    """The property that an expression's name stands for."""
    if name[:2] == name[-2:] == "__" and name[2:-2] in _RESERVED:
        return name[2:-2]
    return _escaped.sub(lambda found: _PLAIN[found[1]], name)
