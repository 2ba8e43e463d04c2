"""Draw docs/terminal.svg from a real run: bring a cluster up, run commands, record what they print.

Needs root and an environment made by `make setup`. The cluster's name is its own, and it is gone
afterwards. Usage: .venv/bin/python scripts/terminal_picture.py
"""

import os
import pty
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).parent.parent
MUNTIN = ROOT / ".venv/bin/muntin"
NAME = "muntin"
COLUMNS = 150
# What the reader sees typed, and what runs for it.
COMMANDS = (
    ("make up", [str(MUNTIN), "up", "--name", NAME, "--api-server-port", "16443"]),
    ("kubectl get nodes -o wide", ["kubectl", "get", "nodes", "-o", "wide"]),
    (
        "kubectl apply -f examples/win-webserver/win-webserver.yaml",
        ["kubectl", "apply", "-f", "examples/win-webserver/win-webserver.yaml"],
    ),
    (
        "kubectl rollout status deployment/win-webserver",
        ["kubectl", "rollout", "status", "deployment/win-webserver"],
    ),
    ("kubectl get pods -o wide", ["kubectl", "get", "pods", "-o", "wide"]),
    (
        "kubectl exec deploy/win-webserver -- cmd /c ver",
        ["kubectl", "exec", "deploy/win-webserver", "--", "cmd", "/c", "ver"],
    ),
    (
        "kubectl exec deploy/win-webserver -- curl.exe -s http://win-webserver",
        ["kubectl", "exec", "deploy/win-webserver", "--", "curl.exe", "-s", "http://win-webserver"],
    ),
)


def recorded(command: list[str], environment: dict[str, str]) -> str:
    """What ``command`` prints on a terminal of COLUMNS columns."""
    main, child = pty.openpty()
    import fcntl
    import struct
    import termios

    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 60, COLUMNS, 0, 0))
    with subprocess.Popen(
        command, stdin=child, stdout=child, stderr=child, env=environment, cwd=ROOT
    ) as process:
        os.close(child)
        parts = []
        while True:
            try:
                data = os.read(main, 65536)
            except OSError:  # the last writer has gone
                break
            if not data:
                break
            parts.append(data)
        os.close(main)
        if process.wait() != 0:
            raise SystemExit(f"{' '.join(command)} failed:\n{b''.join(parts).decode()}")
    return screen(b"".join(parts).decode("utf-8", "replace"))


def screen(text: str) -> str:
    """The lines that stay: of a line that was written over, its last version."""
    lines = [line.rstrip("\r").rsplit("\r", 1)[-1] for line in text.split("\n")]
    return "\n".join(line.replace("\x1b[2K", "").replace("\x1b[K", "") for line in lines).rstrip()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, Path(os.devnull).open("w") as nowhere:
        environment = {**os.environ, "KUBECONFIG": f"{folder}/config", "TERM": "xterm-256color"}
        environment.pop("NO_COLOR", None)
        console = Console(record=True, width=COLUMNS, file=nowhere, force_terminal=True)
        try:
            for typed, command in COMMANDS:
                console.print(Text(f"# {typed}", style="bold"))
                console.print(Text.from_ansi(recorded(command, environment)))
        finally:
            subprocess.run([str(MUNTIN), "down", "--name", NAME], env=environment, check=False)
        console.save_svg(str(ROOT / "docs/terminal.svg"), title="muntin")
    print("wrote docs/terminal.svg", file=sys.stderr)


if __name__ == "__main__":
    main()
