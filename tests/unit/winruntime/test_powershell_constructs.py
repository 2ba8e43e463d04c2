"""Each row of the table of constructs holds: supported ones give what they say, others refuse."""

from __future__ import annotations

import pytest

from muntin.winruntime.inside.powershell.cmdlets.table import CMDLETS, REFUSED_NAMES, ROWS
from muntin.winruntime.inside.powershell.constructs import CONSTRUCTS, Construct
from muntin.winruntime.inside.powershell.parser import STATEMENTS
from muntin.winruntime.inside.powershell.types import TYPES, load


@pytest.mark.parametrize("row", CONSTRUCTS, ids=lambda row: row.name)
def test_construct(powershell, row: Construct):
    result = powershell(row.example)
    if row.refused:
        assert result.code == 1
        assert row.expected in " ".join(result.err.split())
    else:
        assert result.err == ""
        assert result.out.strip("\n") == row.expected
        assert result.code == 0


@pytest.mark.parametrize("name", REFUSED_NAMES)
def test_refused_cmdlet_is_named(powershell, name: str):
    result = powershell(f"{name} x; 'went on'")
    assert result.code == 1
    assert f"The cmdlet '{name}' is not supported by this subset of PowerShell." in result.err
    assert "went on" not in result.out


def test_no_cmdlet_is_both_supported_and_refused():
    assert not set(CMDLETS) & {name.lower() for name in REFUSED_NAMES}


def test_every_refused_keyword_has_a_row():
    rows = {row.name.split()[0] for row in CONSTRUCTS if row.refused}
    assert {word for word, method in STATEMENTS.items() if method is None} <= rows


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_cmdlet_has_code_and_readable_parameters(row):
    from importlib import import_module

    from muntin.winruntime.inside.powershell.binding import params_of

    module = import_module(f"muntin.winruntime.inside.powershell.cmdlets.{row.module}")
    assert callable(getattr(module, row.function))
    names = [param.name.lower() for param in params_of(row.params)]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("row", TYPES, ids=lambda row: row.full)
def test_type_row_names_what_exists(row):
    for where in (row.statics, row.new, row.cast):
        if where:
            assert load(where) is not None
