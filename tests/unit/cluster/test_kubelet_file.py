"""When kubelets remove images, as the Cluster file says it."""

from __future__ import annotations

import re

import pytest

from muntin.cluster import config_store
from muntin.cluster.settings import resolve
from muntin.cluster.settings_file import decode
from muntin.kit.errors import Invalid
from muntin.kubelet.image_policy import ImageGcPolicy

HEAD = "apiVersion: muntin.dev/v1alpha1\nkind: Cluster\nnodes:\n- os: windows\n"


def test_no_image_is_removed_unless_the_file_says_so() -> None:
    (node,) = resolve(decode(HEAD, "f")).nodes
    assert node.kubelet.image_gc.is_off


def test_every_field_is_read_and_kept() -> None:
    text = (
        f"{HEAD}  kubelet:\n    imageGCHighThresholdPercent: 90\n"
        "    imageGCLowThresholdPercent: 70\n    imageMinimumGCAge: 1m\n"
        "    imageMaximumGCAge: 24h\n"
    )
    config = resolve(decode(text, "f"))
    (node,) = config.nodes
    assert node.kubelet.image_gc == ImageGcPolicy(
        high_percent=90, low_percent=70, minimum_age_s=60, maximum_age_s=86400
    )
    assert not node.kubelet.image_gc.is_off
    assert config_store.decode(config_store.encode(config)) == config


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("imageGCHighThresholdPercent: 101", "101 must be between 0 and 100"),
        ("imageGCLowThresholdPercent: many", "must be a whole number"),
        ("imageGCHighThresholdPercent: 80", "imageGCLowThresholdPercent (80) must be less than"),
        ("imageMinimumGCAge: soon", "'soon' is not a duration; write it like 2m or 24h"),
        ("imageMinimumGCAge: -1s", "'-1s' must not be negative"),
        ("imageMaximumGCAge: 1m", "imageMaximumGCAge must be 0s, or more than"),
        ("podPidsLimit: 5", "is for Linux nodes only"),
        ("imageMaxGCAge: 1m", "did you mean imageMaximumGCAge?"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(line: str, message: str) -> None:
    with pytest.raises(Invalid, match=f"f:[56]:.*kubelet.*{re.escape(message)}"):
        decode(f"{HEAD}  kubelet:\n    {line}\n", "f")
