"""curl.exe: the options that Windows' own curl is mostly used with, and its exit codes."""

from __future__ import annotations

import os
import socket
import sys
import time
from typing import Any

from .httpclient import Answer, FetchError, Request, fetch
from .powershell.host import Host

VERSION = "curl (Muntin) subset 0.1.0\nProtocols: http https\n"
EXIT = {
    "scheme": 1, "url": 3, "resolve": 6, "connect": 7, "timeout": 28, "tls": 35, "redirects": 47,
    "empty": 52, "recv": 56, "certificate": 60,
}  # fmt: skip
FLAGS = {
    "s": "silent", "S": "show-error", "I": "head", "i": "include", "v": "verbose", "L": "location",
    "f": "fail", "k": "insecure", "O": "remote-name", "G": "get", "4": "ipv4", "6": "ipv6",
    "#": "progress-bar", "V": "version", "N": "no-buffer", "q": "disable",
    "J": "remote-header-name",
}  # fmt: skip
VALUES = {
    "o": "output", "m": "max-time", "H": "header", "d": "data", "X": "request", "w": "write-out",
    "A": "user-agent", "e": "referer", "u": "user", "b": "cookie", "T": "upload-file",
    "D": "dump-header", "x": "proxy", "F": "form",
}  # fmt: skip
LONG_FLAGS = frozenset(FLAGS.values()) | {
    "compressed", "http1.1", "fail-with-body", "tcp-nodelay", "no-progress-meter", "ssl-no-revoke",
}  # fmt: skip
LONG_VALUES = frozenset(VALUES.values()) | {
    "noproxy",
    "connect-timeout", "data-raw", "data-binary", "data-urlencode", "retry", "retry-delay",
    "max-redirs", "resolve", "cacert", "url", "json", "oauth2-bearer",
}  # fmt: skip
REFUSED = frozenset({"proxy", "form", "remote-header-name"})
SILENT_FAILURE = 22
BAD_USAGE = 2
WRITE_ERROR = 23


class Usage(Exception):
    """The command line cannot be carried out."""


class Options:
    """What the command line says: flags, single values, and lists."""

    def __init__(self) -> None:
        """Nothing yet."""
        self.flags: set[str] = set()
        self.values: dict[str, str] = {}
        self.headers: list[str] = []
        self.data: list[tuple[str, str]] = []
        self.resolve: list[str] = []
        self.outputs: list[str] = []
        self.urls: list[str] = []

    def store(self, name: str, value: str) -> None:
        """One option with its value."""
        if name == "header":
            self.headers.append(value)
        elif name in ("data", "data-raw", "data-binary", "data-urlencode", "json"):
            self.data.append((name, value))
        elif name == "resolve":
            self.resolve.append(value)
        elif name == "output":
            self.outputs.append(value)
        elif name == "url":
            self.urls.append(value)
        else:
            self.values[name] = value


def read_options(argv: list[str]) -> Options:
    """The options of a command line.

    Raises:
        Usage: one is unknown, refused, or lacks its value.
    """
    options = Options()
    rest = list(argv)
    while rest:
        arg = rest.pop(0)
        if arg.startswith("--") and len(arg) > 2:
            _long(options, arg[2:], rest)
        elif arg.startswith("-") and len(arg) > 1:
            _short(options, arg, rest)
        else:
            options.urls.append(arg)
    for name in REFUSED & (options.flags | set(options.values)):
        raise Usage(f"option --{name}: is not supported by this subset of curl")
    return options


def _long(options: Options, name: str, rest: list[str]) -> None:
    if name in LONG_FLAGS:
        options.flags.add(name)
    elif name.startswith("no-") and name[3:] in LONG_FLAGS:
        options.flags.discard(name[3:])
    elif name in LONG_VALUES:
        if not rest:
            raise Usage(f"option --{name}: requires parameter")
        options.store(name, rest.pop(0))
    else:
        raise Usage(f"option --{name}: is unknown")


def _short(options: Options, arg: str, rest: list[str]) -> None:
    letters = arg[1:]
    while letters:
        letter, letters = letters[0], letters[1:]
        if letter in FLAGS:
            options.flags.add(FLAGS[letter])
        elif letter in VALUES:
            if not letters and not rest:
                raise Usage(f"option -{letter}: requires parameter")
            options.store(VALUES[letter], letters or rest.pop(0))
            return
        else:
            raise Usage(f"option {arg}: is unknown")


