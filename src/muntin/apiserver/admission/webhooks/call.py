"""One call of one webhook: asked, answered, and what went wrong in upstream's words.

Source: apiserver v1.34 pkg/admission/plugin/webhook/{mutating,validating}/dispatcher.go,
errors/statuserror.go.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import orjson

from muntin.apiserver import status
from muntin.apiserver.admission.measures import ADMIT, AdmissionMetrics
from muntin.apiserver.admission.operation import Operation
from muntin.apiserver.admission.webhooks.hooks import Hook
from muntin.apiserver.authz import Authorizer
from muntin.apiserver.authz.expressions import decider
from muntin.apiserver.webhooks import WebhookClient, WebhookFailed
from muntin.kit import depth, errors
from muntin.kit.log import fields
from muntin.model.admission import review
from muntin.model.admission.conditions import Undecided
from muntin.model.admission.review import Verdict
from muntin.model.resources import Resource

Object = dict[str, Any]

log = logging.getLogger(__name__)


class CallFailed(errors.Unavailable):
    """A webhook that could not be asked, or gave no answer that means anything."""

    def __init__(self, message: str, code: int = 503) -> None:
        super().__init__(message)
        self.code = code


class Denied(status.ApiError):
    """What a webhook said of an operation that it does not want."""


class Calls:
    """Asks webhooks on behalf of one server."""

    def __init__(
        self, client: WebhookClient, authorizer: Authorizer, metrics: AdmissionMetrics
    ) -> None:
        self._client = client
        self._authorizer = authorizer
        self._metrics = metrics

    @contextmanager
    def measured(self, hook: Hook, operation: Operation, kind: str) -> Iterator[None]:
        """Count what is done inside as a call of ``hook``; one that is broken off is none."""
        began, attributes = time.perf_counter(), operation.attributes

        def count(code: int, error: str = "") -> None:
            seconds = time.perf_counter() - began
            self._metrics.webhook(hook.name, kind, attributes.operation, seconds, code, error)

        try:
            yield
        except CallFailed as err:
            count(err.code, "" if hook.fails_open else "calling_webhook_error")
            raise
        except Denied as err:
            count(err.code, "no_error")
            raise
        except status.ApiError:
            count(0, "apiserver_internal_error")
            raise
        else:
            count(200)
        finally:
            if kind == ADMIT:  # those that only look are asked at once
                attributes.request.waited_s += time.perf_counter() - began

    def fail_open(
        self, hook: Hook, operation: Operation, error: CallFailed, kind: str, key: str
    ) -> None:
        """Say in the logs, and count, that a webhook failed and was not waited for."""
        self._metrics.failed_open(hook.name, kind)
        known = fields(webhook=hook.name, error=error.message)
        log.warning("webhook failed, failing open", **known)
        operation.attributes.request.annotations[key] = hook.name

    async def concerns(self, hook: Hook, operation: Operation) -> Resource | None:
        """The row in whose version ``hook`` is to be asked; None if it is not for the operation.

        Raises:
            ApiError: 403, its conditions cannot be decided; 404, the namespace is not there.
        """
        exact = hook.row.get("matchPolicy") == "Exact"
        row = operation.row_for(hook.row.get("rules") or (), exact=exact)
        if row is None:
            return None
        if not operation.in_namespace(hook.namespaces):
            return None
        if not operation.selects_object(hook.objects):
            return None
        if hook.conditions is None:
            return row
        return row if await self._conditions_hold(hook, operation, row) else None

    async def _conditions_hold(self, hook: Hook, operation: Operation, row: Resource) -> bool:
        from muntin.model.admission import variables
        from muntin.model.cel.library.authorizer import deciding

        assert hook.conditions is not None
        values = variables.values_of(
            operation.admission_request(row), await operation.new(row), await operation.old(row)
        )
        conditions, decide = hook.conditions, decider(self._authorizer, operation.attributes.user)

        def hold() -> bool:
            with deciding(decide):
                return conditions.hold(variables.environment().activation(values))

        try:
            return await self._authorizer.settled(hold)
        except Undecided as err:
            if hook.fails_open:
                return False
            attributes = operation.attributes
            raise status.forbidden(attributes.request.target, attributes.name, err.message) from err

    async def ask(self, hook: Hook, operation: Operation, row: Resource, *, mutating: bool
                  ) -> Verdict:  # fmt: skip
        """What ``hook`` says about the operation; its warnings are passed on already.

        Raises:
            CallFailed: it says nothing.
            ApiError: it refuses, or has side effects that a dry run must not have.
        """
        request = operation.attributes.request
        if request.dry_run and not hook.may_run_dry:
            raise status.bad_request(f'admission webhook "{hook.name}" does not support dry run')
        asked = operation.admission_request(row)
        asked["object"] = await operation.new_managed(row)
        asked["oldObject"] = await operation.old_managed(row)
        try:
            version = review.version_for(hook.versions)
        except errors.Invalid as err:
            raise CallFailed(f"could not create admission objects: {err.message}", 400) from err
        try:
            answer = await self._client.post(
                hook.client,
                orjson.dumps(review.review(version, asked)),
                timeout_s=hook.timeout_s,
                query=f"timeout={hook.timeout_s:g}s",
            )
        except WebhookFailed as err:
            raise CallFailed(f"failed to call webhook: {err.message}", err.code) from err
        parsed = _parsed(answer)
        if wrong := review.wrong_form(parsed, version):
            raise CallFailed(f"failed to call webhook: {wrong}")
        try:
            found = review.verdict(parsed, version, asked["uid"], mutating=mutating)
        except review.UnknownPatch as err:
            raise CallFailed(err.message) from err
        except errors.Invalid as err:
            raise CallFailed(f"received invalid webhook response: {err.message}") from err
        request.warnings.extend(found.warnings)
        for key, text in found.audit_annotations.items():
            request.annotations[f"{hook.name}/{key}"] = text
        if not found.allowed:
            raise denied(hook.name, found.status)
        return found


def _parsed(answer: bytes) -> Any:
    """What an answer says; what is no JSON is read as YAML is, whose every text is a string."""
    if not answer:
        raise CallFailed(
            "failed to call webhook: 0-length response with status code: 200 and content type: "
            "application/json"
        )
    try:
        return depth.loads(answer)
    except errors.Invalid as err:
        raise CallFailed(f"received invalid webhook response: {err.message}") from err
    except orjson.JSONDecodeError:
        return answer.decode(errors="replace")


def denied(name: str, found: Mapping[str, Any]) -> Denied:
    """The refusal that a webhook's Status is."""
    text = f'admission webhook "{name}" denied the request'
    if found.get("message"):
        text = f"{text}: {found['message']}"
    elif found.get("reason"):
        text = f"{text}: {found['reason']}"
    else:
        text = f"{text} without explanation"
    code = found.get("code")
    known = code if isinstance(code, int) and code >= 400 else 400
    return Denied(known, found.get("reason") or "", text, details=found.get("details"))


def failed(hook: Hook, error: CallFailed) -> status.ApiError:
    """The answer to a request that ``hook`` could not be asked about."""
    return status.internal(f'failed calling webhook "{hook.name}": {error.message}')
