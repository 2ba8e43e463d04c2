"""Bodies that are read quickly are read as all others are."""

from __future__ import annotations

import copy
from typing import Any

import orjson
import pytest

from muntin.apiserver import bodies, status
from muntin.apiserver.request import ApiRequest, User
from muntin.kit.http.messages import Request
from muntin.model import schema
from muntin.model.exact import OFTEN, exact
from muntin.model.resources import PODS

TYPES = schema.load("1.34")
POD: dict[str, Any] = {
    "kind": "Pod",
    "apiVersion": "v1",
    "metadata": {"name": "a"},
    "spec": {"containers": [{"name": "c", "image": "i", "resources": {}}]},
}


@pytest.fixture(autouse=True)
def _compiled() -> None:
    for _ in range(OFTEN):
        exact(TYPES).decode(TYPES.type_of(PODS), {})


def asked(body: bytes, **query: str) -> ApiRequest:
    return ApiRequest(
        http=Request("POST", "/api/v1/namespaces/n/pods", body=body),
        user=User("u"),
        verb="create",
        path="/api/v1/namespaces/n/pods",
        query={name: [value] for name, value in query.items()},
        resource=PODS,
    )


def slowly(body: Any, **query: str) -> dict[str, Any]:
    raw = orjson.dumps(body)
    return bodies.checked(asked(raw, **query), TYPES, PODS, body, raw)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"kind": ""},
        {"metadata": {}},
        {"metadata": {"name": "a", "managedFields": []}},
        {"metadata": {"name": "a", "labels": None}},
        {"spec": {}},
        {"status": {"phase": "Running"}},
        {"unknown": 1},
    ],
)
def test_a_pod_is_read_alike_from_text_and_from_values(changes: dict[str, Any]) -> None:
    body = {**POD, **changes}
    for _ in range(2):
        request = asked(orjson.dumps(body))
        found = bodies.read(request, TYPES, PODS)
        assert orjson.dumps(found) == orjson.dumps(slowly(copy.deepcopy(body)))
        has_managers = "managedFields" in body["metadata"]
        assert request.managed_fields == ([] if has_managers else None)
        assert request.warnings == (['unknown field "unknown"'] if "unknown" in body else [])


def test_managers_are_taken_out_of_a_text() -> None:
    body = {**POD, "metadata": {"name": "a", "managedFields": [{"manager": "m"}]}}
    request = asked(orjson.dumps(body))
    assert "managedFields" not in bodies.read(request, TYPES, PODS)["metadata"]
    assert request.managed_fields == [{"manager": "m"}]


@pytest.mark.parametrize(
    "changes, why",
    [
        ({"kind": "Node"}, "cannot be handled as a Pod: the kind in the data"),
        ({"apiVersion": "v2"}, "does not match the expected API version"),
    ],
)
def test_a_text_of_another_kind_is_refused(changes: dict[str, Any], why: str) -> None:
    with pytest.raises(status.ApiError, match=why):
        bodies.read(asked(orjson.dumps({**POD, **changes})), TYPES, PODS)


def test_a_field_given_twice_is_found_in_a_text() -> None:
    text = orjson.dumps(POD).replace(b'"name":"a"', b'"name":"b","name":"a"')
    with pytest.raises(status.ApiError, match=r'duplicate field "metadata.name"'):
        bodies.read(asked(text, fieldValidation="Strict"), TYPES, PODS)


@pytest.mark.parametrize("patch, shared", [(b'{"metadata":{}}', True), (b'{"spec":{}}', False)])
def test_what_a_patch_may_have_put_into_a_spec_stays_its_own(patch: bytes, shared: bool) -> None:
    """A patch is applied anew when others were quicker, and admission changes what is decoded."""
    known = bodies.read(asked(orjson.dumps(POD)), TYPES, PODS)
    patched = copy.deepcopy(known)
    for _ in range(2):
        found = bodies.checked(asked(patch), TYPES, PODS, patched)
        assert found == known
    assert (found["spec"] is patched["spec"]) == shared
    mine, its = found["spec"]["containers"], patched["spec"]["containers"]
    assert (mine[0] is its[0]) == shared
