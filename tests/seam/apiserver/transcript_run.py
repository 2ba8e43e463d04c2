"""Runs a script of kubectl commands against an API server, as users without system:masters."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from apiserver_process import Authority
from transcript_normal import comparable
from transcript_text import FILES, Outcome, Step, steps

PEOPLE = "people"
"""The namespace of the service accounts that the users are."""
PATIENCE_S = 20


def version_of(kubectl: str) -> str:
    """A kubectl's own ``MAJOR.MINOR``."""
    done = subprocess.run(
        [kubectl, "version", "--client", "-o", "json"], capture_output=True, check=True
    )
    found = json.loads(done.stdout)["clientVersion"]
    return f"{found['major']}.{found['minor'].rstrip('+')}"


@dataclass(frozen=True)
class Stage:
    """A server with its users: ``kubeconfigs`` by user; ``folder`` is the stage's own."""

    kubectl: str
    folder: Path
    admin: Path

    def ask(self, *words: str, body: Any = None, kubeconfig: Path | None = None) -> str:
        """The output of one of the administrator's own steps."""
        done = subprocess.run(
            [self.kubectl, *words],
            env=self.environment(kubeconfig or self.admin),
            input=None if body is None else json.dumps(body),
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, f"{words}: {done.stderr}"
        return done.stdout

    def environment(self, kubeconfig: Path) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "KUBECONFIG": str(kubeconfig),
            "TMPDIR": "/tmp",
            "LC_ALL": "C",
        }

    def kubeconfig(self, user: str, namespace: str) -> Path:
        """A kubeconfig of one of the users, made when it is first asked for."""
        path = self.folder / f"{user}.{namespace}.kubeconfig"
        if not path.exists():
            request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest"}
            url = f"/api/v1/namespaces/{PEOPLE}/serviceaccounts/{user}/token"
            answer = self.ask("create", "--raw", url, "-f", "-", body={**request, "spec": {}})
            config = json.loads(self.ask("config", "view", "--raw", "-o", "json"))
            config["users"] = [
                {"name": "u", "user": {"token": json.loads(answer)["status"]["token"]}}
            ]
            config["clusters"] = [{"name": "c", "cluster": config["clusters"][0]["cluster"]}]
            context = {"cluster": "c", "user": "u", "namespace": namespace}
            config["contexts"] = [{"name": "c", "context": context}]
            config["current-context"] = "c"
            path.write_text(json.dumps(config))
        return path


def set_up(stage: Stage) -> None:
    """The users: ``ops`` may do everything, by RBAC; ``dev`` and ``jane`` nothing as yet."""
    stage.ask("create", "namespace", PEOPLE)
    for user in ("ops", "dev", "jane"):
        stage.ask("create", "serviceaccount", user, "-n", PEOPLE)
    account = f"--serviceaccount={PEOPLE}:ops"
    stage.ask("create", "clusterrolebinding", "ops", "--clusterrole=cluster-admin", account)


def play(stage: Stage, topic: str, api: str, client: str) -> list[Outcome]:
    """What every step of a topic's script prints, in a namespace of the topic's name."""
    stage.ask("create", "namespace", topic)
    things = "--resource=configmaps,pods,pods/log,pods/exec,services,deployments.apps"
    stage.ask("create", "role", "dev", "-n", topic, "--verb=*", things)
    account = f"--serviceaccount={PEOPLE}:dev"
    stage.ask("create", "rolebinding", "dev", "-n", topic, "--role=dev", account)
    work = stage.folder / topic
    shutil.copytree(FILES, work)
    Authority(work).pair("tls", "tls.example")
    player = _Player(stage, topic, work)
    with contextlib.closing(player):
        return [found for step in steps(topic, api, client) for found in player.play(step)]


class _Player:
    """Plays steps one after another; one of them may go on in the background."""

    def __init__(self, stage: Stage, topic: str, work: Path) -> None:
        self._stage, self._topic, self._work = stage, topic, work
        self._background: _Background | None = None

    def play(self, step: Step) -> Iterator[Outcome]:
        if step.verb == "finish":
            assert self._background is not None, "nothing was started"
            text, self._background = self._background.finish(int(step.words[0])), None
            yield self._outcome(step, text, "", 0)
            return
        command = [self._stage.kubectl, *step.words]
        kubeconfig = self._stage.kubeconfig(step.user, self._topic)
        options: dict[str, Any] = {
            "cwd": self._work,
            "env": {**self._stage.environment(kubeconfig), **step.environment},
            "text": True,
        }
        if step.verb == "start":
            self._background = _Background(command, options)
            yield self._outcome(step, "", "", 0)
            return
        stdin = (self._work / step.stdin).read_text() if step.stdin else ""
        try:
            done = subprocess.run(
                command, input=stdin, capture_output=True, timeout=PATIENCE_S, **options
            )
        except subprocess.TimeoutExpired as late:
            raise AssertionError(f"{self._topic}: does not end: {step.line}") from late
        yield self._outcome(step, done.stdout, done.stderr, done.returncode)

    def _outcome(self, step: Step, output: str, errors: str, code: int) -> Outcome:
        work = str(self._work)
        shown = comparable(output, step.words, work), comparable(errors, step.words, work)
        return Outcome(step.line, *shown, code)

    def close(self) -> None:
        if self._background is not None:
            self._background.finish(0)


class _Background:
    """A command that does not end by itself, and the lines that it has printed."""

    def __init__(self, command: list[str], options: dict[str, Any]) -> None:
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options
        )
        self._lines: queue.Queue[str] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        time.sleep(1.5)  # it has to be watching before the next step changes something

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)

    def finish(self, count: int) -> str:
        """Its first ``count`` lines, fewer if they do not come."""
        end = time.monotonic() + 10
        found = []
        while len(found) < count:
            try:
                found.append(self._lines.get(timeout=max(end - time.monotonic(), 0.01)))
            except queue.Empty:
                break
        self._process.kill()
        self._process.wait()
        self._reader.join()
        assert self._process.stdout is not None
        self._process.stdout.close()
        return "".join(found)
