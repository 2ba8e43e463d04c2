"""What pods of a Linux node are confined by, as containerd and runc carry it out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from node_lab import BUSYBOX, PIDS_LIMIT, Lab, in_lab, ready

LIST = "grep -E 'Seccomp:|NoNewPrivs|CapBnd' /proc/1/status; mkdir /tmp/x || echo refused"
NO_FOLDERS = {
    "defaultAction": "SCMP_ACT_ALLOW",
    "syscalls": [{"names": ["mkdir", "mkdirat"], "action": "SCMP_ACT_ERRNO"}],
}


def a_spec(context: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    container = {
        "name": "c",
        "image": BUSYBOX,
        "command": ["sleep", "600"],
        "securityContext": context or {},
    }
    return {"terminationGracePeriodSeconds": 0, "containers": [container], **more}


def profile(kind: str, **more: str) -> dict[str, Any]:
    return {"seccompProfile": {"type": kind, **more}}


async def confinement(lab: Lab, name: str) -> dict[str, str]:
    await lab.until(name, ready, 30)
    text = await lab.exec(name, "sh", "-c", LIST)
    rows = [line.partition(":") for line in text.splitlines()]
    return {key: value.strip() for key, _, value in rows}


def test_pods_are_confined_as_they_ask(linux_node: Any) -> None:
    async def test(lab: Lab) -> None:
        folder = linux_node.state / "kubelet/seccomp/profiles"
        folder.mkdir(parents=True)
        (folder / "no-folders.json").write_text(json.dumps(NO_FOLDERS))
        local = profile("Localhost", localhostProfile="profiles/no-folders.json")
        least = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
        await lab.create_pod("silent", a_spec())
        await lab.create_pod("default", a_spec(least, securityContext=profile("RuntimeDefault")))
        await lab.create_pod("local", a_spec(local, securityContext=profile("RuntimeDefault")))
        silent = await confinement(lab, "silent")
        assert (silent["Seccomp"], silent["NoNewPrivs"]) == ("0", "0")
        assert "refused" not in silent
        assert await confinement(lab, "default") == {
            "Seccomp": "2", "NoNewPrivs": "1", "CapBnd": "0000000000000000",
        }  # fmt: skip
        report = await confinement(lab, "local")
        assert (report["Seccomp"], report["refused"]) == ("2", "")
        limits = _pids_limits(linux_node.cgroup, (await lab.pod("silent"))["metadata"]["uid"])
        assert limits == {str(PIDS_LIMIT)}

    in_lab(linux_node, test)


def test_what_cannot_be_confined_as_asked_does_not_run(linux_node: Any) -> None:
    async def test(lab: Lab) -> None:
        absent = profile("Localhost", localhostProfile="absent.json")
        await lab.create_pod("absent", a_spec(absent))
        await lab.create_pod("users", a_spec(hostUsers=False))

        def waits(pod: Any) -> Any:
            rows = (pod.get("status") or {}).get("containerStatuses") or [{}]
            return (rows[0].get("state") or {}).get("waiting", {}).get("message")

        pod = await lab.until("absent", lambda p: "absent.json" in (waits(p) or ""), 30)
        reason = pod["status"]["containerStatuses"][0]["state"]["waiting"]["reason"]
        assert reason == "CreateContainerError"
        wanted = (
            "FailedCreatePodSandBox",
            "can't set `spec.hostUsers: false`, runtime does not support user namespaces",
        )

        async def is_told() -> bool:
            return any(
                reason == wanted[0] and wanted[1] in text
                for reason, text in await lab.events("users")
            )

        await lab.eventually(is_told)

    in_lab(linux_node, test)


def _pids_limits(parent: str, uid: str) -> set[str]:
    groups = Path("/sys/fs/cgroup").glob(f"**/{parent}/kubepods/**/pod{uid}/pids.max")
    return {file.read_text().strip() for file in groups}
