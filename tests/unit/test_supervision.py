"""Every task is supervised, or is in the list of short tasks.

When a task of ``asyncio.create_task`` or of a ``TaskGroup`` fails, it ends its siblings, or its
exception is lost. The tasks listed here belong to one request, connection or step, whose caller
awaits them and sees their exceptions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import muntin
from supervision import names

ROOT = Path(muntin.__file__).parent
STARTS = {"create_task", "ensure_future", "TaskGroup"}
OF_ONE_CALL = {
    "apiserver/direct.py": "one streamed answer in process",
    "apiserver/subresources/log.py": "one log over a WebSocket",
    "apiserver/watch_socket.py": "one watch over a WebSocket",
    "apiserver/watchers.py": "one watcher's connection",
    "cluster/event_loop.py": "the process itself",
    "cluster/linux_containerd.py": "one import of images",
    "cluster/publish.py": "one connection to a node port",
    "kit/http/server_connection.py": "one connection",
    "kit/http/server_receiving.py": "one connection",
    "kit/supervised.py": "the helper itself",
    "kubelet/probes/prober.py": "the probes of one container",
    "kubelet/stopper.py": "one stop of a pod",
    "kubelet/tunnel.py": "one connection",
    "kubelet/worker.py": "one step of a pod",
    "lint/registries.py": "one run of the linter",
    "seams/kube/leases.py": "the work of a leader, which the election waits for",
    "seams/streams/client.py": "one command",
    "seams/streams/duplex.py": "one connection",
    "seams/streams/portforward.py": "one connection",
    "seams/streams/portforward_channels.py": "one connection",
    "seams/streams/remotecommand.py": "one command",
    "winruntime/exec.py": "one command",
    "winruntime/exec_terminal.py": "one command",
    "winruntime/layer_staging.py": "one layer of an image",
    "winruntime/streaming.py": "one connection",
}


def starts(path: Path) -> Iterator[int]:
    """Lines that start a task or a group past the helper."""
    text = path.read_text()
    if not any(name in text for name in STARTS):
        return
    for node in ast.walk(ast.parse(text)):
        func = node.func if isinstance(node, ast.Call) else None
        if isinstance(func, ast.Attribute) and func.attr in STARTS:
            yield func.lineno


def test_no_task_is_started_past_supervision() -> None:
    direct_starts = {
        str(path.relative_to(ROOT)): lines
        for path in sorted(ROOT.rglob("*.py"))
        if (lines := list(starts(path)))
    }
    unsupervised = {name: rows for name, rows in direct_starts.items() if name not in OF_ONE_CALL}
    assert unsupervised == {}, "use muntin.kit.supervised, or say here why the caller sees errors"
    assert OF_ONE_CALL.keys() - direct_starts.keys() == set(), "no longer needed here"


def test_names_of_tasks_are_few_and_constant() -> None:
    task_names = names("start", "start_once", "run")
    assert len(set(task_names)) >= 50
    assert all(name == name.lower() and " " not in name for name in task_names)
