"""What only an etcd of several members over TLS shows: who may come in, and members that go."""

import asyncio
import contextlib
import itertools
import signal
import ssl
from pathlib import Path

import pytest
from etcd_lab import EtcdLab

from muntin.kit import errors
from muntin.kit.http.tls import client_context
from muntin.seams.store.endpoints import Endpoint
from muntin.seams.store.etcd import EtcdStore
from muntin.seams.store.etcd_connection import NoAnswer


def run(scenario, seconds=120):
    asyncio.run(asyncio.wait_for(scenario(), seconds))


def test_who_shows_no_certificate_is_refused(etcd_members):
    lab = etcd_members
    context = client_context(ca=lab.files["ca"].read_bytes())
    context.set_alpn_protocols(["h2"])

    async def scenario():
        await (await lab.store()).close()
        with pytest.raises(errors.Unavailable, match="store: etcd at"):
            await EtcdStore.open([Endpoint("127.0.0.1", lab.ports[0])], ssl=context)

    run(scenario)


def test_a_server_that_another_authority_signed_is_refused(etcd_members):
    lab = etcd_members
    context = client_context(ca=(lab.pki / "ca.crt").read_bytes())
    context.set_alpn_protocols(["h2"])
    assert context.verify_mode is ssl.CERT_REQUIRED

    async def scenario():
        await (await lab.store()).close()
        with pytest.raises(errors.Unavailable, match="certificate verify failed"):
            await EtcdStore.open([Endpoint("127.0.0.1", lab.ports[0])], ssl=context)

    run(scenario)


def test_when_a_member_goes_another_is_asked(etcd_members):
    lab = etcd_members

    async def scenario():
        store = await lab.store(prefix="/muntin/goes")
        start = await store.current_revision()
        seen, more = [], asyncio.Event()

        async def follow():
            after = start
            while True:
                try:
                    async for batch in store.watch("/k/", after):
                        seen.extend(change.revision for change in batch.changes)
                        after = batch.revision
                        more.set()
                except errors.Unavailable:
                    await asyncio.sleep(0.05)

        following = asyncio.ensure_future(follow())
        written, values = [await store.create("/k/a", b"1")], itertools.count()
        for number in range(3):
            lab.kill(number)
            try:
                while len(written) < (number + 1) * 5:
                    try:
                        revision = (await store.get("/k/a")).mod_revision
                        if revision not in written:  # a write that nobody acknowledged
                            written.append(revision)
                        value = b"%d" % next(values)  # another each time: it tells what landed
                        written.append(await store.update("/k/a", value, revision))
                    except (errors.Unavailable, errors.Conflict):
                        await asyncio.sleep(0.05)
            finally:
                lab.start(number)
        while seen[-1:] != written[-1:]:
            more.clear()
            await more.wait()
        assert seen == written
        following.cancel()
        await store.close()

    run(scenario)


def without_answer(store, *, sent):
    """Let the next write of ``store`` get no answer, after it was ``sent`` or before."""
    call = store._connection.call

    async def lost(method, message, **kwargs):
        if method != "Txn":
            return await call(method, message, **kwargs)
        store._connection.call = call
        if sent:
            await call(method, message, **kwargs)
        raise NoAnswer("store: Connection lost")

    store._connection.call = lost


def test_a_write_that_nobody_answered_is_looked_for(etcd_members):
    async def scenario():
        store = await etcd_members.store(prefix="/muntin/unanswered")
        without_answer(store, sent=True)
        made = await store.create("/k/a", b"1")
        assert (await store.get("/k/a")).create_revision == made
        without_answer(store, sent=True)
        changed = await store.update("/k/a", b"2", made)
        assert (await store.get("/k/a")).mod_revision == changed > made
        without_answer(store, sent=False)
        with pytest.raises(errors.Unavailable, match="Connection lost"):
            await store.create("/k/b", b"1")
        assert not (await store.list("/k/b")).records
        without_answer(store, sent=False)
        with pytest.raises(errors.Unavailable, match="Connection lost"):
            await store.update("/k/a", b"3", changed)
        assert (await store.get("/k/a")).value == b"2"
        await store.close()

    run(scenario)


def test_prefixes_do_not_meet_and_one_can_be_removed(etcd_members):
    async def scenario():
        one, two = [await etcd_members.store(prefix=f"/muntin/{name}/") for name in ("one", "two")]
        await one.create("/k/a", b"1")
        await two.create("/k/a", b"2")
        assert (await one.get("/k/a")).value == b"1"
        await one.clear()
        assert await one.count("/k/") == 0
        assert (await two.get("/k/a")).value == b"2"
        for store in (one, two):
            await store.close()

    run(scenario)


def test_an_etcd_above_its_quota_says_what_to_do(tmp_path):
    lab = EtcdLab(tmp_path, flags=("--quota-backend-bytes=1000000",))

    async def write(store):
        for number in range(100):
            await store.create(f"/k/{number}", bytes(100_000))

    async def scenario():
        store = await lab.store()
        with pytest.raises(errors.Unavailable, match="database space exceeded; make room in etcd"):
            await write(store)
        assert (await store.get("/k/0")).value == bytes(100_000)  # reads go on
        await store.close()

    try:
        run(scenario)
    finally:
        lab.close()


def sockets():
    """The open sockets of this process."""
    links = []
    for entry in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # of the listing itself
            links.append(str(entry.readlink()))
    return {link for link in links if link.startswith("socket:")}


@pytest.mark.parametrize("says_goodbye", [True, False])
def test_no_socket_is_open_when_a_store_is_closed(etcd_members, says_goodbye):
    lab = etcd_members

    async def scenario():
        before = sockets()
        store = await lab.store()
        assert sockets() - before
        for process in [] if says_goodbye else lab.processes.values():
            process.send_signal(signal.SIGSTOP)
        try:
            await store.close()
            assert sockets() <= before
        finally:
            for process in lab.processes.values():
                process.send_signal(signal.SIGCONT)

    run(scenario, 10)
