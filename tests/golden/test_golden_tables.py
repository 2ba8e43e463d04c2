"""Objects and the lines that `kubectl get -o wide` shows of them, per kind.

Every output was checked by eye against upstream's printing rules before it was kept.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from muntin.model import resources, tables
from muntin.model.durations import epoch_s

HERE = Path(__file__).parent / "tables"
NOW = epoch_s("2024-05-10T12:00:00Z")
INPUTS = sorted(HERE.glob("*.input.yaml"))


def shown(document: dict[str, object]) -> str:
    resource = resources.by_kind(str(document["apiVersion"]), str(document["kind"]))
    assert resource is not None
    table = json.loads(tables.table(resource, [document], now_s=NOW))
    names = [column["name"].upper() for column in table["columnDefinitions"]]
    cells = table["rows"][0]["cells"]
    assert len(names) == len(cells)
    width = max(map(len, names))
    return "".join(f"{name:<{width}}  {cell}\n" for name, cell in zip(names, cells, strict=True))


@pytest.mark.parametrize("source", INPUTS, ids=lambda path: path.name.split(".")[0])
def test_table_row(source: Path, golden: Callable[[Path, str], None]) -> None:
    documents = list(yaml.load_all(source.read_text(), Loader=yaml.BaseLoader))
    text = "\n".join(shown(retyped(document)) for document in documents)
    golden(source.with_name(source.name.replace(".input.yaml", ".output.txt")), text)


def retyped(value: object) -> object:
    """Numbers and booleans as such, times as text: what JSON would hold."""
    if isinstance(value, dict):
        return {key: retyped(item) for key, item in value.items()}
    if isinstance(value, list):
        return [retyped(item) for item in value]
    if isinstance(value, str) and value in ("true", "false"):
        return value == "true"
    if isinstance(value, str) and value.lstrip("-").isdigit():
        return int(value)
    return value
