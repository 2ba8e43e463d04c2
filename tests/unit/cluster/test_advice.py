"""What users of a cluster are told by the linter, for the nodes that the cluster has."""

import pytest

from muntin.cluster.advice import adviser
from muntin.cluster.overrides import Overrides, apply
from muntin.cluster.settings import Draft, resolve
from muntin.cluster.settings_file import decode


def config(**overrides):
    return resolve(apply(Draft(), Overrides(**overrides)))


def pod(**volume):
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {
            "nodeSelector": {"kubernetes.io/os": "windows"},
            "containers": [{"name": "c", "image": "mcr.microsoft.com/windows/nanoserver:1809"}],
            "volumes": [{"name": "v", "emptyDir": volume}],
        },
    }


def test_what_will_not_work_on_its_nodes_is_told():
    advise = adviser(config())
    (told,) = [text for text in advise(pod(medium="Memory"), None) if "emptyDir" in text]
    assert told.startswith("spec.volumes[0].emptyDir.medium: ")
    assert not [text for text in advise(pod(), None) if "emptyDir" in text]


def test_what_was_so_before_is_not():
    old = pod(medium="Memory")
    assert adviser(config())({**old, "metadata": {"name": "web", "labels": {"a": "b"}}}, old) == []


@pytest.mark.parametrize("flags", [{"windows_nodes": "0"}])
def test_a_cluster_without_windows_needs_no_advice(flags):
    assert adviser(config(**flags)) is None


def test_it_can_be_turned_off():
    text = "apiVersion: muntin.dev/v1alpha1\nkind: Cluster\nlint: false\n"
    assert adviser(resolve(decode(text, "cluster.yaml"))) is None
