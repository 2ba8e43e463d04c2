"""The page of admission plugins names those that there are, on and off."""

import re
from pathlib import Path

from muntin.apiserver.admission.plugins import NAMES, OFF
from muntin.cluster.settings import resolve
from muntin.cluster.settings_file import read

PAGE = Path(__file__).parent.parent.parent / "docs/reference/admission.md"
HEAD = "apiVersion: muntin.dev/v1alpha1\nkind: Cluster\n"


def named(start):
    text = PAGE.read_text(encoding="utf-8").split(start)[1].split(".\n")[0]
    return set(re.findall(r"\b[A-Z]\w+[A-Z]\w+|Priority\b", text))


def test_every_plugin_is_named_where_it_belongs():
    assert named("Off unless enabled:") == OFF
    assert named("On unless disabled:") == NAMES - OFF


def test_the_example_is_a_cluster_file(tmp_path):
    (example,) = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    path = tmp_path / "cluster.yaml"
    path.write_text(HEAD + example)
    found = resolve(read(path)).admission
    assert found.enable == ("AlwaysPullImages", "EventRateLimit")
    assert found.pod_security.enforce == "baseline:latest"