def _number(options: Options, name: str) -> float:
    text = options.values.get(name, "0")
    try:
        return float(text)
    except ValueError:
        raise Usage(f"option --{name}: expected a proper numerical parameter") from None


def make_request(options: Options, url: str, host: Host) -> Request:
    """The request for one URL."""
    if "://" not in url:
        url = f"http://{url}"
    body = _body(options, host)
    headers = {"user-agent": ("User-Agent", "curl/muntin"), "accept": ("Accept", "*/*")}
    if body is not None and "get" not in options.flags:
        form = "application/x-www-form-urlencoded"
        json = any(name == "json" for name, _ in options.data)
        headers["content-type"] = ("Content-Type", "application/json" if json else form)
    if "get" in options.flags and body is not None:
        url += ("&" if "?" in url else "?") + body.decode("utf-8", "replace")
        body = None
    method = "POST" if body is not None else "GET"
    if "upload-file" in options.values:
        method, body = "PUT", _read(host, options.values["upload-file"])
        headers.pop("content-type", None)
    method = "HEAD" if "head" in options.flags else method
    _own_headers(options, headers)
    fixed = [one.split(":", 2) for one in options.resolve if one.count(":") >= 2]
    family = socket.AF_INET if "ipv4" in options.flags else socket.AF_UNSPEC
    return Request(
        url,
        options.values.get("request", method),
        tuple(headers.values()),
        body,
        timeout_s=_number(options, "max-time"),
        connect_timeout_s=_number(options, "connect-timeout"),
        redirects=int(options.values.get("max-redirs", "50")) if "location" in options.flags else 0,
        verify="insecure" not in options.flags,
        family=socket.AF_INET6 if "ipv6" in options.flags else family,
        resolve=tuple((name, int(port), address.strip("[]")) for name, port, address in fixed),
        ca_file=host.unix_path(options.values["cacert"]) if "cacert" in options.values else "",
    )


def _own_headers(options: Options, headers: dict[str, tuple[str, str]]) -> None:
    import base64

    simple = {"user-agent": "User-Agent", "referer": "Referer", "cookie": "Cookie"}
    for option, name in simple.items():
        if option in options.values:
            headers[name.lower()] = (name, options.values[option])
    if "user" in options.values:
        token = base64.b64encode(options.values["user"].encode()).decode()
        headers["authorization"] = ("Authorization", f"Basic {token}")
    if "oauth2-bearer" in options.values:
        headers["authorization"] = ("Authorization", f"Bearer {options.values['oauth2-bearer']}")
    for line in options.headers:
        name, colon, value = line.partition(":")
        if not colon:
            name, colon, value = line.partition(";")
        elif not value.strip():
            headers.pop(name.strip().lower(), None)
            continue
        headers[name.strip().lower()] = (name.strip(), value.strip())


def _body(options: Options, host: Host) -> bytes | None:
    from urllib.parse import quote_plus

    parts: list[bytes] = []
    for kind, text in options.data:
        if kind == "data-urlencode":
            name, equals, value = text.partition("=")
            encoded = (
                f"{name}={quote_plus(value)}" if equals and name else quote_plus(value or name)
            )
            parts.append(encoded.encode())
        elif text.startswith("@") and kind != "data-raw":
            data = _read(host, text[1:])
            parts.append(data if kind in ("data-binary", "json") else _unlined(data))
        else:
            parts.append(text.encode())
    return b"&".join(parts) if parts else None


def _unlined(data: bytes) -> bytes:
    return data.replace(b"\r", b"").replace(b"\n", b"")


def _read(host: Host, name: str) -> bytes:
    if name == "-":
        return sys.stdin.buffer.read()
    try:
        with open(host.unix_path(name), "rb") as file:
            return file.read()
    except OSError:
        raise Usage(f"Failed to open {name}") from None


