"""Invoke-WebRequest and Invoke-RestMethod."""

from __future__ import annotations

import json
from typing import Any

from ...httpclient import Answer, Request
from .. import values as v
from ..errors import NetError, NetException, PSError
from ..stages import Call
from ..web import USER_AGENT, decoded, header_table, request

REDIRECTIONS = 5
TIMEOUT_S = 100
"""Windows PowerShell's own limits."""


def _request(call: Call) -> Request:
    url = call.get("uri")
    if "://" not in url:
        url = f"http://{url}"
    method = v.to_text(call.get("method", "GET")).upper()
    headers = {"user-agent": ("User-Agent", call.get("useragent", USER_AGENT))}
    given = call.get("headers")
    if isinstance(given, v.Hashtable):
        for key, value in given.items():
            headers[v.to_text(key).lower()] = (v.to_text(key), v.to_text(value))
    body, content_type = _body(call)
    if body is not None and method == "GET":
        url += ("&" if "?" in url else "?") + body.decode()
        body = None
    if body is not None:
        wanted = call.get("contenttype") or content_type
        headers["content-type"] = ("Content-Type", wanted)
    return Request(
        url, method, tuple(headers.values()), body, timeout_s=call.get("timeoutsec", TIMEOUT_S),
        redirects=call.get("maximumredirection", REDIRECTIONS),
    )  # fmt: skip


def _body(call: Call) -> tuple[bytes | None, str]:
    from urllib.parse import urlencode

    form = "application/x-www-form-urlencoded"
    if call.has("infile"):
        with open(call.host.unix_path(call.get("infile")), "rb") as file:
            return file.read(), "application/octet-stream"
    body = call.get("body")
    if body is None:
        return None, form
    if isinstance(body, v.Hashtable):
        pairs = [(v.to_text(key), v.to_text(value)) for key, value in body.items()]
        return urlencode(pairs).encode(), form
    if isinstance(body, bytearray):
        return bytes(body), form
    return v.to_text(body).encode(), form


def _ask(call: Call) -> tuple[Answer, bytes]:
    try:
        return request(_request(call))
    except NetError as err:
        raise _failure(call, err) from err


def _failure(call: Call, err: NetError) -> PSError:
    short = call.name.replace("-", "")
    error = PSError(
        err.message, f"WebCmdletWebResponseException,Microsoft.PowerShell.Commands.{short}Command",
        "InvalidOperation", "System.Net.HttpWebRequest", target_type="HttpWebRequest",
        activity=call.name, exception=err.type_name,
    )  # fmt: skip
    error.exception = NetException(err.type_name, err.message, **err.extra)
    return error


def _save(call: Call, body: bytes) -> bool:
    if not call.has("outfile"):
        return False
    with open(call.host.unix_path(call.get("outfile")), "wb") as file:
        file.write(body)
    return not call.get("passthru")


def invoke_webrequest(call: Call, _item: Any, _has_input: bool) -> None:
    """The response as an object."""
    answer, body = _ask(call)
    if _save(call, body):
        return
    text = decoded(answer, body)
    head = [f"HTTP/{answer.version} {answer.status} {answer.reason}"]
    head += [f"{name}: {value}" for name, value in answer.headers]
    kind = answer.header("Content-Type").lower()
    is_text = (
        not kind or kind.startswith("text/") or any(x in kind for x in ("json", "xml", "script"))
    )
    row = v.PSObject(
        "Microsoft.PowerShell.Commands.BasicHtmlWebResponseObject",
        StatusCode=answer.status, StatusDescription=answer.reason,
        Content=text if is_text else bytearray(body), RawContent="\r\n".join([*head, "", text]),
        Headers=header_table(answer), RawContentLength=len(body),
    )  # fmt: skip
    row.text = text
    call.write(row)


def invoke_restmethod(call: Call, _item: Any, _has_input: bool) -> None:
    """The body: JSON as objects, everything else as text."""
    answer, body = _ask(call)
    if _save(call, body):
        return
    text = decoded(answer, body)
    from .data import from_json

    try:
        json.loads(text)
    except ValueError:
        call.write(text)
        return
    for item in v.enumerate_output(from_json(text)):
        call.write(item)
