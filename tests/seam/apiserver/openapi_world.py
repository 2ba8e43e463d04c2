"""What a fuzz of every endpoint finds when it comes: one object of every kind, and a backend.

The administrator makes it, and makes anew what the fuzz took away. ``World.body`` gives a good
body for an operation, ``World.name`` the name of an object that is there.
"""

import http.client
import http.server
import json
import socket
import ssl
import threading
from pathlib import Path

import yaml
from crontabs import crontab, definition, version
from mutations import STRANGE

from muntin.model import resources, schema
from muntin.model.conversion import convert

NAMESPACE = "default"  # where the objects of the file are
USER = "fuzz"
PATIENCE_S = 15  # with an answer
OBJECTS = [
    document
    for document in yaml.safe_load_all((Path(__file__).parent / "one_of_each.yaml").read_text())
    if document
]
WEBHOOK = {
    "name": "a.example.com",
    "clientConfig": {"service": {"namespace": NAMESPACE, "name": "hook"}},
    "rules": [
        {"apiGroups": ["x.y"], "apiVersions": ["v1"], "operations": ["*"], "resources": ["none"]}
    ],
    "sideEffects": "None",
    "admissionReviewVersions": ["v1"],
}
POLICY = {
    "spec": {
        "matchConstraints": {
            "resourceRules": [
                {
                    "apiGroups": [""],
                    "apiVersions": ["v1"],
                    "operations": ["CREATE"],
                    "resources": ["configmaps"],
                }
            ]
        },
        "validations": [{"expression": "object.metadata.name != 'bad'"}],
    }
}
MUTATION = {
    "spec": {
        "matchConstraints": POLICY["spec"]["matchConstraints"],
        "reinvocationPolicy": "Never",
        "mutations": [
            {
                "patchType": "ApplyConfiguration",
                "applyConfiguration": {
                    "expression": "Object{metadata: Object.metadata{labels: {'a': 'b'}}}"
                },
            }
        ],
    }
}
EVENT = {
    "metadata": {"name": "ev", "namespace": NAMESPACE},
    "eventTime": "2020-01-01T00:00:00.000000Z",
    "regarding": {"kind": "Pod", "name": "run", "namespace": NAMESPACE},
    "reason": "R",
    "action": "A",
    "note": "n",
    "type": "Normal",
    "reportingController": "a.b/c",
    "reportingInstance": "i",
}
# Of kinds that the file of objects does not have.
MORE = {
    "MutatingAdmissionPolicy": MUTATION,
    "MutatingAdmissionPolicyBinding": {"spec": {"policyName": "seed"}},
    "ValidatingWebhookConfiguration": {"webhooks": [WEBHOOK]},
    "MutatingWebhookConfiguration": {"webhooks": [WEBHOOK]},
    "ValidatingAdmissionPolicy": POLICY,
    "ValidatingAdmissionPolicyBinding": {
        "spec": {"policyName": "seed", "validationActions": ["Deny"]}
    },
    "APIService": {
        "metadata": {"name": "v1.fuzz.example.com"},
        "spec": {
            "group": "fuzz.example.com",
            "version": "v1",
            "service": {"namespace": NAMESPACE, "name": "none"},
            "groupPriorityMinimum": 10,
            "versionPriority": 10,
        },
    },
}
# What holds the test itself up: changes of it are tried and not made.
PRECIOUS = frozenset(
    {
        "apiservices",
        "clusterrolebindings",
        "clusterroles",
        "customresourcedefinitions",
        "flowschemas",
        "mutatingadmissionpolicies",
        "mutatingadmissionpolicybindings",
        "mutatingwebhookconfigurations",
        "namespaces",
        "prioritylevelconfigurations",
        "validatingadmissionpolicies",
        "validatingadmissionpolicybindings",
        "validatingwebhookconfigurations",
    }
)
REVIEWS = {
    "TokenReview": {"spec": {"token": "a.b.c", "audiences": ["x"]}},
    "SelfSubjectReview": {"metadata": {"labels": {"a": "b"}}},
    "SelfSubjectRulesReview": {"spec": {"namespace": NAMESPACE}},
    "SelfSubjectAccessReview": {"spec": {"nonResourceAttributes": {"path": "/x", "verb": "get"}}},
    "SubjectAccessReview": {
        "spec": {"user": "jane", "resourceAttributes": {"verb": "get", "resource": "pods"}}
    },
    "LocalSubjectAccessReview": {
        "spec": {
            "user": "jane",
            "resourceAttributes": {"verb": "get", "resource": "pods", "namespace": NAMESPACE},
        }
    },
    "Binding": {"metadata": {"name": "init"}, "target": {"kind": "Node", "name": "node"}},
    "Eviction": {"metadata": {"name": "run"}},
    "TokenRequest": {"spec": {"audiences": ["a"], "expirationSeconds": 600}},
    "DeleteOptions": {"gracePeriodSeconds": 0, "propagationPolicy": "Background"},
}


