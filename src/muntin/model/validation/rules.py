"""Which rules judge which kind: new objects, and changes of them."""

from __future__ import annotations

from collections.abc import Callable

from muntin.model.validation.findings import Findings, Object

CREATE: dict[tuple[str, str], Callable[[Object, Findings], None]] = {}
UPDATE: dict[tuple[str, str], Callable[[Object, Object, Findings], None]] = {}
