"""Audit policies: which rule a request meets, and what is wrong with a policy."""

import pytest

from muntin.apiserver.audit.event import response_status, source_ips
from muntin.apiserver.audit.policy import Asked, Level, parse
from muntin.apiserver.request import User
from muntin.kit.errors import Invalid

JANE = User("jane", ("dev", "system:authenticated"))


def policy(*rules, **more):
    document = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": list(rules), **more}
    return parse(document)


def asked(verb="get", resource="pods", **more):
    return Asked(user=JANE, verb=verb, resource=resource, **more)


def core(*resources, **more):
    return {"resources": [{"group": "", "resources": list(resources), **more}]}


@pytest.mark.parametrize(
    "rule, request_, held",
    [
        ({}, asked(), True),
        ({"users": ["jane"]}, asked(), True),
        ({"users": ["bob"]}, asked(), False),
        ({"userGroups": ["ops", "dev"]}, asked(), True),
        ({"userGroups": ["ops"]}, asked(), False),
        ({"verbs": ["list"]}, asked(), False),
        (core("pods"), asked(), True),
        (core("pods"), asked(subresource="log"), False),
        (core("pods/log"), asked(subresource="log"), True),
        (core("pods/*"), asked(subresource="log"), True),
        (core("*/log"), asked(subresource="log"), True),
        (core("*/log"), asked(), False),
        (core("*"), asked(subresource="log"), True),
        (core("pods", resourceNames=["a"]), asked(name="a"), True),
        (core("pods", resourceNames=["a"]), asked(name="b"), False),
        ({"resources": [{"group": "apps"}]}, asked(), False),
        ({"resources": [{"group": "apps"}]}, asked(resource="deployments", group="apps"), True),
        ({"namespaces": ["x"]}, asked(namespace="x"), True),
        ({"namespaces": ["x"]}, asked(namespace="y"), False),
        ({"namespaces": [""]}, asked(resource="nodes"), True),
        ({"namespaces": ["x"]}, asked(resource="", path="/version"), False),
        ({"nonResourceURLs": ["/healthz*"]}, asked(resource="", path="/healthz/etcd"), True),
        ({"nonResourceURLs": ["/healthz"]}, asked(resource="", path="/healthz/etcd"), False),
        ({"nonResourceURLs": ["*"]}, asked(resource="", path="/x"), True),
        ({"nonResourceURLs": ["*"]}, asked(path="/api/v1/pods"), False),
    ],
)
def test_what_a_rule_matches(rule, request_, held):
    wanted = policy({"level": "Request", **rule}).wanted(request_)
    assert wanted.level is (Level.REQUEST if held else Level.NONE)


def test_the_first_rule_that_matches_decides():
    found = policy(
        {"level": "None", "verbs": ["watch"]},
        {"level": "RequestResponse", "omitStages": ["Panic"], "omitManagedFields": False},
        omitStages=["RequestReceived"],
        omitManagedFields=True,
    )
    assert found.wanted(asked("watch")).level is Level.NONE
    wanted = found.wanted(asked())
    assert wanted.level is Level.REQUEST_RESPONSE
    assert wanted.omitted == {"Panic", "RequestReceived"}
    assert not wanted.without_managed_fields


@pytest.mark.parametrize(
    "document, message",
    [
        ({"kind": "Policy", "apiVersion": "audit.k8s.io/v1beta1"}, "must be audit.k8s.io/v1"),
        ({"rules": []}, "at least one"),
        ({"rules": [{"level": "All"}]}, r"rules\[0\].level: 'All' must be one of None"),
        ({"rules": [{"level": "None", "user": []}]}, r"rules\[0\].user: there is no such field"),
        ({"rules": [{"level": "None", "omitStages": ["End"]}]}, "omitStages: 'End' must be one of"),
        ({"rules": [{"level": "None", "nonResourceURLs": ["a"]}]}, "must begin with '/'"),
        ({"rules": [{"level": "None", "nonResourceURLs": ["/*/a"]}]}, "at its end alone"),
        (
            {"rules": [{"level": "None", "nonResourceURLs": ["/a"], "namespaces": ["x"]}]},
            "both regular resources and non-resource URLs",
        ),
    ],
)
def test_what_is_wrong_with_a_policy(document, message):
    base = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy"}
    with pytest.raises(Invalid, match=message):
        parse({**base, **document})


def test_where_a_request_came_from():
    headers = {"x-forwarded-for": "10.0.0.1, 10.0.0.2,junk", "x-real-ip": "10.0.0.2"}
    assert source_ips(headers, "192.0.2.1") == ["10.0.0.1", "10.0.0.2", "192.0.2.1"]
    assert source_ips({}, "") == []


def test_an_answer_that_is_no_status_is_its_code():
    assert response_status(502, b"bad gateway") == {"metadata": {}, "code": 502}
    body = b'{"kind":"Status","status":"Failure","message":"m","reason":"Gone","code":410}'
    assert response_status(410, body) == {
        "metadata": {}, "status": "Failure", "message": "m", "reason": "Gone", "code": 410,
    }  # fmt: skip
