"""The emulated HNS as one object: the calls of both versions on one store.

Calls are synchronous and take effect one after the other, as HNS serialises them. The wire is
``server.py``; a test may call :meth:`Hns.call` directly.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from muntin.hns import endpoints, loadbalancers, namespaces, networks, view1, view2
from muntin.hns.dataplane import Snapshot
from muntin.hns.host import Host
from muntin.hns.store import Record
from muntin.kit.errors import MuntinError
from muntin.kit.log import fields
from muntin.seams.hns import Kind, Object
from muntin.seams.hns.errors import HnsFailure, failure

log = logging.getLogger(__name__)

_CREATE: dict[Kind, Callable[[Host, Object], Record]] = {
    Kind.NETWORK: networks.create,
    Kind.ENDPOINT: endpoints.create,
    Kind.NAMESPACE: namespaces.create,
    Kind.LOAD_BALANCER: loadbalancers.create,
}
_MODIFY: dict[Kind, Callable[[Host, Record, Object], None]] = {
    Kind.NETWORK: networks.modify,
    Kind.ENDPOINT: endpoints.modify,
    Kind.NAMESPACE: namespaces.modify,
    Kind.LOAD_BALANCER: loadbalancers.modify,
}
_DELETE: dict[Kind, Callable[[Host, Record], None]] = {
    Kind.ENDPOINT: endpoints.delete,
    Kind.NAMESPACE: namespaces.delete,
    Kind.LOAD_BALANCER: loadbalancers.delete,
}


class Hns:
    """HNS of one emulated host."""

    def __init__(self, host: Host) -> None:
        self.host = host

    def start(self) -> None:
        """Bring the machine to what the store holds."""
        host, store = self.host, self.host.store
        for record in store.all(Kind.ENDPOINT):
            endpoints.restore(host, record)
        for record in store.all(Kind.LOAD_BALANCER):
            host.directory.claim_ports(record.id.upper(), loadbalancers.ports_of(record.document))
        local = [item for item in store.all(Kind.ENDPOINT) if not endpoints.is_remote(item)]
        attachments = [(item.id, endpoints.attachment(item)) for item in local]
        balancers = [loadbalancers.orders(host, item) for item in store.all(Kind.LOAD_BALANCER)]
        host.dataplane.reconcile(
            Snapshot(
                networks=[networks.order(record) for record in store.all(Kind.NETWORK)],
                endpoints=[endpoints.order(host, record) for record in local],
                namespaces=[record.id for record in store.all(Kind.NAMESPACE)],
                attachments=[(item, where) for item, where in attachments if where is not None],
                balancers=[order for orders in balancers for order in orders],
            )
        )
        log.info(
            "HNS started",
            **fields(**{str(kind): len(store.all(kind)) for kind in Kind if store.all(kind)}),
        )

    def create(self, kind: Kind, document: Object) -> Record:
        """Make an object from its version 2 document."""
        if kind not in _CREATE:
            raise failure("REQUEST_UNSUPPORTED", f"{kind}.")
        record = _CREATE[kind](self.host, document)
        log.debug("created", **fields(kind=kind, id=record.id, name=document.get("Name", "")))
        return record

    def modify(self, kind: Kind, object_id: str, request: Object) -> None:
        _MODIFY[kind](self.host, self.host.find(kind, object_id), request)

    def delete(self, kind: Kind, object_id: str) -> None:
        """Remove an object; the endpoints of a network go with it."""
        record = self.host.find(kind, object_id)
        if kind is Kind.NETWORK:
            for endpoint in endpoints.of_network(self.host, record.id):
                endpoints.delete(self.host, endpoint)
            networks.delete(self.host, record)
        else:
            _DELETE[kind](self.host, record)
        log.debug("deleted", **fields(kind=kind, id=record.id))

    def call(self, method: str, path: str, query: str, body: Object) -> Any:
        """The ``Output`` of one call of either version.

        Raises:
            HnsFailure: what HNS would report.
        """
        parts = [part for part in path.split("/") if part]
        try:
            if method != "GET":
                self.host.store.make_room(len(str(body)))
            if parts[:1] == ["v2"]:
                return view2.call(self, method, parts[1:], query, body)
            return view1.call(self, method, parts, body)
        except HnsFailure:
            raise
        except (OSError, MuntinError) as err:  # the kernel refused an order
            log.exception("order failed", **fields(method=method, path=path))
            raise failure("E_FAIL", f"{err}.") from err
        except (KeyError, TypeError, ValueError, AttributeError) as err:
            # A malformed document that no check named.
            raise failure("INVALID_JSON", f"{type(err).__name__}: {err}.") from err
