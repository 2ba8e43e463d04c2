"""httpGet probes and hooks.

Source: kubernetes v1.34 pkg/probe/http/http.go, request.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urljoin, urlsplit

from muntin.kit.errors import MuntinError, TimedOut
from muntin.kit.http.client import HttpClient, HttpResponse
from muntin.kit.http.tls import client_context
from muntin.kubelet.probes.result import Result
from muntin.model.pods import find_port

MAX_OUTPUT = 10 * 1024
MAX_REDIRECTS = 10


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
    url: str, action: Mapping[str, Any], timeout_s: float, user_agent: str
) -> Result:
    """Passed for a status from 200 to 399; a redirect is followed on the same host only."""
    headers = {"User-Agent": user_agent, "Accept": "*/*", "Connection": "close"}
    for row in action.get("httpHeaders") or ():
        headers[row["name"]] = row["value"]
    tls = client_context(verify=False) if url.startswith("https:") else None
    client = HttpClient(tls=tls, connect_timeout_s=timeout_s, keep_alive=False)
    try:
        answer = await _followed(client, url, headers, timeout_s)
    except TimedOut:
        reason = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
        return Result(False, f'Get "{url}": {reason}')
    except MuntinError as err:
        refused = isinstance(err.__cause__, ConnectionRefusedError)
        target = urlsplit(url).netloc
        text = f"dial tcp {target}: connect: connection refused" if refused else err.message
        return Result(False, f'Get "{url}": {text}', not_listening=refused)
    finally:
        await client.close()
    if 200 <= answer.status < 400:
        return Result(True, answer.body[:MAX_OUTPUT].decode("utf-8", "replace"))
    return Result(False, f"HTTP probe failed with statuscode: {answer.status}")


async def _followed(
    client: HttpClient, url: str, headers: Mapping[str, str], timeout_s: float
) -> HttpResponse:
    for _ in range(MAX_REDIRECTS):
        answer = await client.request("GET", url, headers=headers, timeout_s=timeout_s)
        location = answer.headers.get("location")
        if answer.status not in (301, 302, 303, 307, 308) or not location:
            return answer
        following = urljoin(url, location)
        if urlsplit(following).hostname != urlsplit(url).hostname:
            return answer  # another host: a warning upstream, and passed
        url = following
    return answer
