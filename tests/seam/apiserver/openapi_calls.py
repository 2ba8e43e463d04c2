"""Calls of one operation: what schemathesis makes of the document, and what is nearly good."""

import json
import random
from urllib.parse import parse_qs, quote, urlencode

from hypothesis import HealthCheck, Phase, given, seed, settings
from mutations import STRANGE, mutated
from openapi_world import NAMESPACE, PRECIOUS, strange_name

QUERIES = {
    "allowWatchBookmarks": ("true", "x"),
    "continue": ("", "x", "e30=", "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJhIn0"),
    "dryRun": ("All", "All", "x"),
    "fieldManager": ("me", "x" * 200, "\x07"),
    "fieldSelector": ("metadata.name=a", "metadata.namespace!=x", "x", "=,="),
    "fieldValidation": ("Strict", "Warn", "Ignore", "x"),
    "force": ("true", "x"),
    "gracePeriodSeconds": ("0", "1", "-1", "x", "9" * 30),
    "labelSelector": ("a=b", "a in (b,c)", "!a", "a in (", "é"),
    "limit": ("1", "500", "0", "-1", "x", "9" * 30),
    "orphanDependents": ("true", "false", "x"),
    "pretty": ("true", "x"),
    "propagationPolicy": ("Background", "Foreground", "Orphan", "x"),
    "resourceVersion": ("0", "1", "-1", "x", ""),
    "resourceVersionMatch": ("Exact", "NotOlderThan", "x"),
    "sendInitialEvents": ("true", "x"),
    "tailLines": ("1", "-1", "x"),
    "timeoutSeconds": ("1", "2", "x", "-5"),
    "watch": ("false", "0", "true", "x", ""),
}
PATCHES = (
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
)


class Call:
    """One request: ``label`` is the operation's method and path in the document."""

    def __init__(self, label, method, target, body, headers, streams):
        self.label = label
        self.method = method
        self.target = target
        self.body = body
        self.headers = headers
        self.streams = streams

    def __repr__(self):
        return f"{self.method} {self.target} {self.headers} {self.body[:2000]!r}"


def generated(operation, count, number):
    """``count`` cases of the operation, as schemathesis makes them; the same for each number."""
    found = []

    @seed(number)
    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy())
    def collect(case):
        found.append(case)

    collect()
    return found


