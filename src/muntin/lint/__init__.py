"""The linter: what in manifests and configurations will not work on which Windows nodes.

``lint_text(text)`` is the way in for programs. Rules stand in ``rules/``, their texts in the gates
table (``muntin.model.windows``); ``run.py`` joins the two.
"""

from __future__ import annotations

from muntin.lint.findings import Finding as Finding
from muntin.lint.profiles import named as profile
from muntin.lint.run import lint_text

__all__ = ["Finding", "lint_text", "profile"]
