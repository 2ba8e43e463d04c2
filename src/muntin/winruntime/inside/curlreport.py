"""What curl prints beside a body: headers, and the text of -w."""

from __future__ import annotations

import re
import sys
import time
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

if TYPE_CHECKING:
    from .curl import Transfer
    from .httpclient import Answer

_MARKS = ("namelookup", "connect", "appconnect", "pretransfer", "starttransfer")
_VARIABLE = re.compile(r"%\{([^}]*)\}|%%|\\[nrt]")
_ESCAPES = {"\\n": "\n", "\\r": "\r", "\\t": "\t", "%%": "%"}


def head(answer: Answer) -> bytes:
    """The status line and the headers."""
    lines = [f"HTTP/{answer.version} {answer.status} {answer.reason}"]
    lines += [f"{name}: {value}" for name, value in answer.headers]
    return "".join(f"{line}\r\n" for line in [*lines, ""]).encode("latin-1", "replace")


def write_out(template: str, transfer: Transfer, code: int, problem: str) -> str:
    """The text of -w; an unknown variable is named on standard error."""
    values = _values(transfer, code, problem)

    def value(match: re.Match[str]) -> str:
        if match[0] in _ESCAPES:
            return _ESCAPES[match[0]]
        if match[1] not in values:
            print(f"curl: unknown --write-out variable: '{match[1]}'", file=sys.stderr)
            return ""
        return values[match[1]]

    return _VARIABLE.sub(value, template)


def _values(transfer: Transfer, code: int, problem: str) -> dict[str, str]:
    answer = transfer.answer
    spent = time.monotonic() - transfer.started
    values = dict.fromkeys(("content_type", "redirect_url", "remote_ip", "local_ip", "method"), "")
    values |= dict.fromkeys(("remote_port", "local_port", "num_redirects", "num_connects"), "0")
    values |= {"http_version": "0", "size_header": "0", "scheme": ""}
    marks = answer.marks if answer else {}
    values |= {f"time_{name}": f"{marks.get(name, 0):.6f}" for name in _MARKS}
    status = f"{answer.status if answer else 0:03d}"
    values |= {
        "http_code": status,
        "response_code": status,
        "size_download": str(transfer.size),
        "speed_download": str(int(transfer.size / spent)) if spent else "0",
        "size_upload": str(len((answer.request.body if answer else None) or b"")),
        "time_total": f"{spent:.6f}",
        "url": transfer.url,
        "url_effective": answer.url if answer else transfer.url,
        "filename_effective": transfer.output,
        "exitcode": str(code),
        "errormsg": problem,
    }
    if answer:
        target = answer.header("Location")
        values |= {
            "content_type": answer.header("Content-Type"),
            "num_redirects": str(answer.redirects),
            "num_connects": str(answer.redirects + 1),
            "redirect_url": urljoin(answer.url, target) if target else "",
            "remote_ip": answer.peer[0],
            "remote_port": str(answer.peer[1]),
            "local_ip": answer.own[0],
            "local_port": str(answer.own[1]),
            "http_version": answer.version,
            "size_header": str(len(head(answer))),
            "method": answer.method,
            "scheme": urlsplit(answer.url).scheme,
        }
    return values
