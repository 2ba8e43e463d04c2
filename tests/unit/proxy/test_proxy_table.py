"""Which changes the data plane is told of."""

from ipaddress import IPv4Address

from muntin.proxy.plan import Backend, Frontend, FrontendKey, FrontendKind
from muntin.proxy.table import Table

KEY = FrontendKey(IPv4Address("10.96.0.5"), 6, 80)


def front(service="a/b", number=1, key=KEY):
    backends = (Backend(IPv4Address(f"10.244.1.{number}"), 80, True),)
    kind = FrontendKind.CLUSTER_IP
    return Frontend(key=key, kind=kind, service=service, port_name="", backends=backends)


def test_only_differences_are_told():
    table = Table()
    table.set_service("a/b", [front()])
    (change,) = table.changes()
    assert (change.old, change.new) == (None, front())
    table.tell([change], {})
    table.set_service("a/b", [front()])
    assert table.changes() == []
    table.set_service("a/b", [front(number=2)])
    (change,) = table.changes()
    assert (change.old, change.new) == (front(), front(number=2))
    table.tell([change], {})
    table.set_service("a/b", [])
    (change,) = table.changes()
    assert (change.old, change.new) == (front(number=2), None)
    table.tell([change], {})
    assert (table.changes(), len(table)) == ([], 0)


def test_what_failed_stays_open():
    table = Table()
    table.set_service("a/b", [front()])
    changes = table.changes()
    table.tell(changes, {KEY: "no"})
    assert [change.key for change in table.changes()] == [KEY]
    table.tell(table.changes(), {})
    assert table.changes() == []


def test_an_address_belongs_to_the_first_service_that_names_it():
    table = Table()
    table.set_service("a/b", [front()])
    table.set_service("a/c", [front("a/c", 9)])
    assert [change.new for change in table.changes()] == [front()]
    table.set_service("a/b", [])
    table.set_service("a/c", [front("a/c", 9)])
    assert [change.new for change in table.changes()] == [front("a/c", 9)]


def test_starting_over_tells_everything():
    table = Table()
    table.set_service("a/b", [front()])
    table.tell(table.changes(), {})
    table.start_over()
    (change,) = table.changes()
    assert (change.old, change.new) == (None, front())
