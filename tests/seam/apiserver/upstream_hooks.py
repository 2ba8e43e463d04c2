"""The webhook of the cases under tests/golden/upstream: HTTPS on loopback, one path per behaviour.

Paths are what a webhook may do well or badly; each answers every object that it is asked about.
"""

from __future__ import annotations

import base64
import json
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from webhook_server import AUTHORITY

Json = dict[str, Any]


def _patch(value: Any, **more: Any) -> Json:
    text = value if isinstance(value, str) else json.dumps(value)
    found = {"allowed": True, "patch": base64.b64encode(text.encode()).decode()}
    return {**found, "patchType": "JSONPatch", **more}


_LABEL = {"op": "add", "path": "/metadata/labels/patched", "value": "yes"}
# Responses to reviews, without their uid.
RESPONSES: dict[str, Json] = {
    "/allow": {"allowed": True},
    "/deny": {"allowed": False, "status": {"message": "not today"}},
    "/deny-bare": {"allowed": False},
    "/deny-code": {
        "allowed": False,
        "status": {"message": "too much", "reason": "TooManyRequests", "code": 429},
    },
    "/deny-reason": {"allowed": False, "status": {"reason": "Invalid", "code": 422}},
    "/deny-details": {
        "allowed": False,
        "status": {
            "message": "with details",
            "code": 409,
            "details": {"name": "n", "kind": "k", "causes": [{"field": "f", "message": "m"}]},
        },
    },
    "/deny-success": {"allowed": False, "status": {"status": "Success", "code": 200}},
    "/deny-ok-code": {"allowed": False, "status": {"message": "fine", "code": 200}},
    "/warn": {"allowed": True, "warnings": ["mind the gap", 'say "hello"', "two\nlines", ""]},
    "/deny-warn": {"allowed": False, "status": {"message": "no"}, "warnings": ["told you"]},
    "/audit": {"allowed": True, "auditAnnotations": {"a": "b", "c/d": "e"}},
    "/patch": _patch([_LABEL]),
    "/patch-empty": _patch([]),
    "/patch-nowhere": _patch([{"op": "replace", "path": "/no/where", "value": 1}]),
    "/patch-remove": _patch([{"op": "remove", "path": "/data/none"}]),
    "/patch-test": _patch([{"op": "test", "path": "/metadata/name", "value": "x"}]),
    "/patch-odd-op": _patch([{"op": "odd", "path": "/metadata/name", "value": "x"}]),
    "/patch-object": _patch({"op": "add"}),
    "/patch-rubbish": _patch("this is no JSON"),
    "/patch-no-type": {**_patch([_LABEL]), "patchType": None},
    "/patch-other-type": _patch([_LABEL], patchType="MergePatch"),
    "/patch-wrong-type": _patch([{"op": "add", "path": "/data", "value": [1]}]),
    "/patch-unknown": _patch([{"op": "add", "path": "/metadata/nothere", "value": 1}]),
    "/patch-invalid": _patch([{"op": "add", "path": "/data", "value": {"bad key!": "x"}}]),
    "/patch-rename": _patch([{"op": "replace", "path": "/metadata/name", "value": "other"}]),
    "/patch-denied": {**_patch([_LABEL]), "allowed": False},
    "/type-only": {"allowed": True, "patchType": "JSONPatch"},
}
# Whole answers: status, media type, body.
ANSWERS: dict[str, tuple[int, str, str]] = {
    "/rubbish": (200, "application/json", "this is no JSON"),
    "/empty": (200, "application/json", ""),
    "/nothing": (200, "application/json", "{}"),
    "/list": (200, "application/json", "[]"),
    "/html": (200, "text/html", "<html></html>"),
    "/error": (500, "text/plain", "something broke"),
    "/error-json": (400, "application/json", '{"kind":"Status","message":"bad","code":400}'),
    "/missing": (404, "text/plain", "404 page not found\n"),
    "/forbidden": (403, "text/plain", ""),
}


def _review(path: str, review: Json) -> Json:
    """The answers that depend on what was asked."""
    uid = review["request"]["uid"]
    response = {"uid": uid, "allowed": True}
    match path:
        case "/other-uid":
            return {**review, "request": None, "response": {**response, "uid": "other"}}
        case "/no-uid":
            return {**review, "request": None, "response": {"allowed": True}}
        case "/other-version":
            version = "admission.k8s.io/v1beta1"
            return {**review, "apiVersion": version, "request": None, "response": response}
        case "/other-kind":
            return {**review, "kind": "Pod", "request": None, "response": response}
        case "/no-kind":
            return {"response": response}
        case "/no-response":
            return {**review, "request": None}
    return {**review, "request": None, "response": {**RESPONSES[path], "uid": uid}}


def _convert(path: str, review: Json) -> Json:
    """The answers to a ConversionReview."""
    asked = review["request"]
    version = asked["desiredAPIVersion"]
    objects = [{**obj, "apiVersion": version} for obj in asked["objects"]]
    result: Json = {"status": "Success"}
    match path:
        case "/convert-fail":
            objects, result = [], {"status": "Failed", "message": "cannot convert that"}
        case "/convert-fail-bare":
            objects, result = [], {"status": "Failed"}
        case "/convert-none":
            objects = []
        case "/convert-wrong":
            objects = asked["objects"]
        case "/convert-rename":
            objects = [{**o, "metadata": {**o["metadata"], "name": "other"}} for o in objects]
        case "/convert-label":
            objects = [
                {**o, "metadata": {**o["metadata"], "labels": {"converted": "yes"}}}
                for o in objects
            ]
    response = {"uid": asked["uid"], "convertedObjects": objects, "result": result}
    return {**review, "request": None, "response": response}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        path = self.path.partition("?")[0]
        if path == "/slow":
            time.sleep(2.5)
        elif path == "/close":
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
        elif path in ANSWERS:
            self._answer(*ANSWERS[path])
        else:
            answer = _convert if path.startswith("/convert") else _review
            self._answer(200, "application/json", json.dumps(answer(path, json.loads(body))))

    def _answer(self, code: int, kind: str, text: str) -> None:
        body = text.encode()
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


class Hooks(ThreadingHTTPServer):
    """The server, running while it is entered; ``names`` are what cases call its address and its
    authority."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.socket = AUTHORITY.context().wrap_socket(self.socket, server_side=True)
        self.address = f"127.0.0.1:{self.server_address[1]}"
        self.names = {"hook": f"https://{self.address}", "bundle": AUTHORITY.bundle}

    def handle_error(self, *_: object) -> None:
        pass  # a client that gives up, or does not trust this server

    def __enter__(self) -> Hooks:
        self._thread = threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.shutdown()
        self._thread.join()
        self.server_close()
