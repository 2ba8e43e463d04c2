"""How actions are carried out: in order, in batches, and where they end."""

import asyncio
from types import SimpleNamespace

import pytest
from objects import meta

from muntin.controllers.perform import Performer
from muntin.controllers.rules.actions import Create, InBatches, InOrder, Note
from muntin.kit import errors
from muntin.model.resources import PERSISTENT_VOLUME_CLAIMS, PODS


class Server:
    """Takes what is created, and says how much was under way at once."""

    def __init__(self, refused):
        self.refused, self.made, self.now, self.most = refused, [], 0, 0

    async def create(self, resource, obj):
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0)
        self.now -= 1
        if obj["metadata"]["name"] in self.refused:
            raise errors.Forbidden("no")
        self.made.append(obj["metadata"]["name"])
        return obj


def making(name, resource=PODS):
    return Create(resource=resource, obj={"metadata": meta(name)})


def perform(*actions, refused=()):
    server, told = Server(refused), []
    caches = SimpleNamespace(observe=lambda resource, obj: None)
    recorder = SimpleNamespace(event=lambda about, kind, reason, message: told.append(reason))
    outcome = asyncio.run(Performer(server, caches, recorder).perform(actions))
    return server, outcome, told


def with_claim(name):
    note = Note(about={}, type="Normal", reason=f"Made-{name}", message="")
    return InOrder((making(f"data-{name}", PERSISTENT_VOLUME_CLAIMS), making(name), note))


def test_batches_double_and_what_is_in_order_stays_in_order():
    server, outcome, told = perform(InBatches(tuple(with_claim(f"p{n}") for n in range(7))))
    assert (outcome.error, server.most) == (None, 4)
    assert all(server.made.index(f"data-p{n}") < server.made.index(f"p{n}") for n in range(7))
    assert told == [f"Made-p{n}" for n in range(7)]


@pytest.mark.parametrize("fatal, after", [(False, ["z"]), (True, [])])
def test_a_bad_batch_is_the_last_and_a_fatal_one_ends_all(fatal, after):
    rows = tuple(with_claim(f"p{n}") for n in range(7))
    server, outcome, told = perform(InBatches(rows, fatal=fatal), making("z"), refused={"data-p1"})
    assert isinstance(outcome.error, errors.Forbidden)
    # the batches are p0, then p1 and p2: p1 ends at its claim, p2 is not held up by it
    assert server.made == ["data-p0", "p0", "data-p2", "p2", *after]
    assert told == ["Made-p0", "Made-p2"]
