"""httpGet probes and hooks.

Source: kubernetes v1.34 pkg/probe/http/http.go, request.go.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any
from urllib.parse import urljoin

from muntin.kit import urls
from muntin.kit.errors import Invalid, MuntinError
from muntin.kit.http.client import HttpClient, HttpResponse
from muntin.kit.http.tls import client_context
from muntin.kubelet.probes.result import Result
from muntin.model.pods import find_port

MAX_OUTPUT = 10 * 1024
MAX_REDIRECTS = 10
MOST_TOLD = 200  # characters of a Location that cannot be parsed


def probe_url(pod: Mapping[str, Any], action: Mapping[str, Any], pod_ip: str) -> str | None:
    """The URL of an httpGet action; None when its port has no number."""
    port = find_port(pod, action["port"])
    if port is None:
        return None
    host = action.get("host") or pod_ip
    bracketed = f"[{host}]" if ":" in host else host
    path = action.get("path") or "/"
    path = path if path.startswith("/") else f"/{path}"
    return f"{action.get('scheme', 'HTTP').lower()}://{bracketed}:{port}{path}"


async def http_get(
    url: str,
    action: Mapping[str, Any],
    timeout_s: float,
    user_agent: str,
    *,
    any_status: bool = False,
) -> Result:
    """Passed for a status from 200 to 399; a redirect is followed on the same host only, and one
    to another host passes with a warning. Of the answer 10 KiB are read.
    ``any_status``: it has passed with whatever status, as hooks do."""
    tls = client_context(verify=False) if url.startswith("https:") else None
    client = HttpClient(tls=tls, connect_timeout_s=timeout_s, keep_alive=False)
    try:
        async with asyncio.timeout(timeout_s):
            answer = await _followed(client, url, _headers(action, user_agent))
    except TimeoutError:
        reason = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
        return Result(False, f'Get "{url}": {reason}')
    except _Redirected as err:
        return Result(False, f'Get "{err.url}": {err.reason}')
    except Invalid as err:
        return Result(False, err.message, errored=True)
    except MuntinError as err:
        refused = isinstance(err.__cause__, ConnectionRefusedError)
        target = urls.split(url).netloc
        text = f"dial tcp {target}: connect: connection refused" if refused else err.message
        return Result(False, f'Get "{url}": {text}', not_listening=refused)
    finally:
        await client.close()
    text = answer.body.decode("utf-8", "replace")
    if any_status:
        return Result(True, text)
    if 300 <= answer.status < 400:
        return Result(True, f"Probe terminated redirects, Response body: {text}", warned=True)
    if 200 <= answer.status < 300:
        return Result(True, text)
    return Result(False, f"HTTP probe failed with statuscode: {answer.status}")


def _headers(action: Mapping[str, Any], user_agent: str) -> dict[str, str | tuple[str, ...]]:
    """The header of a probe: a name may come several times, and values are UTF-8.

    Source: kubernetes v1.34 pkg/probe/http/request.go.
    """
    found: dict[str, tuple[str, ...]] = {}
    for row in action.get("httpHeaders") or ():
        name = row["name"].title()
        found[name] = (*found.get(name, ()), row.get("value", "").encode().decode("latin-1"))
    for name, value in (("User-Agent", user_agent), ("Accept", "*/*")):
        if found.get(name) == ("",):  # sent empty, it is left out
            del found[name]
        else:
            found.setdefault(name, (value,))
    return {**found, "Connection": "close"}


class _Redirected(Exception):
    """A redirect cannot be followed."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(reason)
        self.url = url
        self.reason = reason


async def _followed(
    client: HttpClient, url: str, headers: Mapping[str, str | tuple[str, ...]]
) -> HttpResponse:
    """The answer at the end of all redirects on the same host.

    Raises:
        Invalid: ``url`` or a header cannot be sent.
        Unavailable: there is no answer.
        _Redirected: a redirect leads to what is no URL, or there are too many.
    """
    for number in range(MAX_REDIRECTS):
        try:
            answer = await _beginning(client, url, headers)
        except Invalid as err:
            if not number:
                raise
            raise _Redirected(url, err.message) from err
        location = answer.headers.get("location")
        if answer.status not in (301, 302, 303, 307, 308) or not location:
            return answer
        try:
            following = urljoin(url, location)
            other = urls.split(following).hostname != urls.split(url).hostname
        except ValueError as err:
            text = f'failed to parse Location header "{location[:MOST_TOLD]}": {err}'
            raise _Redirected(url, text) from err
        if other:
            return answer
        url = following
    raise _Redirected(url, f"stopped after {MAX_REDIRECTS} redirects")


async def _beginning(
    client: HttpClient, url: str, headers: Mapping[str, str | tuple[str, ...]]
) -> HttpResponse:
    """An answer with the first MAX_OUTPUT bytes of its body."""
    async with client.stream("GET", url, headers=headers) as answer:
        body = b""
        async for part in answer.chunks:
            body += part[: MAX_OUTPUT - len(body)]
            if len(body) >= MAX_OUTPUT:
                break
        return HttpResponse(answer.status, answer.headers, body)
