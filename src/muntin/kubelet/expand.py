"""``$(VAR)`` references in commands, arguments and values; ``$$`` stands for one ``$``. Pure.

Source: kubernetes v1.34 third_party/forked/golang/expansion/expand.go.
"""

from __future__ import annotations

from collections.abc import Mapping


def expand(text: str, values: Mapping[str, str]) -> str:
    """``text`` with each reference to a known variable replaced; unknown ones stay as written."""
    out: list[str] = []
    at = 0
    while at < len(text):
        char = text[at]
        if char != "$" or at + 1 == len(text):
            out.append(char)
            at += 1
            continue
        following = text[at + 1]
        if following == "$":
            out.append("$")
            at += 2
        elif following == "(":
            end = text.find(")", at + 2)
            if end < 0:
                out.append("$(")
                at += 2
                continue
            name = text[at + 2 : end]
            out.append(values.get(name, f"$({name})"))
            at = end + 1
        else:
            out.append(f"${following}")
            at += 2
    return "".join(out)
