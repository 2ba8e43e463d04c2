from urllib.parse import parse_qs

import pytest

from muntin.apiserver import routing, status
from muntin.model.resources import NAMESPACES, NODES, PODS


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("/api/v1/pods", ("", "v1", "pods", "", "", "")),
        ("/api/v1/namespaces/a/pods/b", ("", "v1", "pods", "a", "b", "")),
        ("/api/v1/namespaces/a/pods/b/log", ("", "v1", "pods", "a", "b", "log")),
        ("/api/v1/namespaces/a", ("", "v1", "namespaces", "", "a", "")),
        ("/api/v1/namespaces/a/status", ("", "v1", "namespaces", "", "a", "status")),
        ("/api/v1/namespaces/a/finalize", ("", "v1", "namespaces", "", "a", "finalize")),
        ("/apis/apps/v1/deployments", ("apps", "v1", "deployments", "", "", "")),
        ("/api/v1/watch/namespaces/a/pods", ("", "v1", "pods", "a", "", "")),
    ],
)
def test_paths(path, found):
    route = routing.parse(path)
    assert found == (
        route.group,
        route.version,
        route.plural,
        route.namespace,
        route.name,
        route.subresource,
    )
    assert route.watch == ("watch" in path)


def test_rest_of_a_proxy_path():
    route = routing.parse("/api/v1/nodes/n/proxy/a/b")
    assert (route.subresource, route.rest) == ("proxy", "a/b")


@pytest.mark.parametrize("path", ["/", "/api", "/api/v1", "/apis/apps/v1", "/version", "/apis"])
def test_other_paths(path):
    assert routing.parse(path) is None


@pytest.mark.parametrize(
    ("method", "path", "resource", "verb"),
    [
        ("GET", "/api/v1/pods", PODS, "list"),
        ("HEAD", "/api/v1/nodes/a/proxy/x", NODES, "get"),
        ("POST", "/api/v1/namespaces/a/pods", PODS, "create"),
        ("DELETE", "/api/v1/namespaces/a/pods", PODS, "deletecollection"),
        ("POST", "/api/v1/namespaces/a/pods/b/binding", PODS, "create"),
        ("PATCH", "/api/v1/nodes/a/status", NODES, "patch"),
    ],
)
def test_verbs(method, path, resource, verb):
    assert routing.verb(method, routing.parse(path), resource, watch_asked=False) == verb


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        ("", False), ("watch=false", False), ("watch=FALSE", False), ("watch=0", False),
        ("watch=false&watch=true", False), ("watch", True), ("watch=", True), ("watch=1", True),
        ("watch=x", True), ("watch=F", True), ("watch=00", True),
    ],
)  # fmt: skip
def test_a_list_becomes_a_watch(query, asked):
    """As kube-apiserver 1.36 answered each."""
    assert routing.watch_asked(parse_qs(query, keep_blank_values=True)) is asked


@pytest.mark.parametrize(
    ("method", "path", "resource", "code"),
    [
        ("POST", "/api/v1/pods", PODS, 405),
        ("DELETE", "/api/v1/pods", PODS, 405),
        ("HEAD", "/api/v1/nodes/a", NODES, 405),
        ("GET", "/api/v1/nodes/a/status/x", NODES, 404),
        ("POST", "/api/v1/nodes/a", NODES, 405),
        ("DELETE", "/api/v1/namespaces", NAMESPACES, 405),
        ("GET", "/api/v1/nodes/a/none", NODES, 404),
        ("GET", "/api/v1/pods/a", PODS, 404),
        ("DELETE", "/api/v1/nodes/a/status", NODES, 405),
    ],
)
def test_what_does_not_fit(method, path, resource, code):
    with pytest.raises(status.ApiError) as caught:
        routing.verb(method, routing.parse(path), resource, watch_asked=False)
    assert caught.value.code == code
