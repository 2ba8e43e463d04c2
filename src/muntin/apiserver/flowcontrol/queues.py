"""Fair queues of one priority level: who waits, and whose turn it is. Takes times, keeps none.

Each flow is dealt a hand of queues by its hash and waits in the one with the least work in it;
the queue whose head would be done first in a world that serves all queues evenly goes next. A
flow that floods its queues so delays only those few flows that were dealt the very same hand.
Source: apiserver v1.34 pkg/util/flowcontrol/fairqueuing/queueset, pkg/util/shufflesharding.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

SERVICE_S = 0.003  # upstream's guess of how long a request takes, before it is known


class Waiter:
    """A request in a queue: ``future`` is done when it may go on."""

    __slots__ = ("arrival", "future", "queue", "schema", "seats", "started_s")

    def __init__(self, seats: int, arrival: float, queue: Queue, schema: str) -> None:
        self.seats = seats
        self.arrival = arrival
        self.queue = queue
        self.schema = schema
        self.started_s = 0.0
        self.future: asyncio.Future[None] = asyncio.get_running_loop().create_future()


class Queue:
    """One queue: ``next`` is the virtual time at which its next request begins."""

    __slots__ = ("executing", "next", "seats_waiting", "waiting")

    def __init__(self) -> None:
        self.waiting: deque[Waiter] = deque()
        self.seats_waiting = 0
        self.executing = 0
        self.next = 0.0


class FairQueues:
    """The queues of one level; ``may_start`` tells whether so many seats are free now."""

    def __init__(
        self, queues: int, hand_size: int, length_limit: int, may_start: Callable[[int], bool]
    ) -> None:
        self._queues = [Queue() for _ in range(queues)]
        self._hand_size = max(1, min(hand_size, queues))
        self._length_limit = length_limit
        self._may_start = may_start
        self._virtual = 0.0
        self._at_s = 0.0
        self._robin = 0
        self._turn = 0
        self.waiting = 0
        self.seats_waiting = 0

    def advance(self, now_s: float, limit: int) -> None:
        """Let virtual time run up to ``now_s`` of a monotonic clock."""
        passed, self._at_s = now_s - self._at_s, now_s
        active = [queue for queue in self._queues if queue.waiting or queue.executing]
        if active and passed > 0:
            wanted = sum(queue.seats_waiting + queue.executing for queue in active)
            self._virtual += passed * min(wanted, limit) / len(active)

    def enqueue(self, flow_hash: int, seats: int, schema: str) -> Waiter | None:
        """Put a request into one of its flow's queues; None when that one is full."""
        hand = deal(flow_hash, len(self._queues), self._hand_size)
        self._turn += 1
        order = [hand[(self._turn + at) % len(hand)] for at in range(len(hand))]
        queue = min((self._queues[at] for at in order), key=lambda found: found.seats_waiting)
        if len(queue.waiting) >= self._length_limit:
            return None
        if not queue.waiting and not queue.executing:
            queue.next = self._virtual
        waiter = Waiter(seats, self._virtual, queue, schema)
        queue.waiting.append(waiter)
        queue.seats_waiting += seats
        self.waiting += 1
        self.seats_waiting += seats
        return waiter

    def remove(self, waiter: Waiter) -> None:
        """Forget a request that gave up."""
        waiter.queue.waiting.remove(waiter)
        self._left(waiter)

    def _left(self, waiter: Waiter) -> None:
        waiter.queue.seats_waiting -= waiter.seats
        self.waiting -= 1
        self.seats_waiting -= waiter.seats

    def dispatch(self, now_s: float) -> Waiter | None:
        """Take the request whose turn it is out of its queue, if its seats are free."""
        queue = self._next_queue()
        if queue is None or not self._may_start(queue.waiting[0].seats):
            return None
        waiter = queue.waiting.popleft()
        self._left(waiter)
        queue.next = max(queue.next, waiter.arrival) + SERVICE_S * waiter.seats
        queue.executing += waiter.seats
        waiter.started_s = now_s
        return waiter

    def take_any(self) -> Waiter:
        """Take a request out of whichever queue; one must be waiting."""
        queue = next(queue for queue in self._queues if queue.waiting)
        waiter = queue.waiting.popleft()
        self._left(waiter)
        queue.executing += waiter.seats
        return waiter

    def _next_queue(self) -> Queue | None:
        """The queue whose head ends first; among equals, the one that waited for its turn."""
        best: Queue | None = None
        least, at_best = 0.0, self._robin
        count = len(self._queues)
        for step in range(1, count + 1):
            at = (self._robin + step) % count
            queue = self._queues[at]
            if not queue.waiting:
                continue
            head = queue.waiting[0]
            end = max(queue.next, head.arrival) + SERVICE_S * head.seats
            if best is None or end < least:
                best, least, at_best = queue, end, at
        if best is not None:
            self._robin = at_best
        return best

    def finished(self, waiter: Waiter, now_s: float) -> None:
        """A request that was dispatched is done: its queue pays for what it really took."""
        queue = waiter.queue
        queue.executing -= waiter.seats
        queue.next -= (SERVICE_S - (now_s - waiter.started_s)) * waiter.seats

    def charge(self, flow_hash: int, seat_seconds: float) -> None:
        """Let the fullest queue of a flow pay for what ran without waiting in it."""
        hand = deal(flow_hash, len(self._queues), self._hand_size)
        queue = max((self._queues[at] for at in hand), key=lambda found: found.seats_waiting)
        if queue.waiting:
            queue.next = max(queue.next, queue.waiting[0].arrival) + seat_seconds

    def lengths(self) -> list[int]:
        """How many wait in each queue."""
        return [len(queue.waiting) for queue in self._queues]


def deal(flow_hash: int, deck: int, hand_size: int) -> list[int]:
    """``hand_size`` different numbers below ``deck``, the same for the same hash.

    Source: apiserver pkg/util/shufflesharding/dealer.go.
    """
    left = flow_hash % (1 << 64)
    dealt: list[int] = []
    for taken in range(hand_size):
        left, card = divmod(left, deck - taken)
        for other in sorted(dealt):
            if card < other:
                break
            card += 1
        dealt.append(card)
    return dealt
