"""Who asks for a certificate is who sent the request."""

from muntin.apiserver import signing_requests
from muntin.apiserver.request import User


def test_nobody_asks_in_another_name():
    request = {"spec": {"request": "x", "username": "admin", "groups": ["system:masters"]}}
    signing_requests.sign_with(request, User("jane", ("dev",)))
    assert request["spec"] == {"request": "x", "username": "jane", "groups": ["dev"]}


def test_conditions_get_the_times_that_they_lack():
    old = {"status": {"conditions": [{"type": "Approved", "status": "True",
                                      "lastTransitionTime": "2024-01-01T00:00:00Z"}]}}  # fmt: skip
    new = {"status": {"conditions": [{"type": "Approved", "status": "True"},
                                     {"type": "Failed", "status": "True"}]}}  # fmt: skip
    signing_requests.date_conditions(new, old, 0.0)
    approved, failed = new["status"]["conditions"]
    assert approved["lastTransitionTime"] == "2024-01-01T00:00:00Z"
    assert approved["lastUpdateTime"] == failed["lastTransitionTime"] == "1970-01-01T00:00:00Z"