class Calls:
    """The calls of operations in one world."""

    def __init__(self, world, number):
        self._world = world
        self._number = number
        self._created = 0

    def of(self, operation, count):
        """Calls of one operation: each generated case, as it is and with something good in it."""
        dice = random.Random(f"{self._number} {operation.label}")
        query = {"container": "a"} if operation.path.endswith("/log") else {}
        yield self._call(operation, dice, query, self._world.body(operation), good=True)
        for case in generated(operation, count, self._number):
            query = dict(case.query or {})
            body = case.body if isinstance(case.body, dict | list) else None
            yield self._call(operation, dice, query, body, generated=case)
            known = self._world.body(operation)
            if known is not None:
                broken = mutated(known, dice.random())
                yield self._call(operation, dice, self._query(operation, dice), broken)
            else:
                yield self._call(operation, dice, self._query(operation, dice), None)

    def _query(self, operation, dice):
        shared = operation.schema.raw_schema["paths"][operation.path].get("parameters", ())
        raw = [*operation.definition.raw.get("parameters", ()), *shared]
        names = [one["name"] for one in raw if one["in"] == "query"]
        picked = dice.sample(names, min(len(names), dice.choice((0, 0, 1, 1, 2, 4))))
        return {
            name: dice.choice(QUERIES.get(name, ("a", "true", "1")))
            if dice.random() < 0.8
            else str(dice.choice(STRANGE))
            for name in picked
        }

    def _call(self, operation, dice, query, body, *, good=False, generated=None):
        path, method = operation.path, operation.method.upper()
        row = self._world.row(path)
        is_precious = method != "GET" and row is not None and row.plural in PRECIOUS
        if is_precious or (method == "DELETE" and dice.random() < 0.5):
            query["dryRun"] = "All"
        action = operation.definition.raw.get("x-kubernetes-action", "")
        if action in ("watch", "watchlist") and not good:
            query.setdefault("timeoutSeconds", "1")
        headers, data = self._body(operation, dice, query, body, good)
        target = self._target(operation, dice, generated, good)
        text = urlencode(
            {key: _text(value) for key, value in query.items()}, doseq=True, errors="replace"
        )
        streams = "watch" in action or asks_to_watch(text)
        return Call(
            operation.label, method, f"{target}?{text}" if text else target, data, headers, streams
        )

    def _target(self, operation, dice, generated, good):
        path = operation.path
        name, namespace = self._world.target(path), NAMESPACE
        if not good:
            if dice.random() < 0.15:
                own = (generated.path_parameters or {}) if generated else {}
                name = str(own.get("name", strange_name(dice))) or "x"
            if dice.random() < 0.05:
                namespace = dice.choice(("default", "kube-system", "gone", "A_B"))
        found = path.replace("{namespace}", quote(namespace, safe=""))
        found = found.replace(
            "{path}", dice.choice(("a/b", "", "..%2f", "%00")) if not good else "a"
        )
        safe = ":" if "/proxy" in path else ""
        return found.replace("{name}", quote(name, safe=safe, errors="replace"))

    def _body(self, operation, dice, query, body, good):
        method = operation.method
        if method == "patch" and operation.definition.raw.get("x-kubernetes-action") == "patch":
            return self._patch(operation, dice, query, body, good)
        if method == "post" and isinstance(body, dict) and isinstance(body.get("metadata"), dict):
            body = {**body, "metadata": {**body["metadata"]}}
            if "status" not in query and operation.path.count("{name}") == 0:
                self._created += 1
                if dice.random() < 0.8:
                    query.setdefault("dryRun", "All")
                if good or dice.random() < 0.7:
                    body = self._world.fresh(operation.path, body, self._created)
        if body is None:
            return {}, b""
        if method == "delete" and not good and dice.random() < 0.5:
            return {}, b""
        if not good and dice.random() < 0.05:
            return {"content-type": "application/yaml"}, json.dumps(body).encode()
        if not good and dice.random() < 0.03:
            return {"content-type": "application/json"}, json.dumps(body).encode()[:-2]
        return {"content-type": "application/json"}, json.dumps(body).encode()

    def _patch(self, operation, dice, query, body, good):
        known = operation.definition.raw.get("consumes") or PATCHES
        kind = dice.choice([one for one in PATCHES if one in known])
        code, current = self._world.admin.json("GET", self._world.filled(operation.path))
        if code != 200:
            current = {"metadata": {"labels": {}}}
        patch = {"metadata": {"labels": {"patched": "yes"}}}
        if kind == PATCHES[0]:
            patch = [{"op": "add", "path": "/metadata/annotations", "value": {"a": "b"}}]
        elif kind == PATCHES[3]:
            self._created += 1  # a manager that owned nothing before has nothing to lose
            query.setdefault("fieldManager", f"fuzz{self._created}")
            query.setdefault("force", "true")
            name = current["metadata"].get("name", "x")
            patch = {**{key: current.get(key) for key in ("apiVersion", "kind")},
                     "metadata": {"name": name, "labels": {"a": "b"}}}  # fmt: skip
        if not good:
            choice = dice.random()
            if choice < 0.3:
                patch = mutated(patch, dice.random())
            elif choice < 0.6:
                patch = mutated(current, dice.random())
            elif choice < 0.75 and body is not None:
                patch = body
        return {"content-type": kind}, json.dumps(patch).encode()


def asks_to_watch(query):
    """Whether the answer to a list with that query goes on: only false and 0 say no."""
    values = parse_qs(query, keep_blank_values=True).get("watch", ["false"])
    return values[0].lower() not in ("false", "0")


def _text(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    return [_text(one) for one in value] if isinstance(value, list) else str(value)
