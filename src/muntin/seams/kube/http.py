"""An API server over HTTPS: ours, or any other kube-apiserver."""

from __future__ import annotations

import base64
import contextlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from muntin.kit import errors, safe_yaml
from muntin.kit.http.client import HttpClient, HttpResponse, Upgraded
from muntin.kit.http.tls import client_context
from muntin.seams.kube import Response, StreamResponse

MOST_BYTES = 1024**3
"""The longest answer that is read whole; a list of all objects of a kind may be long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerConfig:
    """Where an API server is, how it is known, and who we are there.

    ``server`` is ``https://host:port``, with a path where the server stands behind one. ``ca``,
    ``certificate`` and ``key`` are PEM; an empty ``ca`` means the system's authorities.
    ``server_name`` replaces the host of ``server`` in the check of its certificate.
    """

    server: str
    ca: bytes = b""
    certificate: bytes = b""
    key: bytes = field(default=b"", repr=False)
    token: str = field(default="", repr=False)
    server_name: str = ""
    insecure: bool = False


class HttpTransport:
    """A :class:`muntin.seams.kube.Transport` over HTTP/1.1 with kept connections."""

    def __init__(self, config: ServerConfig, *, timeout_s: float = 30.0) -> None:
        tls = None
        if config.server.startswith("https:"):
            tls = client_context(
                ca=config.ca,
                certificate=config.certificate,
                key=config.key,
                verify=not config.insecure,
            )
        self._base = config.server.rstrip("/")
        self._token = config.token
        self._timeout_s = timeout_s
        self._http = HttpClient(tls=tls, server_hostname=config.server_name, most_bytes=MOST_BYTES)

    async def request(
        self, method: str, path: str, *, headers: Mapping[str, str], body: bytes = b""
    ) -> Response:
        """One request, its whole answer, within the transport's ``timeout_s``."""
        answer = await self._http.request(
            method,
            self._base + path,
            headers=self._authorized(headers),
            body=body,
            timeout_s=self._timeout_s,
        )
        return Response(answer.status, answer.headers, answer.body)

    @contextlib.asynccontextmanager
    async def stream(
        self, method: str, path: str, *, headers: Mapping[str, str], body: bytes = b""
    ) -> AsyncIterator[StreamResponse]:
        """One request whose answer is read as it comes (watch, log)."""
        async with self._http.stream(
            method,
            self._base + path,
            headers=self._authorized(headers),
            body=body,
            timeout_s=self._timeout_s,
        ) as answer:
            yield StreamResponse(answer.status, answer.headers, answer.chunks)

    async def upgrade(
        self, method: str, path: str, *, headers: Mapping[str, str]
    ) -> Upgraded | HttpResponse:
        """Ask to switch protocols (exec, attach, port-forward); see ``HttpClient.upgrade``."""
        return await self._http.upgrade(
            method,
            self._base + path,
            headers=self._authorized(headers),
            timeout_s=self._timeout_s,
        )

    async def close(self) -> None:
        """Drop all connections."""
        await self._http.close()

    def _authorized(self, headers: Mapping[str, str]) -> Mapping[str, str]:
        return {**headers, "Authorization": f"Bearer {self._token}"} if self._token else headers


def load_kubeconfig(path: str | Path, context: str = "") -> ServerConfig:
    """What the kubeconfig file at ``path`` says for ``context``, by default its current one.

    Files that it names are read relative to it, as kubectl does. Credentials by token, client
    certificate or token file are known; exec and auth-provider plugins are not.

    Raises:
        NotFound: no such file, context, cluster or user.
        Invalid: the file is not a kubeconfig, or its user needs a plugin.
    """
    path = Path(path)
    try:
        config = safe_yaml.load(path.read_bytes())
    except OSError as err:
        raise errors.NotFound(f"{path}: {err.strerror}") from err
    except errors.Invalid as err:
        raise errors.Invalid(f"{path}: {err.message}") from err
    if not isinstance(config, dict):
        raise errors.Invalid(f"{path}: not a kubeconfig")
    name = context or config.get("current-context") or ""
    chosen = _named(path, config, "contexts", "context", name)
    cluster = _named(path, config, "clusters", "cluster", chosen.get("cluster") or "")
    user = _named(path, config, "users", "user", chosen.get("user") or "")
    if "exec" in user or "auth-provider" in user:
        raise errors.Invalid(
            f"{path}: user {chosen.get('user')!r} needs a credential plugin; "
            "use a token or a client certificate"
        )
    if not cluster.get("server"):
        raise errors.Invalid(f"{path}: cluster {chosen.get('cluster')!r} names no server")
    token = user.get("token") or ""
    if not token and user.get("tokenFile"):
        token = (path.parent / user["tokenFile"]).read_text().strip()
    return ServerConfig(
        server=cluster["server"],
        ca=_data(path, cluster, "certificate-authority"),
        certificate=_data(path, user, "client-certificate"),
        key=_data(path, user, "client-key"),
        token=token,
        server_name=cluster.get("tls-server-name") or "",
        insecure=bool(cluster.get("insecure-skip-tls-verify")),
    )


def _named(
    path: Path, config: dict[str, Any], plural: str, singular: str, name: str
) -> dict[str, Any]:
    for entry in config.get(plural) or ():
        if entry.get("name") == name:
            value: dict[str, Any] = entry.get(singular) or {}
            return value
    known = ", ".join(sorted(str(entry.get("name")) for entry in config.get(plural) or ()))
    raise errors.NotFound(f"{path}: no {singular} {name!r}; it has: {known or 'none'}")


def _data(path: Path, section: dict[str, Any], key: str) -> bytes:
    """``<key>-data`` decoded, or the file that ``<key>`` names."""
    if section.get(f"{key}-data"):
        return base64.b64decode(section[f"{key}-data"])
    if section.get(key):
        try:
            return path.parent.joinpath(section[key]).read_bytes()
        except OSError as err:
            raise errors.NotFound(f"{path}: {key} {section[key]}: {err.strerror}") from err
    return b""
