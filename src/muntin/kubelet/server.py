"""The kubelet's HTTPS server on port 10250.

Paths: /healthz, /pods, /containerLogs, /exec, /attach, /portForward, /stats/summary, /configz,
/metrics, /metrics/resource. Every request but /healthz needs a credential (see ``authorize.py``).
Source: kubernetes v1.34 pkg/kubelet/server/server.go.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote

import orjson

from muntin.kit import numbers
from muntin.kit.clock import parse_rfc3339
from muntin.kit.errors import (
    Forbidden,
    Internal,
    Invalid,
    MuntinError,
    NotFound,
    Unavailable,
    wire_codes,
)
from muntin.kit.http.messages import Answer, Passed, Request, Response
from muntin.kit.http.server import OF_COMPONENT, HttpServer
from muntin.kit.metrics import PROCESS
from muntin.kubelet.authorize import Authorizer, Unauthenticated
from muntin.kubelet.configz import configuration
from muntin.kubelet.logs import LogOptions, read_log
from muntin.kubelet.runtime_state import Container
from muntin.kubelet.stats import Departed, resource_metrics, summary
from muntin.kubelet.tunnel import tunnel
from muntin.kubelet.worker import PodWorker
from muntin.model.windows import Feature

if TYPE_CHECKING:
    from muntin.kubelet.loop import Kubelet

Query = dict[str, list[str]]
Route = Callable[[Request, list[str], Query], Awaitable[Answer]]

JSON = {"content-type": "application/json"}
TEXT = {"content-type": "text/plain; charset=utf-8"}
METRICS = {"content-type": "text/plain; version=0.0.4; charset=utf-8"}

# What a container whose image does not come waits for, as the log says it.
_WAITING_WORDS = {
    "ErrImagePull": "image can't be pulled",
    "ImagePullBackOff": "trying and failing to pull image",
}


class KubeletServer:
    """Serves what its kubelet knows."""

    def __init__(self, kubelet: Kubelet) -> None:
        self._kubelet = kubelet
        self._context = kubelet.context
        config = self._context.config
        self._departed = Departed()
        self._authorizer = Authorizer(self._context.client, self._context.clock, config.node_name)
        self._routes: dict[str, Route] = {
            "pods": self._pods,
            "containerLogs": self._logs,
            "exec": self._exec,
            "attach": self._attach,
            "portForward": self._port_forward,
            "stats": self._stats,
            "configz": self._configz,
            "metrics": self._metrics,
        }

    async def run(self) -> None:
        """Serve until cancelled; not at all where no certificate is configured."""
        config = self._context.config
        if not config.serving_certificate:
            return
        server = HttpServer(self.handle, OF_COMPONENT, gate=self.gate)
        await server.listen_tcp(config.node_ip, config.port, self._tls())
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            await server.close()

    def _tls(self) -> ssl.SSLContext:
        config = self._context.config
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(config.serving_certificate, config.serving_key)
        tls.set_alpn_protocols(["http/1.1"])
        if config.client_ca:
            tls.load_verify_locations(config.client_ca)
            tls.verify_mode = ssl.CERT_OPTIONAL
        return tls

    async def gate(self, head: Request) -> Passed | Answer:
        """Receive bodies only from authorized users."""
        try:
            user = await self._authorizer.check(head)
        except (Unauthenticated, MuntinError):
            return await self.handle(head)
        return Passed(user.name)

    async def handle(self, request: Request) -> Answer:
        """One request to its answer; errors become their HTTP status with the message as text."""
        parts = [unquote(part) for part in request.path.strip("/").split("/")]
        try:
            if parts[0] == "healthz":
                return Response(200, TEXT, b"ok")
            await self._authorizer.check(request)
            if not request.complete:
                raise Unavailable("the user's permissions changed: try again")
            route = self._routes.get(parts[0])
            if route is None:
                raise NotFound("404 page not found")
            query = parse_qs(request.query, keep_blank_values=True)
            return await route(request, parts[1:], query)
        except Unauthenticated:
            return Response(401, TEXT, b"Unauthorized")
        except Forbidden as err:
            return Response(403, TEXT, err.message.encode())
        except Invalid as err:
            return Response(400, TEXT, err.message.encode())
        except MuntinError as err:
            return Response(wire_codes(err).http, TEXT, err.message.encode())

    # -- what there is -------------------------------------------------------------------------

    async def _pods(self, request: Request, parts: list[str], query: Query) -> Answer:
        items = [
            {"apiVersion": "v1", "kind": "Pod", **worker.pod, "status": worker.status}
            for worker in self._kubelet.workers.values()
        ]
        body = {"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": items}
        return Response(200, JSON, orjson.dumps(body))

    async def _summary(self) -> dict[str, Any]:
        stats = (await self._context.cri.ListContainerStats()).get("stats", [])
        starts = {
            uid: worker.status.get("startTime", "") for uid, worker in self._kubelet.workers.items()
        }
        now = self._context.clock.now()
        departed_ns = self._departed.look(stats)
        config = self._context.config
        tells = not config.platform.is_windows or config.platform.has(Feature.CONTAINER_METRICS)
        name = config.node_name
        return summary(name, stats, starts, now, departed_ns, tells_pods=tells)

    async def _stats(self, request: Request, parts: list[str], query: Query) -> Answer:
        if parts != ["summary"]:
            raise NotFound("404 page not found")
        return Response(200, JSON, orjson.dumps(await self._summary()))

    async def _configz(self, request: Request, parts: list[str], query: Query) -> Answer:
        if parts:
            raise NotFound("404 page not found")
        return Response(200, JSON, orjson.dumps(configuration(self._context.config)))

    async def _metrics(self, request: Request, parts: list[str], query: Query) -> Answer:
        if parts == ["resource"]:
            return Response(200, METRICS, resource_metrics(await self._summary()).encode())
        if parts:
            raise NotFound("404 page not found")
        workers = list(self._kubelet.workers.values())
        running = sum(len(worker.runtime.running) for worker in workers)
        since = self._context.clock.monotonic() - self._kubelet.relist.relisted_at
        lines = [
            "# HELP kubelet_running_pods Number of pods that have a running pod sandbox",
            "# TYPE kubelet_running_pods gauge",
            f"kubelet_running_pods {sum(bool(one.runtime.ready_sandbox) for one in workers)}",
            "# HELP kubelet_running_containers Number of containers currently running",
            "# TYPE kubelet_running_containers gauge",
            f'kubelet_running_containers{{container_state="running"}} {running}',
            "# HELP kubelet_pleg_last_seen_seconds Seconds since the runtime was last listed",
            "# TYPE kubelet_pleg_last_seen_seconds gauge",
            f"kubelet_pleg_last_seen_seconds {since:.3f}",
            PROCESS.text(),
        ]
        return Response(200, METRICS, "\n".join(lines).encode())

    # -- one pod -------------------------------------------------------------------------------

    def _worker(self, namespace: str, name: str) -> PodWorker:
        worker = self._kubelet.pod(namespace, name)
        if worker is None:
            raise NotFound(f"pod does not exist: {namespace}/{name}")
        return worker

    async def _logs(self, request: Request, parts: list[str], query: Query) -> Answer:
        if len(parts) != 3:
            raise NotFound("404 page not found")
        namespace, name, container = parts
        worker = self._worker(namespace, name)
        options = log_options(query, self._context.clock.now())
        found = self._logged(worker, container, previous=_flag(query, "previous"))
        file = worker.log_file(found)
        try:
            file.open().close()
        except (OSError, Invalid) as err:
            path = self._context.config.platform.join(file.folder, file.name)
            text = f'failed to try resolving symlinks in path "{path}": no such file'
            raise NotFound(text) from err

        async def ended() -> bool:
            state = worker.runtime.newest(container)
            running = state is not None and state.attempt == found.attempt and state.running
            return not running or worker.uid not in self._kubelet.workers

        async def body() -> AsyncIterator[bytes]:
            async for piece in read_log(file.open, options, self._context.clock, ended):
                yield piece

        return Response(200, TEXT, body())

    def _logged(self, worker: PodWorker, container: str, *, previous: bool) -> Container:
        """The container whose log is asked for.

        Raises:
            Invalid: there is no such container, or it has not run yet.
        """
        meta = worker.pod["metadata"]
        found = worker.runtime.newest(container)
        names = {one["name"] for one in worker.specs()}
        if container not in names:
            raise NotFound(f"container {container} is not valid for pod {meta['name']}")
        if found is None:
            reason = next(
                (
                    row["state"].get("waiting", {}).get("reason", "")
                    for row in worker.container_statuses()
                    if row["name"] == container
                ),
                "",
            )
            raise Invalid(
                f'container "{container}" in pod "{meta["name"]}" is waiting to start: '
                f"{_WAITING_WORDS.get(reason, reason)}"
            )
        if not previous:
            return found
        before = worker.runtime.previous(container)
        if before is None:
            raise Invalid(
                f'previous terminated container "{container}" in pod "{meta["name"]}" not found'
            )
        return before

    def _container_id(self, parts: list[str]) -> str:
        """The running container of ``ns/pod/[uid/]container``.

        Raises:
            Internal: it does not run. As upstream's kubelet has it, this is no NotFound.
        """
        if len(parts) not in (3, 4):
            raise NotFound("404 page not found")
        worker = self._worker(parts[0], parts[1])
        name = parts[-1]
        found = worker.runtime.newest(name)
        if found is None or not found.running:
            raise Internal(f'container not found ("{name}")')
        return found.id

    async def _exec(self, request: Request, parts: list[str], query: Query) -> Answer:
        answer = await self._context.cri.Exec(
            {
                "container_id": self._container_id(parts),
                "cmd": query.get("command", []),
                "tty": _flag(query, "tty"),
                **_streams(query),
            }
        )
        return await tunnel(request, answer["url"])

    def _has_terminal(self, parts: list[str]) -> bool:
        spec = self._worker(parts[0], parts[1]).pod["spec"]
        kinds = ("containers", "initContainers", "ephemeralContainers")
        rows = (row for kind in kinds for row in spec.get(kind) or ())
        return any(row["name"] == parts[-1] and row.get("tty") for row in rows)

    async def _attach(self, request: Request, parts: list[str], query: Query) -> Answer:
        container_id = self._container_id(parts)
        answer = await self._context.cri.Attach(
            {
                "container_id": container_id,
                # whether the process has a terminal was settled when it started
                "tty": self._has_terminal(parts),
                **_streams(query),
            }
        )
        return await tunnel(request, answer["url"])

    async def _port_forward(self, request: Request, parts: list[str], query: Query) -> Answer:
        if len(parts) not in (2, 3):
            raise NotFound("404 page not found")
        worker = self._worker(parts[0], parts[1])
        sandbox = worker.runtime.ready_sandbox
        if sandbox is None:
            raise Internal(f'pod not found ("{parts[1]}_{parts[0]}")')
        texts = query.get("port", [])
        ports = [n for text in texts if (n := numbers.int_or_none(text, 1, 65535)) is not None]
        answer = await self._context.cri.PortForward({"pod_sandbox_id": sandbox.id, "port": ports})
        return await tunnel(request, answer["url"])


def _streams(query: Query) -> dict[str, bool]:
    """The streams that a client asks for; with a terminal there is no stderr of its own."""
    stderr = _flag(query, "error") or _flag(query, "stderr")
    return {
        "stdin": _flag(query, "input") or _flag(query, "stdin"),
        "stdout": _flag(query, "output") or _flag(query, "stdout"),
        "stderr": stderr and not _flag(query, "tty"),
    }


def _flag(query: Query, name: str) -> bool:
    return query.get(name, ["false"])[0].lower() in ("1", "true")


def log_options(query: Query, now: float) -> LogOptions:
    """The options of a ``/containerLogs`` query; pure.

    Raises:
        Invalid: a number or time that is none.
    """

    def number(name: str) -> int | None:
        values = query.get(name)
        if not values:
            return None
        try:
            return numbers.parse_int(values[0])
        except Invalid as err:
            raise Invalid(f"Invalid value for {name}: {err.message}") from err

    since_seconds, since = number("sinceSeconds"), 0.0
    if since_seconds is not None:
        since = now - since_seconds
    elif query.get("sinceTime"):
        try:
            since = parse_rfc3339(query["sinceTime"][0])
        except ValueError as err:
            text = f"Invalid value {query['sinceTime'][0]!r} for sinceTime: must be RFC 3339"
            raise Invalid(text) from err
    return LogOptions(
        follow=_flag(query, "follow"),
        timestamps=_flag(query, "timestamps"),
        tail_lines=number("tailLines"),
        limit_bytes=number("limitBytes"),
        since=since,
        stream=query.get("stream", ["All"])[0],
    )
