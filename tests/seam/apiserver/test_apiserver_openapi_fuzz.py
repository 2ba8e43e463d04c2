"""Every endpoint of the published OpenAPI documents, called as somebody with a role and no more.

Calls of each are also made anonymously, by a ServiceAccount without rights, a node and an
administrator. No answer is a 5xx, none keeps the caller waiting, nothing fails in the log, memory
stays; and enough calls succeed for this to have reached the code behind the checks.
More: FUZZ_ROUNDS and FUZZ_SEED in the environment, or FUZZ_SECONDS, which ends the last round.
"""

import json
import os
import re
import time
from collections import Counter, defaultdict

import pytest
import schemathesis
from apiserver_process import ServerProcess
from openapi_calls import Calls
from openapi_world import USER, Backend, Caller, World

ROUNDS = int(os.environ.get("FUZZ_ROUNDS", "1"))
SEED = int(os.environ.get("FUZZ_SEED", "1"))
SECONDS = float(os.environ.get("FUZZ_SECONDS", "0"))
SLOW_S = 5.0
# Who else makes an operation's calls: the first one, which is good, and two that are odd.
TURNS = {0: ("anonymous", "account"), 1: ("node",), 2: ("admin",)}
NO_ANSWER = 0
# Endpoints that no call here can succeed at, with the reason.
NEVER = {
    "/attach": "asks for a connection of another protocol",
    "/exec": "asks for a connection of another protocol",
    "/portforward": "asks for a connection of another protocol",
}
# What kube-apiserver answers with a 5xx, too: a revision that is yet to come, and a binding whose
# target cannot be.
EXPECTED = (b"ResourceVersionTooLarge",)


@pytest.mark.parametrize("version", ["1.20", "1.36"])
def test_every_endpoint(version, tmp_path):
    process = ServerProcess(tmp_path, version=version)
    process.authority.pair(USER, USER, "fuzzers")
    process.authority.pair("node", "system:node:node", "system:nodes")
    process.start()
    backend = Backend(tmp_path)
    found = Fuzz(process, version, backend)
    try:
        found.run()
    finally:
        found.close()
        backend.close()
        process.stop()
    found.check()
    assert "request failed" not in process.log
    assert "Traceback" not in process.log


class Fuzz:
    """One run and what it counted."""

    def __init__(self, process, version, backend):
        self._process = process
        self._world = World(process, version, backend)
        self._user = Caller(process, USER)
        self.others = {}
        self.codes_of = defaultdict(Counter)
        self.answers = defaultdict(Counter)
        self.failures = []
        self.first = {}
        self.slow = []
        self.rounds = 0

    def run(self):
        self._world.build()
        self.others = {
            "anonymous": Caller(self._process),
            "account": Caller(self._process, token=self._token()),
            "node": Caller(self._process, "node"),
            "admin": Caller(self._process, "admin"),
        }
        before = self._memory()
        documents = list(self._documents())
        end = time.monotonic() + SECONDS
        while self.rounds < ROUNDS or time.monotonic() < end:
            calls = Calls(self._world, SEED + self.rounds)
            for document in documents:
                for operation in self._operations(document):
                    if self.rounds >= ROUNDS and time.monotonic() >= end:
                        break
                    self._world.ensure(operation.path)
                    for turn, call in enumerate(calls.of(operation, 1)):
                        self._make(call)
                        for name in TURNS.get(turn, ()):
                            self._make_as(name, call)
            self.rounds += 1
        self.memory = (before, self._memory())
        self.unexpected = self._unexpected()

    def close(self):
        for caller in (self._user, *self.others.values()):
            caller.close()
        self._world.admin.close()

    def _token(self):
        """That of the account that pods have by default, which may do nothing."""
        path = "/api/v1/namespaces/default/serviceaccounts/default/token"
        code, answer = self._world.admin.json("POST", path, {"spec": {"expirationSeconds": 7200}})
        assert code == 201, answer
        return answer["status"]["token"]

    def _make_as(self, name, call):
        code = self._answered(self.others[name], call)[0]
        self.codes_of[name][code] += 1

    def _documents(self):
        """The whole v2 document, and all of v3."""
        yield self._read("/openapi/v2")
        if not (ROUNDS > 1 or SECONDS):
            return
        if self._user("GET", "/openapi/v3")[0] == 200:  # an old API has none
            for entry in self._read("/openapi/v3")["paths"].values():
                yield self._read(entry["serverRelativeURL"])

    def _read(self, path):
        code, found = self._user("GET", path, headers={"accept": "application/json"})
        assert code == 200, found
        return json.loads(found)

    def _operations(self, document):
        for each in schemathesis.openapi.from_dict(document).get_all_operations():
            yield each.ok()

    def _make(self, call):
        code, body = self._answered(self._user, call)
        self.answers[call.label][code] += 1
        self.first.setdefault(call.label, (call, code, body[:600]))

    def _answered(self, caller, call):
        started = time.monotonic()
        try:
            code, body = caller(
                call.method, call.target, call.body, call.headers, streams=call.streams
            )
        except TimeoutError:
            code, body = NO_ANSWER, b""
        seconds = time.monotonic() - started
        if code >= 500 and not any(text in body for text in EXPECTED):
            self.failures.append((code, call, body[:500]))
        if seconds > SLOW_S:
            self.slow.append((seconds, call))
        return code, body

    def _memory(self):
        with open(f"/proc/{self._process.process.pid}/status") as status:
            (line,) = [line for line in status if line.startswith("VmRSS")]
        return int(line.split()[1])

    def _unexpected(self):
        """The server's own count of unexpected exceptions."""
        code, text = self._world.admin("GET", "/metrics")
        assert code == 200
        assert b"# TYPE muntin_apiserver_unexpected_errors_total counter" in text
        rows = re.findall(rb"(?m)^muntin_apiserver_unexpected_errors_total\{.*\} (\d+)", text)
        return sum(map(int, rows))

    def check(self):
        total = sum(self.answers.values(), Counter())
        good = sum(count for code, count in total.items() if 200 <= code < 300)
        print(f"{self.rounds} rounds: {total}, {good / total.total():.0%} succeeded, "
              f"memory {self.memory} KiB, others: "
              f"{ {name: dict(codes) for name, codes in self.codes_of.items()} }")  # fmt: skip
        never = [
            self.first[label]
            for label, codes in self.answers.items()
            if not any(200 <= code < 400 for code in codes)  # a proxy's root redirects
            and not any(label.endswith(end) for end in NEVER)
        ]
        assert self.failures == []
        assert self.unexpected == 0
        operations = len(self.answers)
        for name, codes in self.codes_of.items():
            assert codes.total() >= operations, (name, codes)
            assert NO_ANSWER not in codes, (name, codes)
        for name in ("anonymous", "account"):
            writes = sum(self.codes_of[name][code] for code in (200, 201, 202))
            assert writes < operations / 10, (name, self.codes_of[name])  # documents and reviews
        assert self.codes_of["admin"][403] < operations / 10, self.codes_of["admin"]
        assert self.slow == []
        assert never == []
        assert good >= 0.3 * total.total(), total
        before, after = self.memory
        assert after <= 2 * before, self.memory
