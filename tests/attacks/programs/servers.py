"""Servers that misbehave: ``servers.py endless PORT`` and ``servers.py one-line PORT``.

``endless``: an HTTP answer whose body never ends. ``one-line``: 400 kB without a newline.
"""

import contextlib
import socket
import sys
import threading

kind, port = sys.argv[1], int(sys.argv[2])
BLOCK = bytes(65536)


def serve(client):
    with client, contextlib.suppress(OSError):
        if kind == "endless":
            client.recv(4096)
            client.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
            while True:
                client.sendall(BLOCK)
        for _ in range(7):
            client.sendall(b"x" * len(BLOCK))


with socket.create_server(("", port)) as server:
    print("listening", flush=True)
    while True:
        threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()
