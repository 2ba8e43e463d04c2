"""A small API server of metrics.k8s.io, as another program behind an APIService would be.

It lets in only who shows a certificate of the front proxy, and keeps the identities it was told.
"""

import json
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ROOT = "/apis/metrics.k8s.io/v1beta1"
USAGE = {"timestamp": "2026-01-02T03:04:05Z", "window": "20s"}
NODE = {
    "metadata": {"name": "lin01"},
    **USAGE,
    "usage": {"cpu": "250m", "memory": "512Mi"},
}
POD = {
    "metadata": {"name": "one", "namespace": "default"},
    **USAGE,
    "containers": [{"name": "main", "usage": {"cpu": "5m", "memory": "7Mi"}}],
}
RESOURCES = [
    {
        "name": "nodes",
        "singularName": "",
        "namespaced": False,
        "kind": "NodeMetrics",
        "verbs": ["get", "list"],
    },
    {
        "name": "pods",
        "singularName": "",
        "namespaced": True,
        "kind": "PodMetrics",
        "verbs": ["get", "list", "watch"],
    },
]


def _list(kind, *items):
    version = "metrics.k8s.io/v1beta1"
    found = [{"kind": kind, "apiVersion": version, **item} for item in items]
    return {"kind": f"{kind}List", "apiVersion": version, "metadata": {}, "items": found}


DOCUMENTS = {
    ROOT: {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": "metrics.k8s.io/v1beta1",
        "resources": RESOURCES,
    },
    f"{ROOT}/nodes": _list("NodeMetrics", NODE),
    f"{ROOT}/pods": _list("PodMetrics", POD),
    f"{ROOT}/namespaces/default/pods": _list("PodMetrics", POD),
    f"{ROOT}/namespaces/default/pods/one": _list("PodMetrics", POD)["items"][0],
    "/openapi/v3": {
        "paths": {
            "apis/metrics.k8s.io/v1beta1": {
                "serverRelativeURL": "/openapi/v3/apis/metrics.k8s.io/v1beta1?hash=1"
            }
        }
    },
    "/openapi/v3/apis/metrics.k8s.io/v1beta1": {"openapi": "3.0.0", "paths": {}, "info": {}},
    "/openapi/v2": {
        "swagger": "2.0",
        "paths": {f"{ROOT}/nodes": {"get": {}}},
        "definitions": {"io.k8s.metrics.v1beta1.NodeMetrics": {"type": "object"}},
    },
}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self._note()
        path, _, query = self.path.partition("?")
        if self.server.broken:
            self._answer(500, {})
        elif "Upgrade" in self.headers:
            self._upgrade(path)
        elif "watch=true" in query:
            self._watch()
        elif path in DOCUMENTS:
            self._answer(200, DOCUMENTS[path])
        else:
            self._answer(404, {"kind": "Status", "code": 404, "message": "not here"})

    def do_POST(self):
        self._note()
        if "Upgrade" in self.headers:
            self._upgrade(self.path)
            return
        body = self.rfile.read(int(self.headers["content-length"]))
        self._answer(201, json.loads(body))

    def _upgrade(self, path):
        """What comes is sent back in capitals, up to an end; ``attach`` is refused."""
        if path.endswith("/attach"):
            self._answer(403, {"kind": "Status", "code": 403, "message": "not for you"})
            return
        self.send_response(101)
        self.send_header("Upgrade", self.headers["Upgrade"])
        self.send_header("Connection", "Upgrade")
        self.send_header("X-Stream-Protocol-Version", "v4.channel.k8s.io")
        self.end_headers()
        self.close_connection = True
        while piece := self.connection.recv(65536):
            self.connection.sendall(piece.upper())

    def _note(self):
        subject = dict(row[0] for row in self.connection.getpeercert()["subject"])
        self.server.seen.append((self.path, subject["commonName"], self.headers))

    def _answer(self, code, value):
        body = json.dumps(value).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _watch(self):
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for kind in ("ADDED", "MODIFIED"):
            line = json.dumps({"type": kind, "object": POD}).encode() + b"\n"
            self.wfile.write(b"%x\r\n%b\r\n" % (len(line), line))
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, *_):
        pass


class ExtensionServer(ThreadingHTTPServer):
    """Serves on loopback; ``seen`` has path, certificate's name and headers of each request."""

    daemon_threads = True

    def __init__(self, certificate, key, client_ca):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.seen = []
        self.broken = False  # answers 500 to everything
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        context.load_verify_locations(client_ca)
        context.verify_mode = ssl.CERT_REQUIRED
        self.socket = context.wrap_socket(self.socket, server_side=True)
        self.port = self.server_address[1]

    def handle_error(self, *_):
        pass  # a client that gives up, or shows no certificate

    def __enter__(self):
        self._thread = threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *exc_info):
        self.shutdown()
        self._thread.join()
        self.server_close()
