"""Transcripts of the emulated HNS: requests in ``*.input.txt``, answers in ``*.output.txt``.

The requests are typed by hand after public documentation and sources; what the emulator answers is
reviewed as a diff. No capture of a real HNS is among them. An input line is ``profile NAME``,
``# text``, or ``METHOD PATH [JSON]``; ``$1`` stands for the first identifier seen, and so on.
"""

import json
import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from muntin.hns.dataplane import PaperDataplane
from muntin.hns.host import Host
from muntin.hns.service import Hns
from muntin.hns.store import Store
from muntin.kit.clock import FakeClock
from muntin.model.windows_releases import build_named, profile_of
from muntin.seams.hns.errors import HnsFailure

HERE = Path(__file__).parent / "hns"
GUID = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
EXTENSIONS = {"E7C3B2F0", "F74F241B", "430BDADD"}


class Transcript:
    def __init__(self) -> None:
        self.ids: list[str] = []
        self.out: list[str] = []
        self.hns: Hns | None = None

    def run(self, text: str) -> str:
        for line in text.splitlines():
            if line.startswith("profile "):
                self.start(line.removeprefix("profile ").strip())
                self.out.append(line)
            elif line.startswith("#") or not line.strip():
                self.out.append(line)
            else:
                self.request(line)
        return "\n".join(self.out) + "\n"

    def start(self, name: str) -> None:
        host = Host(
            profile=profile_of(build_named(name)),
            store=Store(None),
            dataplane=PaperDataplane(),
            clock=FakeClock(),
        )
        self.hns = Hns(host)

    def request(self, line: str) -> None:
        assert self.hns is not None
        self.out.append(line)
        line = re.sub(r"\$(\d+)", lambda match: self.ids[int(match[1]) - 1], line)
        method, path, body = (*line.split(" ", 2), "")[:3]
        url = urlsplit(path)
        try:
            document = json.loads(body) if body else {}
            output = self.hns.call(method, url.path, url.query, document)
            answer = {"Success": True} if output is None else {"Success": True, "Output": output}
        except HnsFailure as err:
            code = f"0x{err.code:08x}"
            answer = {"Success": False, "Error": err.text, "ErrorCode": err.code, "(hex)": code}
        text = GUID.sub(self.number, json.dumps(answer, indent=1))
        self.out += [f"  {row}" for row in text.splitlines()]

    def number(self, match: re.Match[str]) -> str:
        if match[0].split("-")[0] in EXTENSIONS:
            return match[0]
        known = match[0].upper()
        if known not in self.ids:
            self.ids.append(known)
        return f"${self.ids.index(known) + 1}"


@pytest.mark.parametrize("path", sorted(HERE.glob("*.input.txt")), ids=lambda path: path.name[:-10])
def test_hns_transcript(path, golden, monkeypatch):
    # MAC pools follow from identifiers; give the identifiers out in order.
    count = iter(range(1, 1000))
    monkeypatch.setattr("uuid.uuid4", lambda: f"00000000-0000-4000-8000-{next(count):012d}")
    text = Transcript().run(path.read_text(encoding="utf-8"))
    golden(path.with_name(path.name.replace(".input.", ".output.")), text)
