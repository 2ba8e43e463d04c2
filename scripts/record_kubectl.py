"""Record what a kubectl sends for each of its commands, for machines that have only another one.

    scripts/record_kubectl.py [KUBECTL ...]

Every command of CASES runs against a fresh API server of this process behind a recording listener;
its requests, and the status, type and kind of the answers, go to
tests/golden/kubectl/VERSION/CASE.json. tests/seam/apiserver/test_apiserver_kubectl_recorded.py
replays them.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests/seam/apiserver"))

from kubectl_world import World, world  # noqa: E402

from muntin.kit.http.messages import Answer, Request, Response  # noqa: E402
from muntin.kit.http.server import HttpServer  # noqa: E402

GOLDEN = ROOT / "tests/golden/kubectl"
HEADERS = ("accept", "content-type", "upgrade", "connection", "sec-websocket-protocol",
           "sec-websocket-version", "sec-websocket-key", "x-stream-protocol-version",
           "impersonate-user", "impersonate-group")  # fmt: skip
TIMES_OUT_S = 3.0
# What differs from run to run in a query; the replay puts its own in for {now} and {continue}.
CHANGING = (
    (r"(^|&)resourceVersion=[1-9]\d*", r"\1resourceVersion={now}"),
    (r"(^|&)continue=[^&]+", r"\1continue={continue}"),
    (r"&?hash=[^&]*", ""),
    (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "{uid}"),
)

NEW_POD = json.dumps(
    {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "two"},
        "spec": {"containers": [{"name": "main", "image": "busybox:1.35"}]},
    }
)


def _configmap(name: str, **data: str) -> str:
    metadata = {"name": name}
    return json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data})


MADE = _configmap("made", a="3")
SAME = _configmap("made", a="1", b="2")
FRESH = _configmap("fresh", a="1")

# Name, command; what the command reads on its standard input.
CASES: tuple[tuple[str, str, str], ...] = (
    ("discovery", "api-resources", ""),
    ("api-versions", "api-versions", ""),
    ("version", "version -o json", ""),
    ("cluster-info", "cluster-info", ""),
    ("explain", "explain deployment.spec.strategy", ""),
    ("get-pods", "get pods", ""),
    ("get-pods-wide", "get pods -o wide", ""),
    ("get-pod-yaml", "get pod one -o yaml", ""),
    ("get-pods-watch", "get pods -w", ""),
    ("get-pod-watch-only", "get pod one --watch-only -o name", ""),
    ("get-all", "get all", ""),
    ("get-everywhere-in-chunks", "get events -A --chunk-size=1", ""),
    ("get-by-label-and-field", "get pods -l app=web --field-selector=status.phase=Running", ""),
    ("get-missing", "get pod nosuch", ""),
    ("get-raw", "get --raw /readyz", ""),
    ("get-nodes", "get nodes -o wide", ""),
    ("describe-pod", "describe pod one", ""),
    ("describe-node", "describe node lin01", ""),
    ("describe-service", "describe service web", ""),
    ("describe-deployment", "describe deployment web", ""),
    ("events", "get events --sort-by=.lastTimestamp", ""),
    ("wait", "wait --for=condition=Ready pod/one --timeout=5s", ""),
    ("create-pod", "create -f -", NEW_POD),
    ("create-existing", "create -f -", MADE),
    ("create-unknown-field", "create -f -", NEW_POD.replace('"image"', '"imagee"')),
    ("create-dry-run", "create -f - --dry-run=server -o yaml", NEW_POD),
    ("create-deployment", "create deployment more --image=busybox --replicas=2", ""),
    ("create-configmap", "create configmap cm --from-literal=a=b", ""),
    ("create-secret", "create secret generic s --from-literal=a=b", ""),
    ("create-namespace", "create namespace team", ""),
    ("create-role", "create role r --verb=get --resource=pods", ""),
    ("create-quota", "create quota q --hard=pods=3", ""),
    ("create-job", "create job j --image=busybox", ""),
    ("create-token", "create token default", ""),
    ("run", "run two --image=busybox --restart=Never -- true", ""),
    ("expose", "expose deployment web --name=web2 --port=80 --type=NodePort", ""),
    ("autoscale", "autoscale deployment web --max=3", ""),
    ("apply-new", "apply -f -", FRESH),
    ("apply-unchanged", "apply -f -", SAME),
    ("apply-changed", "apply -f -", MADE),
    ("apply-dry-run", "apply -f - --dry-run=server", MADE),
    ("diff", "diff -f -", MADE),
    ("replace", "replace -f -", MADE),
    ("edit", "edit configmap made", ""),
    ("patch-strategic", """patch deployment web -p {"spec":{"replicas":3}}""", ""),
    ("patch-merge", """patch configmap made --type=merge -p {"data":{"a":null}}""", ""),
    ("patch-json", """patch configmap made --type=json -p """
     """[{"op":"replace","path":"/data/a","value":"9"}]""", ""),
    ("patch-json-test-fails", """patch configmap made --type=json -p """
     """[{"op":"test","path":"/data/a","value":"9"}]""", ""),
    ("label", "label pod one tier=front", ""),
    ("label-overwrite", "label pod one app=other --overwrite", ""),
    ("annotate", "annotate pod one note=this", ""),
    ("set-image", "set image deployment/web main=busybox:3", ""),
    ("set-env", "set env deployment/web A=b", ""),
    ("set-resources", "set resources deployment web --limits=cpu=1", ""),
    ("scale", "scale deployment/web --replicas=4", ""),
    ("scale-guarded", "scale deployment/web --current-replicas=9 --replicas=4", ""),
    ("rollout-status", "rollout status deployment/web", ""),
    ("rollout-history", "rollout history deployment/web", ""),
    ("rollout-history-revision", "rollout history deployment/web --revision=1", ""),
    ("rollout-undo", "rollout undo deployment/web", ""),
    ("rollout-restart", "rollout restart deployment/web", ""),
    ("rollout-pause", "rollout pause deployment/web", ""),
    ("delete", "delete configmap made", ""),
    ("delete-missing", "delete pod nosuch", ""),
    ("delete-without-waiting", "delete pod one --wait=false", ""),
    ("delete-forced", "delete pod one --grace-period=0 --force", ""),
    ("delete-foreground", "delete deployment web --cascade=foreground --wait=false", ""),
    ("delete-orphans", "delete deployment web --cascade=orphan", ""),
    ("delete-by-label", "delete pods -l app=web --now --wait=false", ""),
    ("taint", "taint node lin01 k=v:NoSchedule", ""),
    ("cordon", "cordon lin01", ""),
    ("drain", "drain lin01 --force --timeout=1s", ""),
    ("can-i", "auth can-i create pods", ""),
    ("can-i-list", "auth can-i --list", ""),
    ("whoami", "auth whoami", ""),
    ("as-another", "get pods --as=nobody --as-group=nothing", ""),
    ("top", "top nodes", ""),
    ("logs", "logs one --tail=5 --timestamps --since=1h", ""),
    ("logs-follow", "logs -f one -c main", ""),
    ("logs-previous", "logs one --previous", ""),
    ("exec", "exec -i one -- cat", "hello"),
    ("attach", "attach one", ""),
    ("port-forward", "port-forward pod/one :80", ""),
)  # fmt: skip


class Recorder:
    """Hands requests on to a world and keeps them."""

    def __init__(self, found: World) -> None:
        self._world = found
        self.kept: list[dict[str, Any]] = []

    async def __call__(self, request: Request) -> Answer:
        answer = await self._world.ask(request)
        entry = {"method": request.method, "path": request.path, **_sent(request), **_got(answer)}
        if not self.kept or self.kept[-1] != entry:
            self.kept.append(entry)
        return answer


def _sent(request: Request) -> dict[str, Any]:
    found: dict[str, Any] = {}
    query = request.query
    for pattern, text in CHANGING:
        query = re.sub(pattern, text, query)
    if query:
        found["query"] = query
    found["headers"] = {name: request.headers[name] for name in HEADERS if name in request.headers}
    try:
        text = request.body.decode()
    except UnicodeDecodeError:
        text = "base64:" + base64.b64encode(request.body).decode()
    if text:
        found["body"] = re.sub(r'"resourceVersion":"\d+"', '"resourceVersion":"{now}"', text)
    return found


def _got(answer: Answer) -> dict[str, Any]:
    if not isinstance(answer, Response):
        return {"status": 101}
    found: dict[str, Any] = {"status": int(answer.status)}
    headers = {name.lower(): value for name, value in answer.headers.items()}
    found["type"] = headers.get("content-type", "")
    if isinstance(answer.body, bytes) and "json" in found["type"]:
        document = json.loads(answer.body)
        if "kind" in document:
            found["kind"] = document["kind"]
    return found


def record(program: str, command: list[str], stdin: str, home: str) -> list[dict[str, Any]]:
    """The requests that one command makes of a fresh world."""

    async def serve() -> list[dict[str, Any]]:
        async with world() as found:
            recorder = Recorder(found)
            server = HttpServer(recorder)
            listener = socket.socket()
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(("127.0.0.1", PORT))
            await server.listen(listener)
            try:
                await asyncio.to_thread(_run, program, command, stdin, home)
            finally:
                await server.close()
            return recorder.kept

    return asyncio.run(serve())


PORT = 18001
"""The same for all commands: kubectl keeps what it discovered by address."""


def _run(program: str, command: list[str], stdin: str, home: str) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": home, "KUBE_EDITOR": f"{home}/editor"}
    with contextlib.suppress(subprocess.TimeoutExpired):  # some watch for ever
        subprocess.run(
            [program, f"--server=http://127.0.0.1:{PORT}", *command],
            env=environment, input=stdin.encode(), capture_output=True, timeout=TIMES_OUT_S,
        )  # fmt: skip


def main(programs: list[str]) -> None:
    for program in programs:
        shown = subprocess.run([program, "version", "--client", "-o", "json"],
                               capture_output=True, check=True)  # fmt: skip
        version = json.loads(shown.stdout)["clientVersion"]
        folder = GOLDEN / f"{version['major']}.{version['minor'].rstrip('+')}"
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as home:
            editor = Path(home, "editor")
            editor.write_text('#!/bin/sh\nsed -i \'s/b: "2"/b: edited/\' "$1"\n')
            editor.chmod(0o755)
            for name, text, stdin in CASES:
                command = text.split()
                requests = record(program, command, stdin, home)
                if not requests:
                    continue  # this kubectl does not know the command
                case = {"kubectl": version["gitVersion"], "command": command, "requests": requests}
                (folder / f"{name}.json").write_text(json.dumps(case, indent=1) + "\n")
                print(f"{folder.name} {name}: {[r['status'] for r in requests]}")


if __name__ == "__main__":
    main(sys.argv[1:] or ["kubectl"])