class Transfer:
    """One URL fetched and put where the options say."""

    def __init__(self, options: Options, host: Host, url: str, output: str) -> None:
        """``output`` is a file name, or '' for standard output."""
        self.options = options
        self.host = host
        self.url = url
        self.output = output
        self.size = 0
        self.started = time.monotonic()

    def trace(self, line: str) -> None:
        """A line of -v."""
        if "verbose" in self.options.flags:
            print(line, file=sys.stderr, flush=True)

    def run(self) -> int:
        """The exit code."""
        answer: Answer | None = None
        code, problem = 0, ""
        try:
            answer = fetch(make_request(self.options, self.url, self.host), self.trace)
            failing = answer.status >= 400 and bool(self.options.flags & {"fail", "fail-with-body"})
            if failing:
                code, problem = SILENT_FAILURE, f"The requested URL returned error: {answer.status}"
            self._write(answer, body=not (failing and "fail" in self.options.flags))
        except FetchError as err:
            code, problem = EXIT[err.kind], str(err)
        except OSError:
            code, problem = WRITE_ERROR, "Failure writing output to destination"
        self._complain(code, problem)
        if "write-out" in self.options.values:
            text = write_out(self.options.values["write-out"], answer, self)
            sys.stdout.buffer.write(text.encode())
            sys.stdout.buffer.flush()
        return code

    def _complain(self, code: int, problem: str) -> None:
        quiet = "silent" in self.options.flags and "show-error" not in self.options.flags
        if code and not quiet:
            print(f"curl: ({code}) {problem}", file=sys.stderr, flush=True)

    def _write(self, answer: Answer, *, body: bool) -> None:
        target: Any = sys.stdout.buffer
        if self.output and self.output.lower() not in ("nul", "-"):
            target = open(self.host.unix_path(self.output), "wb")  # noqa: SIM115 - closed below
        elif self.output.lower() == "nul":
            target = open(os.devnull, "wb")  # noqa: SIM115 - closed below
        try:
            if self.options.flags & {"include", "head"}:
                target.write(_head(answer))
            if "dump-header" in self.options.values:
                with open(self.host.unix_path(self.options.values["dump-header"]), "wb") as file:
                    file.write(_head(answer))
            for chunk in answer.chunks():
                self.size += len(chunk)
                if body:
                    target.write(chunk)
                    target.flush()
        finally:
            target.flush()
            if target is not sys.stdout.buffer:
                target.close()


def _head(answer: Answer) -> bytes:
    lines = [f"HTTP/{answer.version} {answer.status} {answer.reason}"]
    lines += [f"{name}: {value}" for name, value in answer.headers]
    return "".join(f"{line}\r\n" for line in [*lines, ""]).encode("latin-1", "replace")


def write_out(template: str, answer: Answer | None, transfer: Transfer) -> str:
    """The text of -w."""
    import re

    spent = time.monotonic() - transfer.started
    values = {
        "http_code": f"{answer.status if answer else 0:03d}",
        "response_code": f"{answer.status if answer else 0:03d}",
        "content_type": answer.header("Content-Type") if answer else "",
        "size_download": str(transfer.size),
        "time_total": f"{spent:.6f}",
        "url_effective": answer.url if answer else transfer.url,
        "num_redirects": str(answer.redirects if answer else 0),
        "remote_ip": answer.peer[0] if answer else "",
        "remote_port": str(answer.peer[1] if answer else 0),
        "local_ip": answer.own[0] if answer else "",
        "local_port": str(answer.own[1] if answer else 0),
        "http_version": answer.version if answer else "0",
        "method": answer.method if answer else "GET",
        "exitcode": "0",
    }
    text = template.replace("\\n", "\n").replace("\\r", "\r").replace("\\t", "\t")
    return re.sub(
        r"%\{(\w+)\}|%%", lambda m: values.get(m.group(1), "") if m.group(1) else "%", text
    )


def main(argv: list[str]) -> int:
    """Run curl.exe; its exit code."""
    host = Host(os.environ)
    try:
        options = read_options(argv)
        if "version" in options.flags:
            print(VERSION, end="")
            return 0
        if not options.urls:
            raise Usage("no URL specified")
        return _all(options, host)
    except Usage as err:
        print(f"curl: {err}", file=sys.stderr)
        return 26 if str(err).startswith("Failed to open") else BAD_USAGE
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return WRITE_ERROR


def _all(options: Options, host: Host) -> int:
    code = 0
    for index, url in enumerate(options.urls):
        output = options.outputs[index] if index < len(options.outputs) else ""
        if "remote-name" in options.flags:
            output = url.split("?")[0].rsplit("/", 1)[-1]
        for turn in range(int(_number(options, "retry")) + 1):
            if turn:
                time.sleep(_number(options, "retry-delay") or 1)
            code = Transfer(options, host, url, output).run()
            if code not in (EXIT["timeout"], EXIT["connect"], EXIT["resolve"]):
                break
    return code
