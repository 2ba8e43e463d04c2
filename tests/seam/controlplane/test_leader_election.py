"""Leases that change holder: candidates over one API server, by a clock that the test moves."""

import asyncio
import contextlib

import pytest
from control_plane import key_pem

from muntin.apiserver.config import ApiServerConfig
from muntin.apiserver.loop import ApiServer
from muntin.cluster.elections import Leading
from muntin.kit import errors
from muntin.kit.clock import FakeClock
from muntin.model.elections import ElectionConfig
from muntin.model.resources import CONFIG_MAPS, EVENTS, LEASES
from muntin.seams.kube.client import Client
from muntin.seams.kube.leases import LeaderElection
from muntin.seams.store.memory import MemoryStore

NAME = "kube-scheduler"


class Cut:
    """A transport that can be cut, as by a crash or a broken network."""

    def __init__(self, transport):
        self._transport, self.is_cut = transport, False

    async def request(self, *args, **kwargs):
        if self.is_cut:
            raise errors.Internal("cut")
        return await self._transport.request(*args, **kwargs)

    def stream(self, *args, **kwargs):
        return self._transport.stream(*args, **kwargs)


class Candidate:
    def __init__(self, server, name, clock, working):
        self.name, self.working = name, working
        self.transport = Cut(server.user("system:kube-scheduler"))
        self.election = LeaderElection(Client(self.transport), NAME, name, clock=clock)
        self.task = asyncio.ensure_future(self.election.lead(self.work))

    async def work(self):
        assert not self.working
        self.working.add(self.name)
        try:
            await asyncio.Event().wait()
        finally:
            self.working.discard(self.name)

    async def end(self):
        self.task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self.task


class Elections:
    def __init__(self, server):
        self.clock = FakeClock()
        self.admin = Client(server.user("admin", "system:masters"))
        self.server = server
        self.candidates = []
        self.working = set()  # by all: never more than one

    def add(self, name):
        candidate = Candidate(self.server, name, self.clock, self.working)
        self.candidates.append(candidate)
        return candidate

    async def settled(self):
        for _ in range(300):
            await asyncio.sleep(0)

    async def pass_s(self, seconds):
        for _ in range(seconds):
            await self.settled()
            await self.clock.advance(1)
        await self.settled()

    async def lease(self):
        return (await self.admin.get(LEASES, NAME, "kube-system"))["spec"]

    async def leader(self):
        """The one who leads, before long."""
        for _ in range(60):
            await self.settled()
            found = [one.name for one in self.candidates if one.election.leads]
            if found:
                assert len(found) == 1
                return found[0]
            await self.clock.advance(1)
        raise AssertionError("nobody leads")


def elections(scenario):
    async def main():
        config = ApiServerConfig(kubernetes_version="1.34", service_account_key=key_pem())
        async with ApiServer(config, MemoryStore()) as server:
            found = Elections(server)
            try:
                await asyncio.wait_for(scenario(found), 60)
            finally:
                for candidate in found.candidates:
                    await candidate.end()

    asyncio.run(main())


def test_one_leads_and_renews():
    async def scenario(elections):
        first, second = elections.add("first"), elections.add("second")
        name = await elections.leader()
        was = await elections.lease()
        assert (was["holderIdentity"], was["leaseDurationSeconds"]) == (name, 15)
        await elections.pass_s(60)
        now = await elections.lease()
        assert (now["holderIdentity"], now["leaseTransitions"]) == (name, 0)
        assert now["acquireTime"] == was["acquireTime"]
        assert now["renewTime"] > was["renewTime"]
        assert first.election.leads != second.election.leads
        assert elections.working == {name}

    elections(scenario)


