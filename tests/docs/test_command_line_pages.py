"""The pages of the command line and of the Cluster file agree with the code."""

from __future__ import annotations

import re
from pathlib import Path

from muntin.cli.exit_codes import page
from muntin.cluster.settings import resolve
from muntin.cluster.settings_file import decode

ROOT = Path(__file__).parents[2]


def test_exit_codes_page():
    assert (ROOT / "docs/reference/exit-codes.md").read_text() == page(), "run make gen"


def test_the_example_of_the_cluster_file_is_one():
    text = (ROOT / "docs/reference/cluster-file.md").read_text()
    example = re.search(r"```yaml\n(.*?)```", text, re.DOTALL)
    assert example
    config = resolve(decode(example[1], "cluster-file.md"))
    assert [node.name for node in config.nodes] == ["lin01", "win01"]
    assert config.nodes[1].labels == {"tier": "front"}


def test_every_field_of_the_cluster_file_is_in_the_example():
    source = (ROOT / "src/muntin/cluster/settings_file.py").read_text()
    fields = set(re.findall(r'^ *\("(\w+)", "\w+"\),$', source, re.MULTILINE))
    fields |= set(re.findall(r'take\("(\w+)"\)|require\("(\w+)"', source)[0])
    text = (ROOT / "docs/reference/cluster-file.md").read_text()
    assert len(fields) > 8
    assert {name for name in fields if name and f"{name}:" not in text} == set()
