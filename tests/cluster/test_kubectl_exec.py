"""kubectl exec, attach, cp and run, of Linux and Windows pods."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from samples import BUSYBOX, SERVERCORE, SHELL, SLEEP, STDIN, User, container, pod


def test_output_and_errors_are_apart(user: User, system: str):
    done = user.run("exec", system, "-c", "main", "--", *SHELL[system], "echo out&& echo err>&2")
    assert (done.stdout.split(), done.stderr.split()) == (["out"], ["err"])
    assert done.returncode == 0


@pytest.mark.parametrize("code", [0, 1, 7, 255])
def test_the_exit_code_is_the_commands(user: User, system: str, code: int):
    done = user.run("exec", system, "-c", "main", "--", *SHELL[system], f"exit {code}")
    assert done.returncode == code
    if code:
        assert f"command terminated with exit code {code}" in done.stderr


def test_an_exit_code_that_kubectl_has_no_room_for(user: User):
    error = user.fails("exec", "win", "-c", "main", "--", "powershell", "-command", "exit -5")
    assert 'invalid exit code value "4294967291"' in error


def test_standard_input(user: User, system: str):
    command = {"lin": ("cat",), "win": ("findstr", "abc")}[system]
    assert user("exec", "-i", system, "-c", "main", "--", *command, input="abc\n").split() == [
        "abc"
    ]


def test_without_standard_input_it_is_empty(user: User, system: str):
    command = {"lin": ("cat",), "win": ("findstr", "abc")}[system]
    started = time.monotonic()
    done = user.run("exec", system, "-c", "main", "--", *command, input="abc\n")
    assert done.stdout == ""
    assert time.monotonic() - started < 40


def test_much_output_arrives_whole(user: User, system: str):
    command = {
        "lin": ("sh", "-c", "seq 1 50000"),
        "win": ("powershell", "-command", "foreach ($i in 1..20000) { Write-Host $i }"),
    }[system]
    lines = user("exec", system, "-c", "main", "--", *command).split()
    assert lines == [str(number + 1) for number in range({"lin": 50000, "win": 20000}[system])]


def test_the_first_container_is_the_default(user: User, system: str):
    done = user.run("exec", system, "--", *SHELL[system], "echo hi")
    assert done.stdout.split() == ["hi"]
    assert "Defaulted container" in done.stderr or "Defaulting container" in done.stderr


@pytest.mark.parametrize("verb", ["exec", "attach"])
def test_in_a_container_that_has_ended(user: User, system: str, verb: str):
    command = ["--", "hostname"] if verb == "exec" else []
    error = user.fails(verb, f"{system}-half", "-c", "done", *command)
    assert error.strip().endswith('unable to upgrade connection: container not found ("done")')


def test_in_what_is_not_there(user: User, system: str):
    assert 'pods "nosuch" not found' in user.fails("exec", "nosuch", "--", "hostname")
    error = user.fails("exec", system, "-c", "nosuch", "--", "hostname")
    assert f"container nosuch is not valid for pod {system}" in error


def test_of_a_program_that_is_not_there(user: User, system: str):
    words = {
        "lin": 'exec: "nosuch": executable file not found in $PATH',
        "win": "The system cannot find the file specified.",
    }[system]
    done = user.run("exec", system, "-c", "main", "--", "nosuch")
    assert done.returncode != 0
    assert "error executing command in container: failed to exec in container:" in done.stderr
    assert words in done.stderr


def test_a_shell_on_a_terminal(user: User, system: str):
    shell, prompt = {"lin": ("sh", "# "), "win": ("cmd", "C:\\>")}[system]
    add = {"lin": "echo is $((40+2))", "win": "set /a 40+2"}[system]
    code, screen = user.typed(
        "exec", "-it", system, "-c", "main", "--", shell,
        keys=[(prompt, f"{add}\r"), ("42", "exit 5\r")],
    )  # fmt: skip
    assert code == 5, screen
    assert "42" in screen


def test_an_interrupt_on_a_terminal_reaches_the_command(user: User):
    code, screen = user.typed(
        "exec", "-it", "lin", "-c", "main", "--", "sh",
        keys=[("# ", "echo now; sleep 100\r"), ("\nnow", "\x03"), ("^C", "exit 6\r")],
    )  # fmt: skip
    assert code == 6, screen


def test_attach_joins_the_containers_own_streams(user: User, system: str):
    name = f"{system}-attach"
    own = container(system, "main", STDIN[system], stdin=True, stdinOnce=True)
    user("create", "-f", "-", input=json.dumps(pod(system, name, own, policy="Never")))
    try:
        user("wait", f"pod/{name}", "--for=condition=Ready", "--timeout=30s")
        done = user.run("attach", "-i", name, input="echo attached\nexit 4\n")
        assert "attached" in done.stdout
        assert done.returncode == 0  # attach tells nothing of the exit code
        user("wait", f"pod/{name}", "--for=condition=Ready=false", "--timeout=30s")
    finally:
        user("delete", "pod", name, "--now")


def test_attach_shows_what_is_written_from_now_on(user: User, system: str):
    with user.running("attach", system, "-c", "main") as lines:
        first = int(lines.wait("line").rsplit(" ", 1)[1])
        assert first > 1
        lines.wait(f"line {first + 1}")


def test_run_with_a_terminal_and_remove(user: User, system: str):
    shell, prompt = {"lin": ("sh", "# "), "win": ("cmd", "C:\\>")}[system]
    image = {"lin": BUSYBOX, "win": SERVERCORE}[system]
    kind = {"lin": "linux", "win": "windows"}[system]
    overrides = json.dumps(
        {"apiVersion": "v1", "spec": {"nodeSelector": {"kubernetes.io/os": kind}}}
    )
    name = f"{system}-run"
    code, screen = user.typed(
        "run", name, "--rm", "-it", f"--image={image}", "--restart=Never",
        f"--overrides={overrides}", "--", shell,
        keys=[("pressing enter", "\r"), (prompt, "echo so&& exit 4\r")],
    )  # fmt: skip
    assert "so" in screen
    assert code == 4, screen
    assert f'pod "{name}" deleted' in screen
    assert f'pods "{name}" not found' in user.fails("get", "pod", name)


def test_a_terminal_that_the_user_lacks_falls_back_to_logs(user: User, system: str):
    """The process has a terminal, the request asks for stderr: refused, not left hanging."""
    shell = {"lin": "sh", "win": "powershell"}[system]
    image = {"lin": BUSYBOX, "win": SERVERCORE}[system]
    kind = {"lin": "linux", "win": "windows"}[system]
    overrides = json.dumps(
        {"apiVersion": "v1", "spec": {"nodeSelector": {"kubernetes.io/os": kind}}}
    )
    name = f"{system}-noterm"
    done = user.run(
        *("run", name, "-it", "--rm", "--restart=Never", f"--image={image}"),
        *(f"--overrides={overrides}", "--", shell, "-c", "sleep 5; echo done"),
    )
    assert "tty and stderr cannot both be true" in done.stderr


def test_copy_there_and_back(user: User, system: str, tmp_path: Path):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.txt").write_text("first")
    (folder / "b.bin").write_bytes(bytes(range(256)) * 400)
    place = f"/tmp-copy-{user.old}"
    user("cp", str(folder), f"{system}:{place}", "-c", "main")
    show = {"lin": ("cat", f"{place}/a.txt"), "win": ("cmd", "/c", f"type C:\\{place[1:]}\\a.txt")}
    assert user("exec", system, "-c", "main", "--", *show[system]) == "first"
    user("cp", f"{system}:{place}", str(tmp_path / "back"), "-c", "main")
    assert (tmp_path / "back/b.bin").read_bytes() == (folder / "b.bin").read_bytes()


def test_debug_adds_a_container(user: User, system: str):
    if user.old:  # what it sends is a kind of 1.20 that a server of today does not know
        error = user.fails("debug", system, f"--image={BUSYBOX}", "--", "true")
        assert "error updating ephemeral containers" in error
        return
    name = f"{system}-debugged"
    document = pod(system, name, container(system, "main", SLEEP[system]))
    user("create", "-f", "-", input=json.dumps(document))
    try:
        user("wait", f"pod/{name}", "--for=condition=Ready", "--timeout=30s")
        shell, prompt = {"lin": ("sh", "# "), "win": ("cmd", "C:\\>")}[system]
        image = {"lin": BUSYBOX, "win": SERVERCORE}[system]
        _, screen = user.typed(
            "debug", "-it", name, "-c", "tool", f"--image={image}", "--profile=general",
            "--", shell,
            keys=[("pressing enter", "\r"), (prompt, "echo a-tool\r"), ("a-tool", "exit 3\r")],
        )  # fmt: skip
        assert "Session ended" in screen, screen
        path = "{.status.ephemeralContainerStatuses[0].state.terminated.exitCode}"
        user("wait", f"pod/{name}", f"--for=jsonpath={path}=3", "--timeout=20s")
        assert "a-tool" in user("logs", name, "-c", "tool")
        assert user("get", "pod", name, "--no-headers").split()[1:3] == ["1/1", "Running"]
    finally:
        user("delete", "pod", name, "--now")


def test_a_command_ends_with_its_pod(user: User, system: str):
    name = f"{system}-gone"
    document = pod(system, name, container(system, "main", SLEEP[system]))
    user("create", "-f", "-", input=json.dumps(document))
    user("wait", f"pod/{name}", "--for=condition=Ready", "--timeout=30s")
    with user.running("exec", name, "--", *SLEEP[system]) as lines:
        time.sleep(0.5)
        assert lines.process.poll() is None
        user("delete", "pod", name, "--now")
        assert lines.process.wait(20) != 0
