"""Where members of an etcd answer."""

from __future__ import annotations

from dataclasses import dataclass

from muntin.kit import errors, urls

DEFAULT_PORT = 2379


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where one member answers: a host and port, or a Unix socket."""

    host: str = ""
    port: int = 0
    path: str = ""

    def __str__(self) -> str:
        return self.path or f"{self.host}:{self.port}"


def parse_endpoint(url: str) -> tuple[Endpoint, bool]:
    """The endpoint of ``https://host:2379``, and whether it is reached by TLS.

    Raises:
        Invalid: it is not of that form.
    """
    right = "write it like https://10.0.0.5:2379"
    try:
        parts = urls.split(url.strip())
        host, port = parts.hostname, parts.port
    except ValueError as err:
        raise errors.Invalid(f"{url!r} is no URL of an etcd ({err}); {right}") from err
    known = parts.scheme in ("http", "https") and host and not parts.username
    if not host or not known or parts.path.strip("/") or parts.query or parts.fragment:
        raise errors.Invalid(f"{url!r} is no URL of an etcd; {right}")
    return Endpoint(host, port or DEFAULT_PORT), parts.scheme == "https"
