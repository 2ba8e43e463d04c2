"""The API server alone, in a process of its own: ``python api_process.py DIRECTORY PORT``.

As in a cluster it speaks TLS and stores in SQLite, every write synchronised to the disk before it
is answered. The directory holds the certificates already.
"""

from __future__ import annotations

import socket
import sys
from pathlib import Path

from muntin.apiserver.config import ApiServerConfig
from muntin.apiserver.loop import ApiServer, Listener, server_context
from muntin.cluster import certificate_names as names
from muntin.cluster import event_loop
from muntin.model.windows_releases import DEFAULT_KUBERNETES, git_version
from muntin.seams.store.sqlite import SqliteStore


async def serve(directory: Path, port: int) -> None:
    config = ApiServerConfig(
        kubernetes_version=git_version(DEFAULT_KUBERNETES),
        service_account_key=(directory / f"{names.SERVICE_ACCOUNT}.key").read_bytes(),
        port=port,
    )
    context = server_context(
        certificate=str(directory / f"{names.API_SERVER}.crt"),
        key=str(directory / f"{names.API_SERVER}.key"),
        client_ca=str(directory / f"{names.CA}.crt"),
    )
    store = await SqliteStore.open(directory / "state.db")
    async with ApiServer(config, store) as server:
        listener = socket.create_server(("127.0.0.1", port), backlog=1024)
        listener.setblocking(False)
        await server.serve([Listener(listener, context)])
        await server.core.clock.sleep(3600)


if __name__ == "__main__":
    event_loop.run(serve(Path(sys.argv[1]), int(sys.argv[2])))
