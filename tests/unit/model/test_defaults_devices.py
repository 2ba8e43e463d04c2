"""Requests for devices ask for one each, if they do not say how many."""

from muntin.model.defaults.devices import resource_claim, resource_claim_template


def claim(**request):
    return {"spec": {"devices": {"requests": [{"name": "a", **request}]}}}


def request_of(obj):
    return obj["spec"]["devices"]["requests"][0]


def test_one_device_exactly():
    found = claim(exactly={"deviceClassName": "c"})
    resource_claim(found)
    assert request_of(found)["exactly"] == {
        "deviceClassName": "c", "allocationMode": "ExactCount", "count": 1
    }  # fmt: skip


def test_all_of_them_have_no_count():
    found = claim(exactly={"allocationMode": "All", "tolerations": [{"key": "k"}]})
    resource_claim(found)
    assert request_of(found)["exactly"] == {
        "allocationMode": "All", "tolerations": [{"key": "k", "operator": "Equal"}]
    }  # fmt: skip


def test_each_of_several_that_would_do_in_a_template():
    found = {"spec": claim(firstAvailable=[{"name": "x"}, {"name": "y", "count": 3}])}
    resource_claim_template(found)
    first, second = request_of(found["spec"])["firstAvailable"]
    assert (first["count"], second["count"]) == (1, 3)
