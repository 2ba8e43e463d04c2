"""Discovery that an aggregated API server filled with anything."""

import asyncio

import orjson
import pytest

from muntin.kit.errors import Internal
from muntin.seams.kube import Response
from muntin.seams.kube.discovery import preferred_resources

GOOD = {
    "metadata": {"name": "example.com"},
    "versions": [
        {
            "version": "v1",
            "resources": [
                {
                    "resource": "things",
                    "responseKind": {"kind": "Thing"},
                    "scope": "Namespaced",
                    "verbs": ["list", None, 1],
                }
            ],
        }
    ],
}
STRANGE = [
    None,
    1,
    {},
    {"metadata": None, "versions": None},
    {"metadata": {"name": 1}, "versions": GOOD["versions"]},
    {"metadata": {"name": "x"}, "versions": [None, {}, {"version": None, "resources": [{}]}]},
    {"metadata": {"name": "x"}, "versions": [{"version": "v1", "resources": [None, 1, {}]}]},
    {"metadata": {"name": "x"}, "versions": [{"version": "v1", "resources": {"resource": "y"}}]},
]


class Server:
    def __init__(self, body):
        self._body = body

    async def raw(self, path, *, accept=""):
        return Response(200, {}, self._body)


def found(body):
    return asyncio.run(preferred_resources(Server(body)))


@pytest.mark.parametrize("strange", STRANGE, ids=str)
def test_malformed_groups_hide_no_other(strange):
    document = {"kind": "APIGroupDiscoveryList", "items": [strange, GOOD]}
    rows = found(orjson.dumps(document))
    assert [(row.group, row.plural, row.verbs) for row in rows] == [
        ("example.com", "things", ("list",))
    ] * 2  # of /api and of /apis


@pytest.mark.parametrize("body", [b"", b"[]", b"null", b"x", b"1"])
def test_what_is_no_document_is_an_error_of_ours(body):
    with pytest.raises(Internal, match="not a discovery document"):
        found(body)
