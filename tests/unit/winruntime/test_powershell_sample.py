"""The web server sample of the Kubernetes documentation, and five altered forms of it.

The script is the document's own, byte for byte, after the kubelet has made ``$`` of ``$$``; only
the port differs where a test says so, since port 80 of this machine is not ours.
"""

from __future__ import annotations

import re
import socket
import time
import urllib.error
import urllib.request

import pytest

from muntin.winruntime.inside.powershell.adapters import addresses
from muntin.winruntime.inside.powershell.parser import parse

DOCUMENT = "<#code used from https://gist.github.com/19WAS85/5424431#> ; $$listener = New-Object System.Net.HttpListener ; $$listener.Prefixes.Add('http://*:80/') ; $$listener.Start() ; $$callerCounts = @{} ; Write-Host('Listening at http://*:80/') ; while ($$listener.IsListening) { ;$$context = $$listener.GetContext() ;$$requestUrl = $$context.Request.Url ;$$clientIP = $$context.Request.RemoteEndPoint.Address ;$$response = $$context.Response ;Write-Host '' ;Write-Host('> {0}' -f $$requestUrl) ;  ;$$count = 1 ;$$k=$$callerCounts.Get_Item($$clientIP) ;if ($$k -ne $$null) { $$count += $$k } ;$$callerCounts.Set_Item($$clientIP, $$count) ;$$ip=(Get-NetAdapter | Get-NetIpAddress); $$header='<html><body><H1>Windows Container Web Server</H1>' ;$$callerCountsString='' ;$$callerCounts.Keys | % { $$callerCountsString+='<p>IP {0} callerCount {1} ' -f $$ip[1].IPAddress,$$callerCounts.Item($$_) } ;$$footer='</body></html>' ;$$content='{0}{1}{2}' -f $$header,$$callerCountsString,$$footer ;Write-Output $$content ;$$buffer = [System.Text.Encoding]::UTF8.GetBytes($$content) ;$$response.ContentLength64 = $$buffer.Length ;$$response.OutputStream.Write($$buffer, 0, $$buffer.Length) ;$$response.Close() ;$$responseStatus = $$response.StatusCode ;Write-Host('< {0}' -f $$responseStatus)  } ; "  # noqa: E501 - the document's own line
SAMPLE = DOCUMENT.replace("$$", "$")


@pytest.fixture
def port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def fetch(port: int, path: str = "/", timeout_s: float = 10) -> tuple[int, dict[str, str], str]:
    """Wait for the server, then ask once."""
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
                return answer.status, dict(answer.headers), answer.read().decode()
        except urllib.error.HTTPError as err:
            with err:
                return err.code, dict(err.headers), err.read().decode()
        except (urllib.error.URLError, ConnectionError):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def on_port(script: str, port: int) -> str:
    return script.replace(":80/", f":{port}/")


def second_address() -> str:
    """What ``$ip[1].IPAddress`` is: the second address of the adapters but the loopback one."""
    from muntin.winruntime.inside.powershell.adapters import adapters

    order = [one.if_index for one in adapters() if not one.loopback]
    found = [a.text for index in order for a in addresses() if a.if_index == index]
    return found[1]


def test_document_parses_as_it_stands():
    assert len(parse(SAMPLE).body.statements) == 6


def test_sample_counts_its_callers(started, port):
    process = started("powershell", "-command", on_port(SAMPLE, port))
    for count in (1, 2, 3):
        status, headers, body = fetch(port, f"/path?n={count}")
        assert status == 200
        assert body == (
            "<html><body><H1>Windows Container Web Server</H1>"
            f"<p>IP {second_address()} callerCount {count} </body></html>"
        )
        assert headers["Content-Length"] == str(len(body))
    process.terminate()
    out, err = process.communicate(timeout=30)
    assert err == b""
    lines = out.decode().split("\r\n")
    assert lines[0] == f"Listening at http://*:{port}/"
    assert lines[1:3] == ["", f"> http://127.0.0.1:{port}/path?n=1"]
    assert lines[3].startswith("<html>")
    assert lines[4] == "< 200"
    assert process.returncode == 0x3A  # STATUS_CONTROL_C_EXIT, its low byte


