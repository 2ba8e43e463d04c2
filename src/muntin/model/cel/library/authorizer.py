"""``authorizer.group('').resource('pods').check('get').allowed()``.

What may be asked for is known here, who answers is not: `deciding` names the one that does while
an expression is evaluated. Source: apiserver v1.34 pkg/cel/library/authz.go.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from muntin.kit.cel import EvaluationError, Function
from muntin.kit.cel.messages import opaque, text_of
from muntin.model import names

_PACKAGE = "kubernetes.authorization"
AUTHORIZER, PATH, GROUP, RESOURCE, DECISION = TYPES = tuple(
    f"{_PACKAGE}.{name}"
    for name in ("Authorizer", "PathCheck", "GroupCheck", "ResourceCheck", "Decision")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """``service_account`` is ``(namespace, name)``, None for whoever sent the request. Either
    ``path`` or ``resource`` is set."""

    verb: str
    service_account: tuple[str, str] | None = None
    path: str = ""
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """``error`` is set when nobody could decide."""

    allowed: bool
    reason: str = ""
    error: str = ""


Decide = Callable[[Question], Answer]
_decide: ContextVar[Decide] = ContextVar("decide")


@contextlib.contextmanager
def deciding(decide: Decide) -> Iterator[None]:
    """Let ``decide`` answer the checks of expressions evaluated meanwhile."""
    token = _decide.set(decide)
    try:
        yield
    finally:
        _decide.reset(token)


def authorizer() -> Any:
    """The value of the variable ``authorizer``."""
    return _value(AUTHORIZER, {})


def request_resource(group: str, resource: str, subresource: str, namespace: str, name: str) -> Any:
    """The value of the variable ``authorizer.requestResource``."""
    return _value(
        RESOURCE,
        {"group": group, "resource": resource, "subresource": subresource,
         "namespace": namespace, "name": name},
    )  # fmt: skip


def _value(type_: str, members: dict[str, Any]) -> Any:
    return opaque(type_, json.dumps(members))


def _with(type_: str, value: Any, **members: Any) -> Any:
    return _value(type_, {**json.loads(text_of(value)), **members})


def path(value: Any, wanted: str) -> Any:
    if not wanted.strip():
        raise EvaluationError("path must not be empty")
    return _with(PATH, value, path=wanted)


def service_account(value: Any, namespace: str, name: str) -> Any:
    if wrong := names.dns1123_subdomain(name):
        raise EvaluationError(f"Invalid service account name: {wrong[0]}")
    if wrong := names.dns1123_label(namespace):
        raise EvaluationError(f"Invalid service account namespace: {wrong[0]}")
    return _with(AUTHORIZER, value, service_account=[namespace, name])


def resource(value: Any, plural: str) -> Any:
    if not plural.strip():
        raise EvaluationError("resource must not be empty")
    return _with(RESOURCE, value, resource=plural)


def check(value: Any, verb: str) -> Any:
    members = json.loads(text_of(value))
    account = members.pop("service_account", None)
    asked = Question(verb=verb, service_account=tuple(account) if account else None, **members)
    answer = _decide.get()(asked)
    return _value(
        DECISION, {"allowed": answer.allowed, "reason": answer.reason, "error": answer.error}
    )


def _setter(member: str) -> Callable[[Any, str], Any]:
    return lambda value, text: _with(RESOURCE, value, **{member: text})


def _getter(member: str) -> Callable[[Any], Any]:
    return lambda value: json.loads(text_of(value))[member]


_S = "string"

FUNCTIONS = (
    Function("path", (AUTHORIZER, _S), PATH, path),
    Function("group", (AUTHORIZER, _S), GROUP, lambda value, name: _with(GROUP, value, group=name)),
    Function("serviceAccount", (AUTHORIZER, _S, _S), AUTHORIZER, service_account),
    Function("resource", (GROUP, _S), RESOURCE, resource),
    Function("subresource", (RESOURCE, _S), RESOURCE, _setter("subresource")),
    Function("namespace", (RESOURCE, _S), RESOURCE, _setter("namespace")),
    Function("name", (RESOURCE, _S), RESOURCE, _setter("name")),
    Function("check", (PATH, _S), DECISION, check),
    Function("check", (RESOURCE, _S), DECISION, check),
    Function("allowed", (DECISION,), "bool", _getter("allowed")),
    Function("reason", (DECISION,), _S, _getter("reason")),
    Function(
        "errored", (DECISION,), "bool", lambda value: bool(json.loads(text_of(value))["error"])
    ),
    Function("error", (DECISION,), _S, _getter("error")),
)
# Selectors narrow a question that authorization by roles cannot tell apart.
SELECTORS = (
    Function("fieldSelector", (RESOURCE, _S), RESOURCE, lambda value, _: value),
    Function("labelSelector", (RESOURCE, _S), RESOURCE, lambda value, _: value),
)
