"""What holds of every scenario of a control plane."""

import pytest

from muntin.seams.kube.shared_parts import POOL


@pytest.fixture(autouse=True)
def unchanged_parts():
    """Nobody changed a cached object: its parts are those of others, too."""
    yield
    assert POOL.changed() == []
