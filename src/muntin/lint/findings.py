"""What is reported: one row of the gates table, met at one place of one document."""

from __future__ import annotations

from dataclasses import dataclass

from muntin.lint.places import Fix
from muntin.model.gates import Severity

RANKS = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One finding; its texts are the row's.

    ``line`` and ``column`` begin at 1. ``field`` is the path in the document. ``profiles`` are the
    names of those it holds for; ``where`` says in words where the feature works. ``index`` counts
    the documents of the file.
    """

    rule: str
    severity: Severity
    file: str
    line: int
    column: int
    summary: str
    field: str = ""
    object: str = ""
    message: str = ""
    advice: str = ""
    where: str = ""
    source: str = ""
    profiles: tuple[str, ...] = ()
    index: int = 0
    fix: Fix | None = None

    @property
    def fixable(self) -> str:
        """``safe``, ``unsafe`` or nothing."""
        return "" if self.fix is None else "safe" if self.fix.safe else "unsafe"

    def sentence(self) -> str:
        """All that matters in one text, for forms that have one field for it."""
        of = " ".join(part for part in (self.object, self.field) if part)
        told = f"it says: {self.message}" if self.message else ""
        nodes = f"(on {', '.join(self.profiles)})" if self.profiles else ""
        head = f"{of}: {self.summary}" if of else self.summary
        return " ".join(part for part in (head, told, self.advice, nodes) if part)

    def order(self) -> tuple[str, int, int, int, str]:
        """Files, then lines, then what matters most."""
        return (self.file, self.line, self.column, RANKS[self.severity], self.rule)
