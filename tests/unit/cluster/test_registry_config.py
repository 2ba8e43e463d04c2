"""Registries of the Cluster file, as far as a Linux node's containerd."""

from __future__ import annotations

import re

import pytest

from muntin.cluster import linux_containerd
from muntin.cluster.paths import ClusterPaths
from muntin.cluster.settings import resolve
from muntin.cluster.settings_file import read
from muntin.kit.errors import Invalid

HEAD = "apiVersion: muntin.dev/v1alpha1\nkind: Cluster\n"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "cluster.yaml"
    path.write_text(HEAD + "registryConfigDir: registries\n")
    return path


def test_a_folder_beside_the_file_reaches_containerd(file, tmp_path, monkeypatch):
    (tmp_path / "registries").mkdir()
    config = resolve(read(file))
    assert config.registry_config_dir == str(tmp_path / "registries")
    monkeypatch.setattr(ClusterPaths, "node_state", lambda _, node: tmp_path / "state" / node)
    monkeypatch.setattr(ClusterPaths, "node_run", lambda _, node: tmp_path / "run" / node)
    linux_containerd.component(ClusterPaths("c"), "lin01", config.registry_config_dir)
    text = (tmp_path / "state/lin01/containerd.toml").read_text()
    assert f'config_path = "{tmp_path}/registries"\n' in text


def test_a_folder_that_is_not_there_is_refused_where_it_is_named(file, tmp_path):
    with pytest.raises(Invalid, match=re.escape(f"{file}:3:20: registryConfigDir: {tmp_path}")):
        read(file)
