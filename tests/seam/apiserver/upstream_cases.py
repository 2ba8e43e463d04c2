"""Requests that kube-apiserver was asked once, and how an answer is made comparable.

A case file under tests/golden/upstream/cases is a list of steps, run in order against one server in
a namespace of its own:
``send`` METHOD and path (``{ns}`` stands for the namespace), ``body``, ``type`` (of the body),
``accept``, ``as`` (a user to impersonate, groups after commas), ``headers`` (``Authorization`` is
another's than the administrator's), ``keep`` (names for values of the answer, by dotted path, to be
used as ``{name}`` later; what ends with ``made`` stands so in answers), ``versions`` (those that
are asked; all, where it is missing), ``until`` (what the answer's text must hold; it is asked again
until then, for what a server does in its own time) and ``unordered`` (causes come in any order).
``{hook}`` is the address of the webhook of `upstream_hooks`, ``{bundle}`` whom to trust for it.
Answers lie under tests/golden/upstream/answers/VERSION, one JSON document per case file.
"""

from __future__ import annotations

import http.client
import json
import re
import secrets
import ssl
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).parents[2] / "golden/upstream"
CASES = HERE / "cases"
ANSWERS = HERE / "answers"
CHANGING = {"uid", "resourceVersion", "creationTimestamp", "time", "deletionTimestamp",
            "expirationTimestamp", "authentication.kubernetes.io/credential-id",
            "lastTransitionTime", "lastUpdateTime", "lastPhaseTransitionTime", "continue",
            "selfLink", "serverAddress"}  # fmt: skip
_UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
# Revisions and times in sentences and in YAML.
_SHOWN_REVISION = re.compile(
    r'(ResourceVersion in record \(|resourceVersion: "|, current: )\d+(\)|"|$)'
)
_SHOWN_TIME = re.compile(r'"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"')
_PORT = re.compile(r"127\.0\.0\.1:\d{4,5}(?=->)")  # of a client
_ADDRESS = re.compile(r"\b10\.(9[6-9]|10\d|11[01])\.\d+\.\d+\b")


@dataclass(frozen=True)
class Target:
    """One API server as its administrator reaches it."""

    host: str
    port: int
    tls: ssl.SSLContext
    headers: dict[str, str]
    stranger: ssl.SSLContext  # shows no certificate of the administrator's

    def send(
        self, method: str, path: str, body: bytes | None, headers: dict[str, str]
    ) -> tuple[int, str, str, bytes]:
        """Status, media type, Warning header and body of the answer."""
        tls = self.stranger if "Authorization" in headers else self.tls
        connection = http.client.HTTPSConnection(self.host, self.port, context=tls, timeout=30)
        try:
            connection.request(method, path, body, {**self.headers, **headers})
            answer = connection.getresponse()
            kind = (answer.getheader("Content-Type") or "").partition(";")[0]
            return answer.status, kind, answer.getheader("Warning") or "", answer.read()
        finally:
            connection.close()


def names() -> list[str]:
    """The names of all case files."""
    return sorted(path.stem for path in CASES.glob("*.yaml"))


def steps(name: str, version: str) -> list[dict[str, Any]]:
    """The steps of a case file that are for an API version."""
    found = yaml.safe_load((CASES / f"{name}.yaml").read_text())
    return [step for step in found if version in step.get("versions", (version,))]


def run(target: Target, name: str, version: str) -> list[dict[str, Any]]:
    """Every step's request and its comparable answer."""
    if "{hook}" not in (CASES / f"{name}.yaml").read_text():
        return _run(target, name, version, {})
    from upstream_hooks import Hooks

    with Hooks() as hooks:
        found = _run(target, name, version, hooks.names)
        text = json.dumps(found).replace(hooks.address, "{hook}")
        text = _PORT.sub("{client}", text.replace(hooks.names["bundle"], "{bundle}"))
        answers: list[dict[str, Any]] = json.loads(text)
        return answers