def test_a_clean_end_frees_the_lease_at_once():
    async def scenario(elections):
        first = elections.add("first")
        assert await elections.leader() == "first"
        elections.add("second")
        await elections.pass_s(1)
        await first.end()
        lease = await elections.lease()
        assert (lease.get("holderIdentity", ""), lease["leaseDurationSeconds"]) == ("", 1)
        await elections.pass_s(5)  # less than the duration of a lease
        assert await elections.leader() == "second"
        assert (await elections.lease())["leaseTransitions"] == 1
        events = (await elections.admin.list(EVENTS, "kube-system")).items
        said = [event["message"] for event in events if event["reason"] == "LeaderElection"]
        wanted = ["first became leader", "first stopped leading", "second became leader"]
        assert sorted(said) == sorted(wanted)
        assert {event["involvedObject"]["kind"] for event in events} == {"Lease"}

    elections(scenario)


def test_who_cannot_renew_stops_before_another_begins():
    async def scenario(elections):
        first = elections.add("first")
        assert await elections.leader() == "first"
        elections.add("second")
        await elections.pass_s(3)
        first.transport.is_cut = True
        await elections.pass_s(7)
        assert elections.working == {"first"}
        await elections.pass_s(4)
        assert elections.working == set()  # after the renew deadline, before the lease has run out
        assert await elections.leader() == "second"
        first.transport.is_cut = False
        await elections.pass_s(30)
        assert await elections.leader() == "second"
        assert elections.working == {"second"}

    elections(scenario)


class Stopped(FakeClock):
    """A clock that may go on while its process stands still."""

    def go_on(self, seconds):
        self._time += seconds


def test_who_was_stopped_writes_nothing_once_another_may_lead():
    async def scenario(elections):
        elections.clock = Stopped()
        first = elections.add("first")
        assert await elections.leader() == "first"
        client = Client(
            Leading(
                elections.server.user("admin", "system:masters"), lambda: first.election.may_act
            )
        )
        new = {"apiVersion": "v1", "kind": "ConfigMap"}
        await client.create(CONFIG_MAPS, {**new, "metadata": {"name": "a"}}, "default")
        elections.clock.go_on(14)
        await client.create(CONFIG_MAPS, {**new, "metadata": {"name": "b"}}, "default")
        elections.clock.go_on(2)
        assert first.election.leads  # it does not know yet
        with pytest.raises(errors.Unavailable, match="leads no longer"):
            await client.create(CONFIG_MAPS, {**new, "metadata": {"name": "c"}}, "default")
        assert (await client.get(CONFIG_MAPS, "a", "default"))["metadata"]["name"] == "a"

    elections(scenario)


def test_of_many_over_a_long_time_never_two_work():
    async def scenario(elections):
        names = ["a", "b", "c"]
        by_name = {name: elections.add(name) for name in names}
        for _ in range(5):
            leader = by_name[await elections.leader()]
            leader.transport.is_cut = True
            await elections.pass_s(11)
            assert not leader.election.leads
            assert await elections.leader() != leader.name
            leader.transport.is_cut = False
        assert (await elections.lease())["leaseTransitions"] >= 4

    elections(scenario)


def test_what_the_work_raises_ends_it_and_frees_the_lease():
    async def scenario(elections):
        async def broken():
            raise ValueError("broken")

        client = Client(elections.server.user("system:kube-scheduler"))
        election = LeaderElection(client, NAME, "first", clock=elections.clock)
        with pytest.raises(ValueError, match="broken"):
            await election.lead(broken)
        assert not (await elections.lease()).get("holderIdentity")

    elections(scenario)


@pytest.mark.parametrize(
    ("config", "good"),
    [
        ({}, True),
        ({"lease_duration_s": 10.0}, False),
        ({"renew_deadline_s": 2.4}, False),
        ({"renew_deadline_s": 2.5}, True),
        ({"retry_period_s": 0.0}, False),
        ({"lease_duration_s": 0.9, "renew_deadline_s": 0.5, "retry_period_s": 0.1}, False),
    ],
)
def test_periods_must_fit(config, good):
    with contextlib.nullcontext() if good else pytest.raises(errors.Invalid, match="must be"):
        ElectionConfig(**config).check()
