"""Audit events: one JSON object for each stage of a request that is written down. Pure.

Source: apiserver v1.34 pkg/apis/audit/v1/types.go, pkg/audit/request.go.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from typing import Any

import orjson

from muntin.apiserver.audit.policy import NAMES, Level
from muntin.apiserver.request import User, user_info

Object = dict[str, Any]

API_VERSION = "audit.k8s.io/v1"
LONGEST_USER_AGENT = 1024


def source_ips(headers: Mapping[str, str], remote: str) -> list[str]:
    """The addresses that a request came by: what proxies say, then who is connected."""
    said = [*headers.get("x-forwarded-for", "").split(","), headers.get("x-real-ip", "")]
    found: dict[str, None] = {}
    for text in (*said, remote):
        try:
            found[str(ipaddress.ip_address(text.strip()))] = None
        except ValueError:
            continue
    return list(found)


def who(user: User | None) -> Object:
    """A user as events show it; empty for somebody who could not be identified."""
    return user_info(user) if user is not None else {}


def response_status(code: int, body: bytes) -> Object:
    """The Status of an answer: of a success its code alone."""
    found: Object = {"metadata": {}}
    if code >= 400 and body[:1] == b"{":
        status = _loads(body)
        if isinstance(status, dict) and status.get("kind") == "Status":
            for key in ("status", "message", "reason", "details"):
                if status.get(key):
                    found[key] = status[key]
    found["code"] = code
    return found


def shown_object(body: bytes, *, without_managed_fields: bool) -> Any:
    """An object of a request or an answer; None for what is no JSON."""
    text = body.rstrip(b"\n")
    if not without_managed_fields and b"\n" not in text:  # an event is one line
        return orjson.Fragment(text) if text[:1] in (b"{", b"[") else None
    found = _loads(body)
    if isinstance(found, dict) and without_managed_fields:
        for obj in (found, *(found.get("items") or ())):
            if isinstance(obj, dict) and isinstance(obj.get("metadata"), dict):
                obj["metadata"].pop("managedFields", None)
    return found


def _loads(body: bytes) -> Any:
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        return None


def line(
    level: Level, audit_id: str, stage: str, request: Object, rest: Object, times: tuple[str, str]
) -> bytes:
    """One event as a line of JSON without its end.

    ``request`` has the members from requestURI to objectRef; ``rest`` what the stage adds, maybe
    with annotations; ``times`` are when the request came and when the stage was reached.
    """
    annotations = rest.pop("annotations", None)
    event: Object = {
        "kind": "Event",
        "apiVersion": API_VERSION,
        "level": NAMES[level],
        "auditID": audit_id,
        "stage": stage,
        **request,
        **rest,
        "requestReceivedTimestamp": times[0],
        "stageTimestamp": times[1],
    }
    if annotations:
        event["annotations"] = annotations
    return orjson.dumps(event)