def _run(target: Target, name: str, version: str, names: dict[str, str]) -> list[dict[str, Any]]:
    namespace = f"case-{name}-{secrets.token_hex(3)}"
    _ask(target, "POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
    kept = {"ns": namespace, **names}
    found = []
    for step in steps(name, version):
        status, kind, warning, raw = _awaited(target, step, kept)
        answer = _plain(kind, raw)
        for key, path in step.get("keep", {}).items():
            kept[key] = str(_at(answer, path))
        found.append(
            {
                "send": step["send"],
                **({"warning": warning.replace(namespace, "{ns}")} if warning else {}),
                "status": status,
                "body": _named(_shuffled(_comparable(answer, namespace), step), kept),
            }
        )
    _ask(target, "DELETE", f"/api/v1/namespaces/{namespace}", None)
    return found


def _named(body: Any, kept: dict[str, str]) -> Any:
    """With names that the server made up as what they are kept as."""
    if isinstance(body, dict):
        return {key: _named(item, kept) for key, item in body.items()}
    if isinstance(body, list):
        return [_named(item, kept) for item in body]
    found = [key for key, name in kept.items() if name == body and key.endswith("made")]
    return f"{{{found[0]}}}" if found else body


def _ask(target: Target, method: str, path: str, body: Any) -> None:
    data = None if body is None else json.dumps(body).encode()
    status, _, _, raw = target.send(method, path, data, {"Content-Type": "application/json"})
    assert status < 300, raw


def _awaited(
    target: Target, step: dict[str, Any], kept: dict[str, str]
) -> tuple[int, str, str, bytes]:
    """The answer to a step; one with ``until`` is asked for ten seconds at most."""
    ends = time.monotonic() + 10
    while True:
        found = _step(target, step, kept)
        wanted = step.get("until")
        if wanted is None or re.search(wanted, found[3].decode()) or time.monotonic() > ends:
            return found
        time.sleep(0.05)


def _shuffled(body: Any, step: dict[str, Any]) -> Any:
    """With causes in one order, where the server has none."""
    if not step.get("unordered") or body.get("kind") != "Status":
        return body
    causes = body.get("details", {}).get("causes", [])
    if len(causes) > 1:
        causes.sort(key=lambda cause: (cause.get("field", ""), cause["message"]))
        body["message"] = body["message"].partition(": ")[0]
    return body


def _step(
    target: Target, step: dict[str, Any], kept: dict[str, str]
) -> tuple[int, str, str, bytes]:
    method, path = step["send"].split(" ", 1)
    headers = {"Accept": step.get("accept", "application/json")}
    if "as" in step:
        user, *groups = step["as"].split(",")
        headers["Impersonate-User"] = user
        if groups:
            headers["Impersonate-Group"] = groups[0]
    for key, value in step.get("headers", {}).items():
        headers[key] = _filled(value, kept)
    data = None
    if "body" in step:
        body = step["body"]
        text = body if isinstance(body, str) else json.dumps(body)
        data = _filled(text, kept).encode()
        headers["Content-Type"] = step.get("type", "application/json")
    return target.send(method, _filled(path, kept), data, headers)


def _filled(text: str, kept: dict[str, str]) -> str:
    for key, value in kept.items():
        text = text.replace(f"{{{key}}}", value)
    return text


def _at(value: Any, path: str) -> Any:
    for part in path.split("."):
        value = value[int(part)] if isinstance(value, list) else value[part]
    return value


def _plain(kind: str, raw: bytes) -> Any:
    if kind == "application/json":
        lines = raw.splitlines()
        if len(lines) > 1 and all(line.startswith(b"{") for line in lines):
            return [json.loads(line) for line in lines]  # the events of a watch
        return json.loads(raw) if raw else []  # a watch without events
    return raw.decode("utf-8", "replace")


def _comparable(value: Any, namespace: str, group: str = "") -> Any:
    if isinstance(value, dict):
        if "columnDefinitions" in value:
            value = _table(value)
        if "storageVersionHash" in value and namespace in group:  # which is made of the name
            value = {**value, "storageVersionHash": "{changes}"}
        group = value.get("groupVersion", group)
        return {
            key: "{changes}" if key in CHANGING and item else _comparable(item, namespace, group)
            for key, item in sorted(value.items())
            if not (key == "creationTimestamp" and item is None)
        }
    if isinstance(value, list):
        return [_comparable(item, namespace, group) for item in value]
    if isinstance(value, str):
        text = value.replace(namespace, "{ns}")
        text = _SHOWN_TIME.sub('"{time}"', _SHOWN_REVISION.sub(r"\1{revision}\2", text))
        return _ADDRESS.sub("{address}", _UID.sub("{uid}", text))
    return value


def _table(table: dict[str, Any]) -> dict[str, Any]:
    """A Table without its columns' descriptions, which are upstream's prose, and without ages."""
    columns = [
        {key: item for key, item in column.items() if key != "description"}
        for column in table["columnDefinitions"] or ()
    ]
    rows = [
        {**row, "cells": ["{changes}" if _is_time(cell) else cell for cell in row["cells"]]}
        for row in table.get("rows") or ()
    ]
    return {**table, "columnDefinitions": columns, "rows": rows}


_TIME = r"(\d+[smhdy]){1,2}|\d{4}-\d\d-\d\dT[\d:]+Z"


def _is_time(cell: Any) -> bool:
    return isinstance(cell, str) and re.fullmatch(_TIME, cell) is not None


def _manager(entry: Any) -> tuple[str, ...]:
    return tuple(entry.get(key, "") for key in ("operation", "manager", "subresource"))


def kinds_of_causes(causes: list[dict[str, str]]) -> list[tuple[str, str]]:
    """Which fields are wrong and in which way: each once, and without upstream's words."""
    return sorted({(cause.get("field", ""), cause.get("reason", "")) for cause in causes})


def differences(wanted: Any, found: Any, path: str = "", *, loose: bool = False) -> Iterator[str]:
    """``path: wanted != found`` for every place where both differ.

    With ``loose`` causes are compared as `kinds_of_causes`: an older version words some of them
    otherwise, finds them in another order, and some twice.
    """
    if loose and path.endswith(".details.causes") and isinstance(found, list):
        wanted, found = kinds_of_causes(wanted), kinds_of_causes(found)
    if isinstance(wanted, dict) and isinstance(found, dict):
        for key in sorted({*wanted, *found}):
            yield from differences(
                wanted.get(key, "(nothing)"),
                found.get(key, "(nothing)"),
                f"{path}.{key}",
                loose=loose,
            )
    elif isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        if path.endswith(".managedFields"):  # sorted by time, which may or may not differ
            wanted, found = sorted(wanted, key=_manager), sorted(found, key=_manager)
        for index, (one, other) in enumerate(zip(wanted, found, strict=True)):
            yield from differences(one, other, f"{path}[{index}]", loose=loose)
    elif wanted != found:
        yield f"{path}: {json.dumps(wanted)} != {json.dumps(found)}"
