"""Upstream's validation rules, one row each: data/validation.tsv, read by the tests and the page.

Columns: kind, operation, path, reason, beginning of the detail, upstream's function, gap. A row
with an empty gap is proved by an example (tests/unit/model/validation_examples); a gap says what is
missing. ``[*]`` in a path stands for an index or a key.
"""

from __future__ import annotations

import pkgutil
import re
from dataclasses import dataclass

from muntin.kit.errors import Cause

_FILE = "data/validation.tsv"
_INDEX = re.compile(r"\[[^\]]*\]")


@dataclass(frozen=True)
class Rule:
    """One way in which upstream refuses an object of a kind."""

    kind: str
    operation: str
    path: str
    reason: str
    detail: str
    source: str
    gap: str

    def gives(self, cause: Cause) -> bool:
        """Whether ``cause`` is what this rule says."""
        return (
            cause.reason == f"FieldValue{self.reason}"
            and _INDEX.sub("[*]", cause.field) == self.path
            and self.detail in cause.message.replace("\n", " ").replace("\t", " ")
        )


def rules() -> list[Rule]:
    """All rows, in the order of the file."""
    text = (pkgutil.get_data("muntin.model", _FILE) or b"").decode()
    return [Rule(*line.split("\t")) for line in text.splitlines()]
