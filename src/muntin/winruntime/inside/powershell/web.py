"""HTTP for Invoke-WebRequest and System.Net.WebClient."""

from __future__ import annotations

from typing import Any

from ..httpclient import Answer, FetchError, Request, fetch
from . import values as v
from .errors import NetError

USER_AGENT = "Mozilla/5.0 (Windows NT; Windows NT 10.0; en-US) MuntinSubset"
_STATUS = {"resolve": "NameResolutionFailure", "connect": "ConnectFailure", "timeout": "Timeout",
           "certificate": "TrustFailure", "tls": "SecureChannelFailure"}  # fmt: skip


def web_error(err: FetchError, host: str) -> NetError:
    """A request without an answer as .NET's WebException."""
    words = {
        "resolve": f"The remote name could not be resolved: '{host}'",
        "connect": "Unable to connect to the remote server",
        "timeout": "The operation has timed out.",
        "certificate": "The underlying connection was closed: Could not establish trust "
        "relationship for the SSL/TLS secure channel.",
        "tls": "The underlying connection was closed: An unexpected error occurred on a send.",
        "scheme": "The URI prefix is not recognized.",
        "url": "Invalid URI: The hostname could not be parsed.",
        "redirects": "Too many automatic redirections were attempted.",
    }
    message = words.get(
        err.kind, "The underlying connection was closed: The connection was closed unexpectedly."
    )
    status = _STATUS.get(err.kind, "UnknownError")
    return NetError("System.Net.WebException", message, Status=status, Response=None)


def status_error(answer: Answer) -> NetError:
    """An answer of 400 and more as .NET's WebException."""
    response = v.PSObject(
        "System.Net.HttpWebResponse",
        StatusCode=answer.status, StatusDescription=answer.reason, ResponseUri=answer.url,
        Headers=header_table(answer), ContentType=answer.header("Content-Type"),
    )  # fmt: skip
    return NetError(
        "System.Net.WebException",
        f"The remote server returned an error: ({answer.status}) {answer.reason}.",
        Status="ProtocolError",
        Response=response,
    )


def header_table(answer: Answer) -> v.Hashtable:
    """The headers; several of one name joined."""
    table = v.Hashtable(net_name="System.Collections.Generic.Dictionary`2")
    for name, value in answer.headers:
        table.set(name, f"{table.get(name)},{value}" if name in table else value)
    return table


def request(wanted: Request) -> tuple[Answer, bytes]:
    """Ask; answer and body.

    Raises:
        NetError: WebException.
    """
    from urllib.parse import urlsplit

    try:
        answer = fetch(wanted)
        body = answer.body()
    except FetchError as err:
        raise web_error(err, urlsplit(wanted.url).hostname or "") from err
    if answer.status >= 400:
        raise status_error(answer)
    return answer, body


def decoded(answer: Answer, body: bytes) -> str:
    """The body as text by its charset."""
    import re

    match = re.search(r"charset=\"?([\w-]+)", answer.header("Content-Type"), re.IGNORECASE)
    try:
        return body.decode(match.group(1) if match else "utf-8", "replace")
    except LookupError:
        return body.decode("utf-8", "replace")


class WebClient(v.NetObject):
    """System.Net.WebClient."""

    net_name = "System.Net.WebClient"

    def __init__(self) -> None:
        """Without headers."""
        self.Headers = v.Hashtable(net_name="System.Net.WebHeaderCollection")
        self.Encoding: Any = None

    def _ask(
        self, url: Any, method: str = "GET", body: bytes | None = None
    ) -> tuple[Answer, bytes]:
        headers = tuple((v.to_text(k), v.to_text(x)) for k, x in self.Headers.items())
        return request(Request(v.to_text(url), method, headers, body, timeout_s=100, redirects=50))

    def DownloadString(self, url: Any) -> str:
        """The body as text."""
        return decoded(*self._ask(url))

    def DownloadData(self, url: Any) -> bytearray:
        """The body as bytes."""
        return bytearray(self._ask(url)[1])

    def DownloadFile(self, url: Any, path: Any) -> None:
        """The body into a file."""
        from .host import current

        body = self._ask(url)[1]
        with open(current().unix_path(v.to_text(path)), "wb") as file:
            file.write(body)

    def UploadString(self, url: Any, *args: Any) -> str:
        """Send text; the answer's body."""
        method, text = args if len(args) == 2 else ("POST", args[0])
        return decoded(*self._ask(url, v.to_text(method), v.to_text(text).encode()))

    def Dispose(self) -> None:
        """Nothing to release."""
