"""suites.yaml and passed/ as values."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).parent


@dataclass(frozen=True, kw_only=True)
class Suite:
    """An entry of suites.yaml for one version of the API; the fields are described there."""

    name: str
    api: str
    requirements: list[str]
    arguments: list[str]
    system: list[str] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)
    note: str = ""
    python: bool = False
    in_check: bool = False
    package: str = ""
    debian: str = ""
    checkout: str = ""
    repository: str = ""
    commit: str = ""
    date: str = ""
    deselected: dict[str, str] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return f"{self.name}-{self.api}"

    @property
    def passed_file(self) -> Path:
        return HERE / "passed" / f"{self.id}.txt"

    def passed(self) -> list[str]:
        return self.passed_file.read_text().splitlines()


def suites() -> list[Suite]:
    """Every run, those of checkouts too."""
    rows = yaml.safe_load((HERE / "suites.yaml").read_text())
    return [_suite(name, row, api) for name, row in rows.items() for api in row["api"]]


def _suite(name: str, row: dict[str, Any], api: str) -> Suite:
    fields = {
        key: value
        for key, value in row.items()
        if key not in ("api", "only", "check", "skipped_on")
    }
    others = {
        test: reason
        for version, tests in row.get("only", {}).items()
        if version != api
        for test, reason in tests.items()
    }
    fields["deselected"] = {**row.get("deselected", {}), **others}
    fields["skipped"] = {**row.get("skipped", {}), **row.get("skipped_on", {}).get(api, {})}
    fields["in_check"] = api in row.get("check", [])
    fields["date"] = str(fields.get("date", ""))
    return Suite(name=name, api=api, **fields)