def test_other_header_and_status(started, port):
    script = on_port(SAMPLE, port).replace("Web Server</H1>", "Altered</H1>")
    script = script.replace(
        "$response.Close()",
        "$response.StatusCode = 418; $response.AddHeader('X-Pane', '7'); "
        "$response.ContentType = 'text/html'; $response.Close()",
        1,
    )
    # headers are sent with the first byte of the body, so they must be set before it
    script = script.replace("$response.OutputStream.Write($buffer, 0, $buffer.Length) ;", "", 1)
    script = script.replace("$response.Close()", "$response.Close($buffer, $true)", 1)
    process = started("powershell", "-NoProfile", "-Command", script)
    status, headers, body = fetch(port)
    assert (status, headers["X-Pane"], headers["Content-Type"]) == (418, "7", "text/html")
    assert "Altered" in body
    assert process.poll() is None


def test_added_function(started, port):
    script = on_port(SAMPLE, port).replace(
        " ; $listener =",
        " ; function Get-Footer { param([string]$Text, [int]$Times = 1) "
        "$s = ''; for ($i = 0; $i -lt $Times; $i++) { $s += \"[$Text]\" }; "
        "return $s } ; $listener =",
        1,
    )
    script = script.replace("$footer='</body></html>'", "$footer=Get-Footer -Text end -Times 2")
    started("powershell", "-Command", script)
    assert fetch(port)[2].endswith("[end][end]")


def test_sleep_in_the_loop(started, port):
    script = on_port(SAMPLE, port).replace(
        "$response.Close()", "Start-Sleep -Milliseconds 150 ; $response.Close()", 1
    )
    started("powershell", "-Command", script)
    fetch(port)
    begin = time.monotonic()
    assert "callerCount 2" in fetch(port)[2]
    assert "callerCount 3" in fetch(port)[2]  # taken only when the sleep of the second is over
    assert time.monotonic() - begin > 0.14  # timers may be a little early


def test_routes_by_switch_and_stops_itself(started, port):
    script = """
$listener = New-Object Net.HttpListener
$listener.Prefixes.Add("http://+:PORT/")
$listener.Start()
$hits = [ordered]@{}
try {
  while ($listener.IsListening) {
    $c = $listener.GetContext(); $path = $c.Request.Url.AbsolutePath
    $hits[$path] += 1
    $text = switch -Wildcard ($path) {
      '/json'  { $hits | ConvertTo-Json -Compress; break }
      '/stop'  { 'bye'; $stop = $true; break }
      default  { "$($c.Request.HttpMethod) $path $($c.Request.QueryString['q'])" }
    }
    $b = [Text.Encoding]::UTF8.GetBytes([string]$text)
    $c.Response.OutputStream.Write($b, 0, $b.Length); $c.Response.OutputStream.Close()
    if ($stop) { $listener.Stop() }
  }
} finally { Write-Host "served $($hits.Count) paths" }
exit 3
""".replace("PORT", str(port))
    process = started("powershell", "-Command", script)
    assert fetch(port, "/a?q=x%20y")[2] == "GET /a x y"
    assert fetch(port, "/json")[2] == '{"/a":1,"/json":1}'
    assert fetch(port, "/stop")[2] == "bye"
    out, _ = process.communicate(timeout=30)
    assert out.decode().strip() == "served 3 paths"
    assert process.returncode == 3


def test_syntax_error_ends_in_exit_1(container_program):
    script = SAMPLE.replace("while ($listener.IsListening) {", "while ($listener.IsListening {", 1)
    result = container_program("powershell", "-command", script)
    assert result.returncode == 1
    assert result.stdout == b""
    text = result.stderr.decode()
    assert re.match(r"At line:1 char:\d+\r\n\+ .*\r\n\+ +~\r\n", text)
    assert "Missing closing ')' after expression in 'while' statement.\r\n" in text
    assert "    + CategoryInfo          : ParserError: (:) [], " in text
    assert "    + FullyQualifiedErrorId : MissingEndParenthesisAfterStatement\r\n" in text


def test_taken_port_is_an_error_record(started, port):
    started("powershell", "-Command", on_port(SAMPLE, port))
    fetch(port)
    script = on_port(
        "$l = New-Object Net.HttpListener; $l.Prefixes.Add('http://*:80/'); $l.Start()", port
    )
    second = started("powershell", "-Command", script)
    _, err = second.communicate(timeout=30)
    assert second.returncode == 1
    assert (
        'Exception calling "Start" with "0" argument(s): "Failed to listen on prefix'
        in err.decode()
    )
    assert "HttpListenerException" in err.decode()


def test_malformed_request_is_answered_by_the_listener(started, port):
    started("powershell", "-Command", on_port(SAMPLE, port))
    fetch(port)
    with socket.create_connection(("127.0.0.1", port), timeout=5) as sock:
        sock.sendall(b"nonsense\r\n\r\n")
        assert sock.recv(4096).startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert "callerCount 2" in fetch(port)[2]
