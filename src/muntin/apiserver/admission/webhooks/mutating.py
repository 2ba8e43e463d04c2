"""Mutating webhooks: one after the other, each sees what the one before has made.

When one has changed the object, the built-in plugins run again, and those webhooks that ask for it
(``reinvocationPolicy: IfNeeded``) and were asked before the change, once more.
Source: apiserver v1.34 pkg/admission/plugin/webhook/mutating/{dispatcher,reinvocationcontext}.go.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import orjson

from muntin.apiserver import status
from muntin.apiserver.admission.measures import ADMIT
from muntin.apiserver.admission.operation import Operation
from muntin.apiserver.admission.webhooks.call import CallFailed, Calls, failed
from muntin.apiserver.admission.webhooks.hooks import Hook
from muntin.kit import depth, errors
from muntin.model import json_patch
from muntin.model.resources import Resource

Object = dict[str, Any]
HookId = tuple[str, int]

_MUTATION = "mutation.webhook.admission.k8s.io"
_PATCH = "patch.webhook.admission.k8s.io"


class Rounds:
    """Which webhooks of one operation are due for a second round."""

    def __init__(self) -> None:
        self._asked: set[HookId] = set()
        self.due: set[HookId] = set()

    def asked(self, hook: Hook) -> None:
        """``hook`` has been asked."""
        if hook.is_reinvoked:
            self._asked.add((hook.configuration, hook.index))

    def changed(self) -> None:
        """The object has changed since those asked so far saw it."""
        self.due |= self._asked
        self._asked.clear()


async def run(
    calls: Calls, hooks: Sequence[Hook], operation: Operation, again: Callable[[], None]
) -> bool:
    """Ask all ``hooks``; whether the object is another one now. ``again`` runs what is built in.

    Raises:
        ApiError: one refuses, or failed and its failure is one of the request.
    """
    rounds = Rounds()
    changed = await _round(calls, hooks, operation, rounds, 0)
    if not changed:
        return False
    before = orjson.dumps(operation.attributes.obj)
    again()
    if orjson.dumps(operation.attributes.obj) != before:
        operation.changed()
        rounds.changed()
    due = set(rounds.due)
    if due:
        left = [hook for hook in hooks if (hook.configuration, hook.index) in due]
        await _round(calls, left, operation, rounds, 1)
    return True


async def _round(
    calls: Calls, hooks: Sequence[Hook], operation: Operation, rounds: Rounds, number: int
) -> bool:
    any_change = False
    for index, hook in enumerate(hooks):
        row = await calls.concerns(hook, operation)
        if row is None:
            continue
        key = f"round_{number}_index_{index}"
        try:
            with calls.measured(hook, operation, ADMIT):
                changed = await _one(calls, hook, operation, row, key)
        except CallFailed as err:
            if not hook.fails_open:
                raise failed(hook, err) from err
            calls.fail_open(hook, operation, err, ADMIT, f"failed-open.{_MUTATION}/{key}")
            changed = False
        if changed:
            any_change = True
            rounds.changed()
        rounds.asked(hook)
    return any_change


async def _one(calls: Calls, hook: Hook, operation: Operation, row: Resource, key: str) -> bool:
    verdict = await calls.ask(hook, operation, row, mutating=True)
    patch = _operations(verdict.patch)
    changed = False
    if patch:
        obj = await operation.new_managed(row)
        if obj is None:
            raise status.internal(
                f'admission webhook "{hook.name}" attempted to modify the object, which is not '
                "supported for this operation"
            )
        changed = await operation.take(_patched(obj, patch), row, managers=True)
    annotations = operation.attributes.request.annotations
    about = {"configuration": hook.configuration, "webhook": hook.name}
    annotations[f"{_MUTATION}/{key}"] = orjson.dumps({**about, "mutated": changed}).decode()
    if changed:
        annotations[f"{_PATCH}/{key}"] = orjson.dumps(
            {**about, "patch": patch, "patchType": "JSONPatch"}
        ).decode()
    return changed


def _operations(patch: bytes) -> list[Any]:
    if not patch:
        return []
    try:
        operations = depth.loads(patch)
    except errors.Invalid as err:
        text = f"received undecodable patch in webhook response: {err.message}"
        raise CallFailed(text) from err
    except orjson.JSONDecodeError as err:
        text = _syntax(patch.decode(errors="replace"))
        raise CallFailed(f"received undecodable patch in webhook response: {text or err}") from err
    if operations is None:
        return []
    if not isinstance(operations, list):
        kind = _KINDS.get(type(operations), "number")
        raise CallFailed(
            f"received undecodable patch in webhook response: json: cannot unmarshal {kind} into "
            "Go value of type jsonpatch.Patch"
        )
    return operations


_KINDS: dict[type, str] = {bool: "bool", dict: "object", str: "string"}
_LITERALS = {"t": "true", "f": "false", "n": "null"}


def _syntax(text: str) -> str:
    """What is wrong at the start of a text that is no JSON; empty if it is further on."""
    text = text.lstrip()
    if not text:
        return "unexpected end of JSON input"
    wanted = _LITERALS.get(text[0])
    if wanted is None:
        known = text[0] in '{["-0123456789'
        return "" if known else f"invalid character '{text[0]}' looking for beginning of value"
    for found, right in zip(text, wanted, strict=False):
        if found != right:
            return f"invalid character '{found}' in literal {wanted} (expecting '{right}')"
    return ""


def _patched(obj: Object, patch: list[Any]) -> Object:
    try:
        found = json_patch.apply(obj, patch)
    except errors.Invalid as err:
        raise status.internal(err.message) from err
    if not isinstance(found, dict):
        raise status.internal("the patch of a webhook does not leave an object")
    return found
