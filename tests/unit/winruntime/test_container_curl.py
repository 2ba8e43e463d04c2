"""curl.exe: each option is carried out, or refused with curl's words."""

from __future__ import annotations

import gzip
import http.server
import io
import socket
import threading
from collections.abc import Iterator
from typing import ClassVar

import pytest

from muntin.winruntime.inside.curl import main
from muntin.winruntime.inside.curlcookies import Cookies
from muntin.winruntime.inside.curloptions import REFUSED, REFUSED_SHORT, Usage, read_options
from muntin.winruntime.inside.curlrequest import proxy_of, resolved
from muntin.winruntime.inside.curlurls import BadGlob, expand
from muntin.winruntime.inside.httpclient import Proxy


class Echo(http.server.BaseHTTPRequestHandler):
    """Answers with the request; ``/busy`` fails twice, ``/login`` sets a cookie and redirects."""

    protocol_version = "HTTP/1.1"
    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        status, extra = 200, []
        if self.path == "/busy" and self.asked.count("/busy") < 3:
            status = 503
        if self.path == "/login":
            status, extra = 302, [("Location", "/home"), ("Set-Cookie", "session=s1; Path=/")]
        size = int(self.headers.get("Content-Length", "0"))
        lines = [f"{name}: {value}" for name, value in self.headers.items()]
        body = "\n".join([f"{self.command} {self.path}", *lines, ""]).encode()
        body += self.rfile.read(size)
        if self.path == "/packed":
            body, extra = gzip.compress(b"unpacked"), [("Content-Encoding", "gzip")]
        self.send_response(status)
        for name, value in [*extra, ("Content-Length", str(len(body)))]:
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_POST = do_HEAD = do_PUT = do_GET

    def do_CONNECT(self) -> None:
        self.asked.append(f"CONNECT {self.path}")
        self.send_response(403)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Quiet."""


@pytest.fixture
def web() -> Iterator[str]:
    Echo.asked.clear()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def curl(drive_c, web, monkeypatch, capsysbinary):
    """``curl(...)`` with ``URL`` replaced gives exit code, output and errors as texts."""
    monkeypatch.setenv("WINEPREFIX", str(drive_c.parent))
    monkeypatch.setenv("WINCWD", "C:\\data")

    def run(*args: str, stdin: bytes = b"") -> tuple[int, str, str]:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = main(["-sS", *(arg.replace("URL", web) for arg in args)])
        shown = capsysbinary.readouterr()
        return code, shown.out.decode(), shown.err.decode()

    return run


@pytest.mark.parametrize(
    ("args", "lines"),
    [
        (["URL/{a,b}"], ["GET /a", "GET /b"]),
        (["-g", "URL/%7Ba%7D[1]"], ["GET /%7Ba%7D[1]"]),
        (["URL/", "-u", "ab:cd"], ["Authorization: Basic YWI6Y2Q="]),
        (["URL/", "-A", "mine", "-e", "http://from/"], ["User-Agent: mine", "Referer: http://from/"]),
        (["URL/", "-b", "k=v"], ["Cookie: k=v"]),
        (["URL/", "-r", "0-9"], ["Range: bytes=0-9"]),
        (["URL/", "-H", "Accept:", "-H", "X-B;"], ["X-B: "]),
        (["URL/", "--json", "{}"], ["POST /", "Accept: application/json", "{}"]),
        (["URL/", "--data-urlencode", "a=b c&"], ["a=b+c%26"]),
        (["-T", "-", "URL/put"], ["PUT /put", "from stdin"]),
        (["-d", "@-", "URL/"], ["POST /", "from stdin"]),
        (["-L", "URL/login", "-b", "k=v"], ["GET /home", "Cookie: session=s1; k=v"]),
        (["-L", "-I", "URL/login"], ["HTTP/1.1 302 Found", "HTTP/1.1 200 OK"]),
        (["--compressed", "URL/packed"], ["unpacked"]),
        (["--compressed", "URL/"], ["Accept-Encoding: deflate, gzip"]),
        (
            ["-x", "URL", "http://far.invalid/p?q"],
            ["GET http://far.invalid/p?q", "Host: far.invalid"],
        ),
        (["-x", "URL", "-U", "a:b", "http://far.invalid/"], ["Proxy-Authorization: Basic YTpi"]),
        (["-4", "--resolve", "*:80:192.0.2.1", "--connect-timeout", "3", "URL/"], ["GET /"]),
        (["-w", "%{exitcode} %{method} %{scheme}\\n", "-o", "NUL", "URL/"], ["0 GET http"]),
        (["-D", "-", "-o", "NUL", "URL/"], ["HTTP/1.1 200 OK"]),
        (["URL/", "-c", "-"], ["# Netscape HTTP Cookie File"]),
    ],
    ids=lambda value: " ".join(value),
)  # fmt: skip
def test_options_are_carried_out(curl, args, lines):
    code, out, err = curl(*args, stdin=b"from stdin")
    assert (code, err) == (0, "")
    shown = out.splitlines()
    for line in lines:
        assert line in shown


def test_files_are_written_under_the_names_asked_for(curl, drive_c):
    assert curl("-o", "C:\\data\\#1.txt", "URL/[08-10]")[0] == 0
    assert sorted(path.name for path in (drive_c / "data").iterdir()) == [
        "08.txt", "09.txt", "10.txt",
    ]  # fmt: skip
    args = ("-O", "URL/page.html?x=1", "--create-dirs", "-o", "new\\b", "URL/b")
    assert curl(*args)[0] == 0
    assert (drive_c / "data/page.html").read_bytes().startswith(b"GET /page.html?x=1")
    assert (drive_c / "data/new/b").read_bytes().startswith(b"GET /b\n")
    assert curl("-O", "URL/") == (23, "", "curl: Remote file name has no length!\n")


def test_cookies_are_kept_in_a_file(curl, drive_c):
    assert curl("-c", "C:\\data\\jar", "URL/login")[0] == 0
    assert "session\ts1\n" in (drive_c / "data/jar").read_text()
    assert "Cookie: session=s1" in curl("-b", "C:\\data\\jar", "URL/")[1].splitlines()
    assert "Cookie" not in curl("-b", "C:\\data\\absent", "URL/")[1]


def test_cookies_given_go_to_the_first_host_alone():
    cookies = Cookies(["k=v"])
    cookies.load(
        ".example.com\tTRUE\t/\tFALSE\t0\ta\tb\nexample.com\tFALSE\t/x\tFALSE\t1\told\tc\n"
    )
    assert cookies.header("http://www.example.com/") == "a=b; k=v"
    assert cookies.header("http://other.org/") == ""


def test_retries(curl):
    code, out, err = curl("--retry", "2", "--retry-delay", "0.01", "-o", "NUL", "URL/busy")
    assert (code, out, err) == (0, "", "")
    assert Echo.asked == ["/busy"] * 3
    assert curl("--retry", "3", "http://127.0.0.1:1/")[0] == 7


def test_a_proxy_that_refuses_a_tunnel(curl):
    code, _, err = curl("-x", "URL", "https://far.invalid/")
    assert (code, err) == (56, "curl: (56) CONNECT tunnel failed, response 403\n")
    assert Echo.asked == ["CONNECT far.invalid:443"]


@pytest.mark.parametrize(
    ("args", "code", "text"),
    [
        (["--nonsense"], 2, "curl: option --nonsense: is unknown"),
        (["-F", "a=b", "URL"], 2, "curl: option -F: the installed libcurl version doesn't"),
        (["--form", "a=b", "URL"], 2, "curl: option --form: the installed libcurl version"),
        (["-m", "soon", "URL"], 2, "curl: option --max-time: expected a proper numerical"),
        (["-I", "-d", "x", "URL"], 2, "You can only select one HTTP request method!"),
        (["-o"], 2, "curl: option -o: requires parameter"),
        ([], 2, "curl: (2) no URL specified"),
        (["URL/{a"], 3, "curl: (3) [globbing] unmatched brace in column"),
        (["-g", "http://[x/"], 3, "curl: (3) URL using bad/illegal format or missing URL"),
        (["-L", "--max-redirs", "0", "URL/login"], 47, "curl: (47) Maximum (0) redirects followed"),
        (["-x", "socks5://a", "URL"], 7, "curl: (7) Unsupported proxy scheme for 'socks5://a'"),
        (["--resolve", "a:b:c", "URL"], 49, "curl: (49) Couldn't parse CURLOPT_RESOLVE entry"),
        (["-d", "@C:\\no", "URL"], 26, "curl: Failed to open C:\\no"),
    ],
)  # fmt: skip
def test_errors(curl, args, code, text):
    result = curl(*args)
    assert (result[0], text in result[2]) == (code, True), result


def test_a_certificate_file_that_is_absent(curl):
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"https://127.0.0.1:{server.getsockname()[1]}/"
        code, _, err = curl("--cacert", "C:\\no", url)
    assert code == 77
    assert err.startswith("curl: (77) error setting certificate verify locations")


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_options_of_curl_that_are_not_there_are_refused(name):
    with pytest.raises(Usage, match="doesn't support this") as caught:
        read_options([f"--{name}", "x"])
    assert caught.value.code == 2


def test_help_names_what_is_there(curl):
    code, out, _ = curl("--help")
    assert code == 0
    assert " -o, --output <value>\n" in out
    assert "--form" not in out


def test_short_options_that_are_not_there_are_refused():
    for letter in REFUSED_SHORT:
        with pytest.raises(Usage, match="doesn't support this"):
            read_options([f"-s{letter}"])


@pytest.mark.parametrize(
    ("url", "urls"),
    [
        ("http://a/[1-3:2]{x,y}", ["http://a/1x", "http://a/1y", "http://a/3x", "http://a/3y"]),
        ("http://[fd00::1]:80/[a-b]", ["http://[fd00::1]:80/a", "http://[fd00::1]:80/b"]),
        ("http://a/\\[1\\]", ["http://a/[1]"]),
    ],
)
def test_globs(url, urls):
    assert [one.url for one in expand(url)] == urls


@pytest.mark.parametrize("url", ["a/[3-1]", "a/[x]", "a/}", "a/[1-999999]", "a/[1-9:0]"])
def test_bad_globs(url):
    with pytest.raises(BadGlob, match=r"\[globbing\]"):
        expand(url)


def test_addresses_and_proxies():
    assert resolved("+Web:80:10.0.0.1,[fd00::1]") == [
        ("web", 80, "10.0.0.1"),
        ("web", 80, "fd00::1"),
    ]
    options = read_options(["-x", "u:p@proxy:8080", "--noproxy", "a.b, c"])
    proxy = proxy_of(options)
    assert proxy == Proxy("proxy", 8080, "Basic dTpw", ("a.b", "c"))
    assert [proxy.serves(name) for name in ("a.b", "x.A.b", "xa.b", "d")] == [
        False,
        False,
        True,
        True,
    ]
