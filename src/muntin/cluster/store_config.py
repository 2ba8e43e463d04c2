"""Where a cluster's objects are kept, as values; ``store_access`` opens what they describe."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from muntin.kit.errors import Invalid
from muntin.seams.store.endpoints import parse_endpoint

SQLITE, ETCD = "sqlite", "etcd"
ETCD_CLIENT_PORT, ETCD_PEER_PORT = 2379, 2380
# Above the router (.1) and below the master (.10) of the node subnet.
MOST_CONTROL_PLANES = 8


class StoreKind(StrEnum):
    """SQLite in the state directory, an etcd of the cluster's own, or one that is there already."""

    SQLITE = "sqlite"
    ETCD = "etcd"
    EXTERNAL = "external"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreConfig:
    """``endpoints`` (URLs) and the PEM files are of an external etcd; empty files mean the system's
    authorities, and no client certificate."""

    kind: StoreKind = StoreKind.SQLITE
    endpoints: tuple[str, ...] = ()
    ca_file: str = ""
    cert_file: str = ""
    key_file: str = ""


def parse(store: str, *, ca: str = "", cert: str = "", key: str = "") -> StoreConfig:
    """The store that is called ``sqlite``, ``etcd`` or a list of URLs with commas between them.

    Raises:
        Invalid: it is none of them, or the files do not fit it.
    """
    if store in (SQLITE, ETCD):
        if ca or cert or key:
            raise Invalid(f"{store!r} takes no certificates; they are for https://HOST:PORT")
        return StoreConfig(kind=StoreKind(store))
    if "://" not in store:
        raise Invalid(f"{store!r} is unknown; use sqlite, etcd or https://HOST:2379,...")
    urls = tuple(url.strip() for url in store.split(","))
    secured = {parse_endpoint(url)[1] for url in urls}
    if len(secured) > 1:
        raise Invalid("http and https are mixed; use https for all")
    if not secured.pop() and (ca or cert or key):
        raise Invalid("certificates are for https; write https://HOST:PORT")
    if bool(cert) != bool(key):
        raise Invalid("a client certificate and its key go together; give both")
    return StoreConfig(
        kind=StoreKind.EXTERNAL, endpoints=urls, ca_file=ca, cert_file=cert, key_file=key
    )
