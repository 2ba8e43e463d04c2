"""Grace periods that a user may write and that no runtime can count to."""

import pytest
from grpclib.metadata import encode_timeout

from muntin.kubelet.stopper import DEFAULT_S, LONGEST_S, grace_period
from muntin.seams.cri.client import LONGEST_TIMEOUT_S


@pytest.mark.parametrize(
    ("metadata", "spec", "seconds"),
    [
        ({}, {}, DEFAULT_S),
        ({}, {"terminationGracePeriodSeconds": 5}, 5),
        ({"deletionGracePeriodSeconds": 0}, {"terminationGracePeriodSeconds": 5}, 0),
        ({}, {"terminationGracePeriodSeconds": 10**12}, LONGEST_S),
        ({"deletionGracePeriodSeconds": 2**63 - 1}, {}, LONGEST_S),
    ],
)
def test_grace_has_an_end(metadata, spec, seconds):
    assert grace_period({"metadata": metadata, "spec": spec}) == seconds


def test_a_timeout_fits_into_the_header_of_grpc():
    """Servers refuse a call whose timeout has more than eight digits: nothing would be stopped."""
    assert LONGEST_S + 60 <= LONGEST_TIMEOUT_S
    assert len(encode_timeout(LONGEST_TIMEOUT_S)) == 9
