"""Judgements that wait for nobody, and an authorization webhook that must be waited for.

A judgement (a check of admission, the evaluation of an expression) asks the authorizer whether a
user may do something. Where only the webhook knows, the question is noted; the webhook is asked
when the judgement is over, and the judgement is made anew with its answers.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TypeVar

from muntin.apiserver.authz.attributes import Attributes, Decision

T = TypeVar("T")
MOST_ROUNDS = 100  # each of them answers a question at least


@dataclass(slots=True)
class Asking:
    """What one judgement was told, and what nobody could tell it."""

    answers: dict[Attributes, Decision]
    missing: list[Attributes] = field(default_factory=list)


_current: ContextVar[Asking | None] = ContextVar("asking", default=None)


def answered(asked: Attributes) -> Decision | None:
    """The webhook's answer for the judgement at hand; a question without one is noted."""
    asking = _current.get()
    if asking is None:
        return None
    found = asking.answers.get(asked)
    if found is None:
        asking.missing.append(asked)
    return found


async def settled(judge: Callable[[], T], ask: Callable[[Attributes], Awaitable[Decision]]) -> T:
    """What ``judge`` gives or raises once all its questions are answered; it has no effects."""
    answers: dict[Attributes, Decision] = {}
    for _ in range(MOST_ROUNDS):
        asking = Asking(answers)
        token = _current.set(asking)
        try:
            result = judge()
        except Exception:
            if not asking.missing:
                raise
        else:
            if not asking.missing:
                return result
        finally:
            _current.reset(token)
        for asked in asking.missing:
            answers[asked] = await ask(asked)
    return judge()
