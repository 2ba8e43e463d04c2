"""curl.exe: HTTP with the options of Windows' own curl, and its exit codes."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .curloptions import REMOTE_NAME, Options, Usage, read_options, usage
from .curlreport import head, write_out
from .curlrequest import make_request, read_file
from .curlurls import BadGlob, Globbed, expand
from .httpclient import Answer, FetchError, fetch
from .powershell.host import Host

if TYPE_CHECKING:
    from .curlcookies import Cookies

VERSION = "curl (Muntin) subset 0.1.0\nProtocols: http https\n"
EXIT = {
    "scheme": 1, "url": 3, "proxy": 5, "resolve": 6, "connect": 7, "timeout": 28, "tls": 35,
    "redirects": 47, "empty": 52, "recv": 56, "certificate": 60, "ca": 77,
}  # fmt: skip
SILENT_FAILURE, WRITE_ERROR, INTERRUPTED, BAD_ENCODING = 22, 23, 130, 61
TRANSIENT_CODES = frozenset({EXIT["timeout"], EXIT["resolve"], EXIT["proxy"]})
TRANSIENT_STATUSES = frozenset({408, 429, 500, 502, 503, 504})
LONGEST_RETRY_DELAY_S = 600


class BadEncoding(Exception):
    """A compressed body that is not what its header says."""


class Transfer:
    """One URL fetched and put where the options say."""

    def __init__(
        self, options: Options, host: Host, url: str, output: str, cookies: Cookies | None
    ) -> None:
        """``output`` is a file name, or '' for standard output."""
        self.options = options
        self.host = host
        self.url = url
        self.output = output
        self.cookies = cookies
        self.size = 0
        self.started = time.monotonic()
        self.answer: Answer | None = None

    def trace(self, line: str) -> None:
        """A line of -v."""
        if "verbose" in self.options.flags:
            print(line, file=sys.stderr, flush=True)

    def run(self) -> int:
        """The exit code."""
        code, problem = 0, ""
        flags = self.options.flags
        request = make_request(self.options, self.url, self.host, self.cookies)
        try:
            answer = self.answer = fetch(request, self.trace)
            if "location" in flags and not request.redirects and answer.header("Location"):
                raise FetchError("redirects", "Maximum (0) redirects followed")
            failing = answer.status >= 400 and bool(flags & {"fail", "fail-with-body"})
            if failing:
                code, problem = SILENT_FAILURE, f"The requested URL returned error: {answer.status}"
            self._write(answer, body=not (failing and "fail" in flags))
        except FetchError as err:
            code, problem = EXIT[err.kind], str(err)
        except BadEncoding as err:
            code, problem = BAD_ENCODING, str(err)
        except BrokenPipeError:
            raise
        except OSError:
            code, problem = WRITE_ERROR, "Failure writing output to destination"
        finally:
            if self.answer:
                self.answer.close()
        self._complain(code, problem)
        template = self.options.values.get("write-out")
        if template is not None:
            if template.startswith("@"):
                template = read_file(self.host, template[1:]).decode("utf-8", "replace")
            sys.stdout.buffer.write(write_out(template, self, code, problem).encode())
            sys.stdout.buffer.flush()
        return code

    def _complain(self, code: int, problem: str) -> None:
        quiet = "silent" in self.options.flags and "show-error" not in self.options.flags
        if code and not quiet:
            print(f"curl: ({code}) {problem}", file=sys.stderr, flush=True)

    @contextlib.contextmanager
    def _open(self, name: str) -> Iterator[Any]:
        if name in ("", "-"):
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
            return
        path = os.devnull if name.lower() == "nul" else self.host.unix_path(name)
        if "create-dirs" in self.options.flags and os.path.dirname(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            yield file

    def _write(self, answer: Answer, *, body: bool) -> None:
        heads = b"".join(map(head, [*answer.earlier, answer]))
        if "dump-header" in self.options.values:
            with self._open(self.options.values["dump-header"]) as file:
                file.write(heads)
        with self._open(self.output) as target:
            if self.options.flags & {"include", "head"}:
                target.write(heads)
            for chunk in self._decoded(answer):
                self.size += len(chunk)
                if body:
                    target.write(chunk)
                    target.flush()
        if "progress-bar" in self.options.flags and "silent" not in self.options.flags:
            print(f"\r{'#' * 72} 100.0%", file=sys.stderr, flush=True)

    def _decoded(self, answer: Answer) -> Iterator[bytes]:
        coding = answer.header("Content-Encoding").lower().strip()
        if "compressed" not in self.options.flags or coding not in ("gzip", "x-gzip", "deflate"):
            yield from answer.chunks()
            return
        import zlib

        decoder = zlib.decompressobj(zlib.MAX_WBITS | (32 if coding == "deflate" else 16))
        try:
            for chunk in answer.chunks():
                yield decoder.decompress(chunk)
            yield decoder.flush()
        except zlib.error as err:
            raise BadEncoding(f"Error while processing content unencoding: {err}") from err


def main(argv: list[str]) -> int:
    """Run curl.exe; its exit code."""
    host = Host(os.environ)
    try:
        options = read_options(argv)
        if "version" in options.flags:
            print(VERSION, end="")
            return 0
        if "help" in options.flags:
            print(usage(), end="")
            return 0
        if not options.urls:
            raise Usage("curl: (2) no URL specified")
        return _all(options, host)
    except Usage as err:
        print(str(err), file=sys.stderr)
        return err.code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        return WRITE_ERROR


def _all(options: Options, host: Host) -> int:
    cookies = _cookies(options, host)
    code = 0
    for index, url in enumerate(options.urls):
        wanted = options.outputs[index] if index < len(options.outputs) else ""
        try:
            urls = [Globbed(url, ())] if "globoff" in options.flags else expand(url)
        except BadGlob as err:
            raise Usage(f"curl: ({EXIT['url']}) {err}", EXIT["url"]) from None
        for one in urls:
            code = _with_retries(options, host, one.url, _output(wanted, one), cookies)
    if cookies and "cookie-jar" in options.values:
        _save(cookies, host, options.values["cookie-jar"])
    return code


def _output(wanted: object, url: Globbed) -> str:
    if wanted is not REMOTE_NAME:
        return url.name(str(wanted))
    name = url.url.split("://")[-1].split("?")[0].split("#")[0].partition("/")[2]
    name = name.rpartition("/")[2]
    if not name:
        raise Usage("curl: Remote file name has no length!", WRITE_ERROR)
    return name.replace("\\", "_").replace(":", "_")


def _cookies(options: Options, host: Host) -> Cookies | None:
    """The cookie engine, where an option asks for it."""
    if not options.cookies and "cookie-jar" not in options.values:
        return None
    from .curlcookies import Cookies

    cookies = Cookies([text for text in options.cookies if "=" in text])
    for name in options.cookies:
        if "=" not in name and name:
            with contextlib.suppress(Usage):  # one that is absent only starts the engine
                cookies.load(read_file(host, name).decode("utf-8", "replace"))
    return cookies


def _save(cookies: Cookies, host: Host, name: str) -> None:
    if name == "-":
        sys.stdout.buffer.write(cookies.text().encode())
        sys.stdout.buffer.flush()
        return
    try:
        with open(host.unix_path(name), "w", encoding="utf-8") as file:
            file.write(cookies.text())
    except OSError:
        print(f"Warning: failed to save cookies in {name}", file=sys.stderr)


def _with_retries(
    options: Options, host: Host, url: str, output: str, cookies: Cookies | None
) -> int:
    left = int(options.number("retry"))
    delay, limit = options.number("retry-delay"), options.number("retry-max-time")
    pause, started = delay or 1, time.monotonic()
    while True:
        transfer = Transfer(options, host, url, output, cookies)
        code = transfer.run()
        reason = _transient(options, transfer, code)
        over = limit and time.monotonic() + pause - started > limit
        if not left or not reason or over:
            return code
        if "silent" not in options.flags:
            plan = f"Will retry in {pause:g} seconds. {left} retries left."
            print(f"Warning: Problem: {reason}. {plan}", file=sys.stderr, flush=True)
        time.sleep(pause)
        left -= 1
        pause = pause if delay else min(pause * 2, LONGEST_RETRY_DELAY_S)


def _transient(options: Options, transfer: Transfer, code: int) -> str:
    """Why a transfer is worth another try; empty if it is not."""
    if code in TRANSIENT_CODES:
        return "timeout" if code == EXIT["timeout"] else "name lookup"
    if code == EXIT["connect"] and "retry-connrefused" in options.flags:
        return "connection refused"
    status = transfer.answer.status if transfer.answer else 0
    if code in (0, SILENT_FAILURE) and status in TRANSIENT_STATUSES:
        return "HTTP error"
    if code and "retry-all-errors" in options.flags:
        return "(retrying all errors)"
    return ""
