"""The columns of `kubectl get` for every kind: ``*`` is shown by ``-o wide`` only.

The lists were written down from the answers of kube-apiserver 1.20.2 and 1.36.0 to a list of each
resource as a Table.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from muntin.model import resources, schema
from muntin.model.tables.fitted import fitted

LISTS = sorted((Path(__file__).parent / "columns").glob("*.txt"))


def shown(row: resources.Resource, version: str) -> str:
    return ", ".join(
        ("*" if column.priority else "")
        + column.name
        + ("" if column.type == "string" else f"<{column.type}>")
        for column in fitted(row, version).columns
    )


@pytest.mark.parametrize("path", LISTS, ids=lambda path: path.stem)
def test_columns(path: Path) -> None:
    wanted = dict(line.split(": ", 1) for line in path.read_text().splitlines())
    found = {
        f"{row.api_version} {row.plural}": shown(row, path.stem)
        for row in resources.served(schema.load(path.stem))
        if "list" in row.verbs
    }
    assert found == wanted


@pytest.mark.parametrize(
    ("api_version", "kind", "column", "since"),
    [
        ("batch/v1", "Job", "Status", 31),
        ("batch/v1", "CronJob", "Timezone", 30),
        ("v1", "PersistentVolumeClaim", "VolumeAttributesClass", 29),
        ("scheduling.k8s.io/v1", "PriorityClass", "PreemptionPolicy", 32),
    ],
)
def test_a_column_comes_with_its_version(
    api_version: str, kind: str, column: str, since: int
) -> None:
    row = resources.known(api_version, kind)
    for minor in range(25, 38):
        names = [found.name for found in fitted(row, f"1.{minor}").columns]
        assert (column in names) == (minor >= since)


def test_cells_go_with_their_columns() -> None:
    for version in schema.versions():
        for row in resources.served(schema.load(version)):
            if row.is_stored:
                show = fitted(row, version)
                cells = show.cells({"metadata": {"name": "a"}}, 0)
                assert len(cells) == len(show.columns), (version, row)
