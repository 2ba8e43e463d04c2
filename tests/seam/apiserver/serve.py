"""An API server of its own process for tests: ``serve.py DIRECTORY``, prints its port when ready.

The directory holds server.crt, server.key, ca.crt and service-account.key; the database goes there.
"""

import asyncio
import os
import signal
import socket
import sys
import time
from pathlib import Path

from muntin.apiserver.admission_config import AdmissionConfig
from muntin.apiserver.config import ApiServerConfig
from muntin.apiserver.loop import ApiServer, Listener, server_context
from muntin.kit import log
from muntin.seams.store.sqlite import SqliteStore

HOLD_S = 0.01  # worth telling


async def tell_holds(path: Path) -> None:
    """Write down each stretch of computing that kept others from being served; for ever."""
    before = time.thread_time()
    while True:
        await asyncio.sleep(0.002)
        now = time.thread_time()
        if now - before > HOLD_S:
            with path.open("a") as file:
                file.write(f"{now - before:.4f}\n")
        before = now


async def main(directory: Path) -> None:
    store = await SqliteStore.open(directory / "db")
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind(("127.0.0.1", int(os.environ.get("PORT", "0"))))
    config = ApiServerConfig(
        kubernetes_version=os.environ.get("KUBERNETES_VERSION", "1.34"),
        service_account_key=(directory / "service-account.key").read_bytes(),
        advertise_address="192.0.2.1",
        dials_any=True,
        port=sock.getsockname()[1],
        admission=AdmissionConfig(disable=tuple(os.environ.get("WITHOUT_PLUGINS", "").split())),
    )
    context = server_context(
        certificate=str(directory / "server.crt"),
        key=str(directory / "server.key"),
        client_ca=str(directory / "ca.crt"),
    )
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    async with ApiServer(config, store) as server:
        await server.serve([Listener(sock, context)])
        holds = asyncio.create_task(tell_holds(directory / "holds"))
        print(config.port, flush=True)
        await stop.wait()
        holds.cancel()
    await store.close()


if __name__ == "__main__":
    log.setup()
    import uvloop

    Path(sys.argv[1], "holds").touch()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main(Path(sys.argv[1])))
