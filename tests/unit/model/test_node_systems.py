"""Which system a node has."""

import pytest

from muntin.model.nodes import os_of


@pytest.mark.parametrize(
    ("labels", "name"),
    [
        ({"kubernetes.io/os": "windows", "beta.kubernetes.io/os": "linux"}, "windows"),
        ({"beta.kubernetes.io/os": "windows"}, "windows"),
        ({"kubernetes.io/os": "linux"}, "linux"),
        ({}, ""),
        (None, ""),
    ],
)
def test_the_label_and_its_older_form(labels, name):
    assert os_of({"metadata": {"name": "n", "labels": labels}}) == name
