"""Snapshots of the machine: what a cluster must leave as it was."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

# Values that change by themselves on any machine.
_RESTLESS = re.compile(r"conntrack_count|^net\.netfilter\.nf_conntrack_count|tcp_mem|udp_mem")


def network() -> dict[str, str]:
    """Links, addresses, routes, rules, nftables and network sysctls of the host's namespace."""
    commands = {
        "links": "ip -d -o link",
        "addresses": "ip -o addr",
        "routes": "ip route show table all; ip -6 route show table all",
        "rules": "ip rule; ip -6 rule",
        "nftables": "nft list ruleset",
    }
    found = {name: _output(command) for name, command in commands.items()}
    found["sysctls"] = "\n".join(sorted(_sysctls()))
    found["modules"] = "\n".join(sorted(line.split()[0] for line in _lines("/proc/modules")))
    return {name: _without_ages(text) for name, text in found.items()}


def traces(cluster: str) -> dict[str, list[str]]:
    """Everything on the machine that bears the name of ``cluster``."""
    mark = re.compile(rf"muntin[-/]{re.escape(cluster)}([-/ ]|$)")
    return {
        "mounts": [line for line in _lines("/proc/self/mountinfo") if mark.search(line)],
        "cgroups": [path for path in _cgroups() if mark.search(path)],
        "processes": [row for row in _processes() if mark.search(row)],
        "folders": [
            str(path)
            for root in ("/var/lib/muntin", "/run/muntin")
            for path in [Path(root) / cluster]
            if path.exists()
        ],
    }


def _output(command: str) -> str:
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=30)
    return done.stdout


def _without_ages(text: str) -> str:
    return re.sub(r"(valid_lft|preferred_lft|expires) \d+s?(ec)?", r"\1 N", text)


def _sysctls() -> list[str]:
    rows = []
    for path in Path("/proc/sys/net").rglob("*"):
        name = str(path.relative_to("/proc/sys")).replace("/", ".")
        if path.is_file() and os.access(path, os.R_OK) and not _RESTLESS.search(name):
            try:
                rows.append(f"{name} = {path.read_text().strip()}")
            except OSError:
                continue
    return rows


def _cgroups() -> list[str]:
    return [folder for folder, _, _ in os.walk("/sys/fs/cgroup")]


def _processes() -> list[str]:
    rows = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                groups = (entry / "cgroup").read_text().replace("\n", " ")
                state = (entry / "stat").read_text().rpartition(") ")[2][0]
            except OSError:
                continue
            if state == "Z":  # dead; its new parent, init, has not looked yet
                continue
            if int(entry.name) != os.getpid() and "--name" not in words:
                rows.append(f"{words} {groups}")
    return rows


def _lines(path: str) -> list[str]:
    file = Path(path)
    return file.read_text().splitlines() if file.exists() else []
