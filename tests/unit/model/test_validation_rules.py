"""The table of rules names functions that are there, and loads only what it is asked for."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from importlib import import_module

import pytest

from muntin.model.validation.rules import CREATE, STATUS, SUBRESOURCE_UPDATE, UPDATE

ROWS = [rule for table in (CREATE, UPDATE, STATUS, SUBRESOURCE_UPDATE) for rule in table.values()]


@pytest.mark.parametrize("rule", ROWS, ids=lambda rule: f"{rule.__module__}.{rule.__name__}")
def test_each_rule_is_a_function(rule: Callable[..., None]) -> None:
    assert callable(getattr(import_module(rule.__module__), rule.__name__))


def test_rules_of_kinds_that_nobody_writes_are_not_loaded() -> None:
    program = (
        "import sys; from muntin.model import validation; from muntin.model.resources import PODS;"
        "before = 'muntin.model.validation.pod' in sys.modules;"
        "validation.validate_create(PODS, {'metadata': {'name': 'a', 'namespace': 'b'}});"
        "print(before, *('muntin.model.validation.' + n in sys.modules for n in ('pod', 'apps')))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.split() == ["False", "True", "False"], done.stderr