def own_address():
    """An address of this machine that others could reach; empty if there is none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        try:
            sock.connect(("192.0.2.200", 9))  # sends nothing
        except OSError:
            return ""
        found = sock.getsockname()[0]
    return "" if found.startswith("127.") else found


class Backend:
    """Says yes to everybody: a kubelet and a workload for the server to pass requests to."""

    def __init__(self, directory):
        self.address = own_address()
        self._servers = [self._server(None), self._server(directory)]

    def _server(self, directory):
        found = http.server.ThreadingHTTPServer((self.address, 0), _Yes)
        found.daemon_threads = True
        if directory is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(directory / "server.crt", directory / "server.key")
            found.socket = context.wrap_socket(found.socket, server_side=True)
        threading.Thread(target=found.serve_forever, daemon=True).start()
        return found

    @property
    def port(self):
        return self._servers[0].server_address[1]

    @property
    def kubelet_port(self):
        return self._servers[1].server_address[1]

    def close(self):
        for server in self._servers:
            server.shutdown()
            server.server_close()


class _Yes(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def _answer(self):
        size = int(self.headers.get("content-length") or 0)
        self.rfile.read(size)
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(b"ok")

    do_GET = do_PUT = do_POST = do_DELETE = do_OPTIONS = do_HEAD = do_PATCH = _answer

    def log_message(self, *_):
        pass


class Caller:
    """One user's connection to the server; opened anew when it was closed."""

    def __init__(self, process, pair="", token=""):
        """A client with the certificate ``pair``, with ``token``, or anonymous."""
        self._port = process.port
        context = ssl.create_default_context(cafile=process.directory / "ca.crt")
        if pair:
            context.load_cert_chain(
                process.directory / f"{pair}.crt", process.directory / f"{pair}.key"
            )
        self._own = {"authorization": f"Bearer {token}"} if token else {}
        self._context = context
        self._connection = None

    def __call__(self, method, target, body=b"", headers=None, *, streams=False):
        """Status and body; of one that ``streams``, the status alone."""
        for _ in range(2):
            fresh = self._connection is None
            if fresh:
                self._connection = http.client.HTTPSConnection(
                    "127.0.0.1", self._port, context=self._context, timeout=PATIENCE_S
                )
            try:
                self._connection.request(method, target, body, {**(headers or {}), **self._own})
                answer = self._connection.getresponse()
                if streams and answer.status == 200:
                    self.close()
                    return answer.status, b""
                return answer.status, answer.read()
            except TimeoutError:
                self.close()
                raise
            except (http.client.RemoteDisconnected, ConnectionError):
                self.close()
                if fresh:
                    raise
        raise AssertionError(f"{method} {target}: closed twice")

    def json(self, method, target, body=None):
        data = b"" if body is None else json.dumps(body).encode()
        code, found = self(method, target, data, {"content-type": "application/json"})
        return code, json.loads(found)

    def close(self):
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class World:
    """The objects of one server, seen from the operations of its document."""

    def __init__(self, process, api, backend):
        self.admin = Caller(process, "admin")
        self.backend = backend
        rows = resources.served(schema.load(api))
        self._by_plural = {(row.group, row.version, row.plural): row for row in rows}

    def build(self):
        """Everything that is there before."""
        self._account()
        verbs = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch",
                 "approve", "sign", "bind", "escalate"]  # fmt: skip
        rules = [
            {"apiGroups": ["*"], "resources": ["*"], "verbs": verbs},
            {"apiGroups": [""], "resources": ["*/proxy"], "verbs": ["*"]},
            {"nonResourceURLs": ["*"], "verbs": ["get"]},
        ]
        rbac = "/apis/rbac.authorization.k8s.io/v1"
        self._made(f"{rbac}/clusterroles", {"metadata": {"name": "fuzz"}, "rules": rules})
        role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "fuzz"}
        who = [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": USER}]
        binding = {"metadata": {"name": "fuzz"}, "roleRef": role, "subjects": who}
        self._made(f"{rbac}/clusterrolebindings", binding)
        scale = {
            "specReplicasPath": ".spec.replicas",
            "statusReplicasPath": ".status.replicas",
        }
        crd = definition(version(subresources={"status": {}, "scale": scale}))
        self._made("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd)

    def _account(self):
        """The account of pods, which a deletion of all takes, too."""
        where = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts"
        self._there(f"{where}/default", where, {"metadata": {"name": "default"}})

    def _made(self, path, body):
        code, found = self.admin.json("POST", path, body)
        assert code in (201, 409), found

    # -- what an operation is about ----------------------------------------------------------

    def row(self, path):
        """The row of a path of the document; None for a document, and for custom kinds."""
        parts = [part for part in path.split("/") if part and part != "watch"]
        if parts[0] == "api" and len(parts) > 2:
            group, version, parts = "", parts[1], parts[2:]
        elif parts[0] == "apis" and len(parts) > 3:
            group, version, parts = parts[1], parts[2], parts[3:]
        else:
            return None
        if parts[:2] == ["namespaces", "{namespace}"]:
            parts = parts[2:]
        return self._by_plural.get((group, version, parts[0]))

    def name(self, path):
        """The name of an object that is there."""
        if "/crontabs" in path:
            return "one"
        row = self.row(path)
        if row is None:
            return "x"
        if row.plural == "componentstatuses":
            return "etcd-0"
        return self.seed(row)["metadata"]["name"]

    def seed(self, row):
        """A good object of a row."""
        if row.kind == "CustomResourceDefinition":
            return self.definition(row)
        if (row.group, row.kind) == ("events.k8s.io", "Event"):
            return EVENT
        if row.kind in MORE:
            return {"metadata": {"name": "seed"}, **MORE[row.kind]}
        newest = resources.storage_version(row)
        for document in OBJECTS:
            source = resources.known(document["apiVersion"], document["kind"])
            if source.storage_name == row.storage_name:
                found = convert(convert(document, source, newest), newest, row)
                found = json.loads(json.dumps(found))
                if row.namespaced:
                    found["metadata"]["namespace"] = NAMESPACE
                return found
        return {"metadata": {"name": "x"}}

    def definition(self, row, **names):
        """A definition in the form of a row."""
        return {**definition(preserveUnknownFields=False, **names), "apiVersion": row.api_version}

    def ensure(self, path):
        """Make sure that the object of the path is there."""
        self._account()
        if path.endswith("/bindings"):
            pods = f"/api/v1/namespaces/{NAMESPACE}/pods"
            self.admin("DELETE", f"{pods}/init?gracePeriodSeconds=0")
            self._there(f"{pods}/init", pods, OBJECTS[1])
        if "{name}" not in path:
            return
        if "/crontabs" in path:
            where = f"/apis/stable.example.com/v1/namespaces/{NAMESPACE}/crontabs"
            self._there(f"{where}/one", where, crontab("one"))
            return
        row = self.row(path)
        if row is None or not row.is_stored or "create" not in row.verbs:
            return
        body = self.seed(row)
        where = row.path(namespace=NAMESPACE if row.namespaced else None)
        self._there(f"{where}/{body['metadata']['name']}", where, body)
        self._status(path, row)

    def _there(self, path, where, body):
        code, found = self.admin.json("GET", path)
        if code == 200 and found["metadata"].get("deletionTimestamp"):
            merge = {"content-type": "application/merge-patch+json"}
            self.admin("PATCH", path, b'{"metadata":{"finalizers":null}}', merge)
            self.admin("DELETE", f"{path}?gracePeriodSeconds=0")
            code, found = self.admin.json("GET", path)
        if code == 404:
            code, found = self.admin.json("POST", f"{where}?fieldValidation=Ignore", body)
            assert code == 201, (where, found)

    def _status(self, path, row):
        """Addresses, where a proxy or a log needs them."""
        last = path.partition("{name}/")[2].partition("/")[0]
        address = self.backend.address
        if not address or last not in ("proxy", "log"):
            return
        node = {"status": {
            "addresses": [{"type": "InternalIP", "address": address}],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": self.backend.kubelet_port}},
        }}  # fmt: skip
        self._there("/api/v1/nodes/node", "/api/v1/nodes", {"metadata": {"name": "node"}})
        self._merged("/api/v1/nodes/node/status", node)
        core = f"/api/v1/namespaces/{NAMESPACE}"
        if row.plural == "pods":
            where = f"{core}/pods/run"
            self._there(where, f"{core}/pods", OBJECTS[0])
            bound = {"target": {"kind": "Node", "name": "node"}, "metadata": {"name": "run"}}
            self.admin.json("POST", f"{where}/binding", bound)
            self._merged(
                f"{where}/status", {"status": {"podIP": address, "podIPs": [{"ip": address}]}}
            )
        elif row.plural == "services":
            ports = [{"name": "a", "port": self.backend.port}]
            self._status("pods/{name}/proxy", resources.PODS)
            pod = {"kind": "Pod", "name": "run", "namespace": NAMESPACE}
            subset = [{"addresses": [{"ip": address, "targetRef": pod}], "ports": ports}]
            body = {"metadata": {"name": "np"}, "subsets": subset}
            self.admin.json("DELETE", f"{core}/endpoints/np")
            self.admin.json("POST", f"{core}/endpoints", body)

    def _merged(self, path, body):
        merge = {"content-type": "application/merge-patch+json"}
        code, found = self.admin("PATCH", path, json.dumps(body).encode(), merge)
        assert code == 200, (path, found)

    # -- what an operation is given ----------------------------------------------------------

    def body(self, operation):
        """A good body for an operation of the document, or None."""
        path = operation.path
        action = operation.definition.raw.get("x-kubernetes-action", "")
        if action in ("delete", "deletecollection"):
            return REVIEWS["DeleteOptions"]
        kind = operation.definition.raw.get("x-kubernetes-group-version-kind") or {}
        if action == "put":
            code, found = self.admin.json("GET", self.filled(path))
            if code == 200:
                return found
        if kind.get("kind") in REVIEWS:
            return REVIEWS[kind["kind"]]
        if "/crontabs" in path:
            return crontab("two")
        row = self.row(path)
        return None if row is None else self.seed(row)

    def fresh(self, path, body, number):
        """The body to be created under a name that is not taken."""
        end = path.rpartition("/")[2]
        if end == "customresourcedefinitions":
            return self.definition(self.row(path), plural=f"f{number}s", kind=f"F{number}")
        if end == "bindings" or not body["metadata"].get("name"):
            return body
        name = f"f{number}"
        if end == "ipaddresses":
            name = f"10.99.1.{number % 250}"
        if end == "apiservices" and isinstance(body.get("spec"), dict):
            group = f"f{number}.example.com"
            return {
                **body,
                "metadata": {"name": f"v1.{group}"},
                "spec": {**body["spec"], "group": group},
            }
        return {**body, "metadata": {**body["metadata"], "name": name}}

    def filled(self, path, name="", namespace=NAMESPACE):
        """The path with names of what is there."""
        found = path.replace("{namespace}", namespace).replace("{path}", "a/b")
        return found.replace("{name}", name or self.target(path))

    def target(self, path):
        """The name of the path, with the port of the backend where it is asked."""
        name = self.name(path)
        if "/proxy" in path and "/nodes/" not in path:
            port = self.backend.port if "/pods/" in path else "a"
            return f"{name}:{port}"
        return "run" if path.endswith("/log") else name


def strange_name(dice):
    """A name that nobody has."""
    return str(dice.choice(STRANGE)).replace("\x00", "")
