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


def test_warns_of_what_will_not_work_on_the_nodes():
    advise = adviser(config())
    (warning,) = [
        text for text in advise(pod(medium="Memory"), None, frozenset) if "emptyDir" in text
    ]
    assert warning.startswith("spec.volumes[0].emptyDir.medium: ")
    assert not [text for text in advise(pod(), None, frozenset) if "emptyDir" in text]


def test_what_was_so_before_is_not():
    old = pod(medium="Memory")
    assert (
        adviser(config())(
            {**old, "metadata": {"name": "web", "labels": {"a": "b"}}}, old, frozenset
        )
        == []
    )


@pytest.mark.parametrize(
    ("image", "on_nodes", "warned"),
    [
        ("httpd:2.4.38-alpine", [], True),
        ("httpd:2.4.38-alpine", ["docker.io/library/httpd:2.4.38-alpine"], False),
        ("busybox", ["docker.io/library/busybox:1.29"], True),
        ("not an image", ["not an image"], False),
    ],
)
def test_an_image_that_windows_nodes_have_is_for_windows(image, on_nodes, warned):
    """Lists of manifests have forms for both systems under names that only Linux had once."""
    obj = pod()
    obj["spec"]["containers"][0]["image"] = image
    warnings = adviser(config())(obj, None, lambda: frozenset(on_nodes))
    assert any("one operating system" in text for text in warnings) is warned


def test_a_build_in_the_name_still_counts():
    obj = pod()
    image = obj["spec"]["containers"][0]["image"] = "mcr.microsoft.com/windows/nanoserver:ltsc2022"
    warnings = adviser(config())(obj, None, lambda: frozenset({image}))
    assert warnings == adviser(config())(obj, None, frozenset) != []


@pytest.mark.parametrize("flags", [{"windows_nodes": "0"}])
def test_a_cluster_without_windows_needs_no_advice(flags):
    assert adviser(config(**flags)) is None


def test_it_can_be_turned_off():
    text = "apiVersion: muntin.dev/v1alpha1\nkind: Cluster\nlint: false\n"
    assert adviser(resolve(decode(text, "cluster.yaml"))) is None
