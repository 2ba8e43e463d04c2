"""Validating webhooks: all that an operation concerns at once.

Source: apiserver v1.34 pkg/admission/plugin/webhook/validating/dispatcher.go.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from muntin.apiserver.admission.measures import VALIDATING
from muntin.apiserver.admission.operation import Operation
from muntin.apiserver.admission.webhooks.call import CallFailed, Calls, failed
from muntin.apiserver.admission.webhooks.hooks import Hook
from muntin.model.resources import Resource

_FAILED_OPEN = "failed-open.validating.webhook.admission.k8s.io"


async def run(calls: Calls, hooks: Sequence[Hook], operation: Operation) -> None:
    """Ask those of ``hooks`` that the operation concerns.

    Raises:
        ApiError: one refuses, or failed and its failure is one of the request.
    """
    concerned = []
    for hook in hooks:
        row = await calls.concerns(hook, operation)
        if row is not None:
            concerned.append((hook, row))
    began = time.perf_counter()
    try:
        answers = await asyncio.gather(
            *(_one(calls, *pair, operation, index) for index, pair in enumerate(concerned)),
            return_exceptions=True,
        )
    finally:
        operation.attributes.request.waited_s += time.perf_counter() - began
    for answer in answers:
        if isinstance(answer, BaseException):
            raise answer


async def _one(calls: Calls, hook: Hook, row: Resource, operation: Operation, index: int) -> None:
    try:
        with calls.measured(hook, operation, VALIDATING):
            await calls.ask(hook, operation, row, mutating=False)
    except CallFailed as err:
        if not hook.fails_open:
            raise failed(hook, err) from err
        key = f"{_FAILED_OPEN}/round_0_index_{index}"
        calls.fail_open(hook, operation, err, VALIDATING, key)
