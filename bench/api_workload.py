"""One round of requests to a server that holds many pods already; the same for any server."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence

import api_objects as objects
import orjson
from api_channel import Access, Channel, Pool, Watchers, request
from api_objects import BASE, Object

ROUND, GETS, CROWD, AT_ONCE, PAGE = 200, 1000, 1000, 20, 500
FILLERS = 40  # connections that fill a server
CHANGES, STREAM = 20, 100  # changes watched one by one, and in a row
_APPLY = "application/apply-patch+yaml"
_MERGE = "application/merge-patch+json"
_STRATEGIC = "application/strategic-merge-patch+json"
_NOW = objects.text({"gracePeriodSeconds": 0})

Figures = dict[str, float]


def fill(access: Access, first: int, count: int) -> float:
    """Create pods until there are so many; how many were made in a second."""
    bodies = (objects.pod(f"fill-{number}", number) for number in range(first, count))
    return _rate(Pool(access, FILLERS), [_post("pods", body) for body in bodies])


def measure(access: Access, number: int, watchers: Sequence[int]) -> Figures:
    """Round ``number``: per row, how many a second, or (of lists and watches) the seconds."""
    found: Figures = {}
    channel = Channel(access)
    for name, requests in _sequences(channel, number):
        found[name] = _one_by_one(channel, requests)
    names = [f"crowd-{number}-{index}" for index in range(CROWD)]
    for name, requests in _crowds(names):
        found[f"{name}, {AT_ONCE} at once"] = _rate(Pool(access, AT_ONCE), requests)
    for count in watchers:
        found.update(_watched(access, channel, count))
    for name, list_ in _LISTS.items():
        began = time.perf_counter()
        list_(channel)
        found[name] = time.perf_counter() - began
    channel.close()
    return found


def _sequences(channel: Channel, number: int) -> Iterator[tuple[str, list[bytes]]]:
    pods = [f"round-{number}-{index}" for index in range(ROUND)]
    yield "create a pod", [_post("pods", objects.pod(n, i)) for i, n in enumerate(pods)]
    gets = [request("GET", f"{BASE}/pods/{name}") for name in pods]
    yield "get a pod", gets * (GETS // ROUND)
    yield "update a pod", [_update(channel, name, str(number)) for name in pods]
    yield "merge patch", _patches(pods, _MERGE, lambda i: _annotated(str(i)))
    yield "strategic merge patch", _patches(pods, _STRATEGIC, _with_image)
    yield "status patch", _patches(pods, _STRATEGIC, lambda i: _READY, "/status")
    yield (
        "server-side apply, small object",
        [
            _apply("configmaps", objects.config_map(f"apply-{i % 50}", {"a": f"{number}-{i}"}))
            for i in range(ROUND)
        ],
    )
    applied = [_annotated_pod(f"apply-{i % 50}", i % 50, f"{number}-{i}") for i in range(ROUND)]
    yield "server-side apply, pod", [_apply("pods", pod) for pod in applied]
    yield "delete a pod", [_delete(name) for name in pods]


def _crowds(names: Sequence[str]) -> Iterator[tuple[str, list[bytes]]]:
    yield "create pods", [_post("pods", objects.pod(name, i)) for i, name in enumerate(names)]
    yield "get pods", [request("GET", f"{BASE}/pods/{name}") for name in names] * 3
    yield "delete pods", [_delete(name) for name in names]


def _post(plural: str, obj: Object) -> bytes:
    return request("POST", f"{BASE}/{plural}", objects.text(obj))


def _update(channel: Channel, name: str, value: str) -> bytes:
    """A request that puts the whole pod, with an annotation changed, in the place of what it is."""
    path = f"{BASE}/pods/{name}"
    pod = orjson.loads(_checked(channel, request("GET", path)))
    pod["metadata"]["annotations"]["example.com/update"] = value
    return request("PUT", path, objects.text(pod))


def _patches(
    names: Sequence[str], kind: str, patch: Callable[[int], Object], below: str = ""
) -> list[bytes]:
    return [
        request("PATCH", f"{BASE}/pods/{name}{below}", objects.text(patch(index)), kind)
        for index, name in enumerate(names)
    ]


_READY = {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}


def _annotated(value: str) -> Object:
    return {"metadata": {"annotations": {"example.com/bench": value}}}


def _with_image(number: int) -> Object:
    return {"spec": {"containers": [{"name": "main", "image": f"registry.example.com/x:{number}"}]}}


def _annotated_pod(name: str, number: int, value: str) -> Object:
    pod = objects.pod(name, number)
    pod["metadata"]["annotations"]["example.com/bench"] = value
    return pod


def _apply(plural: str, obj: Object) -> bytes:
    path = f"{BASE}/{plural}/{obj['metadata']['name']}?fieldManager=bench"
    return request("PATCH", path, objects.text(obj), _APPLY)


def _delete(name: str) -> bytes:
    return request("DELETE", f"{BASE}/pods/{name}", _NOW)


def _one_by_one(channel: Channel, requests: Sequence[bytes]) -> float:
    began = time.perf_counter()
    for data in requests:
        _checked(channel, data)
    return len(requests) / (time.perf_counter() - began)


def _checked(channel: Channel, data: bytes) -> bytes:
    answer = channel.call(data)
    if answer.status >= 300:
        raise RuntimeError(f"{data[:80]!r}: {answer.status} {answer.body[:300]!r}")
    return answer.body


def _rate(pool: Pool, requests: Sequence[bytes]) -> float:
    began = time.perf_counter()
    pool.send(requests)
    seconds = time.perf_counter() - began
    pool.close()
    return len(requests) / seconds


def _list(channel: Channel) -> None:
    status = channel.drain(request("GET", f"{BASE}/pods"))
    if status != 200:
        raise RuntimeError(f"a list of all pods: {status}")


def _list_by_label(channel: Channel) -> None:
    _checked(channel, request("GET", f"{BASE}/pods?labelSelector=app%3Dapp-7"))


def _list_in_pages(channel: Channel) -> None:
    path = f"{BASE}/pods?limit={PAGE}"
    token = ""
    while True:
        body = _checked(channel, request("GET", f"{path}&continue={token}" if token else path))
        # What is wanted of a page stands at its beginning, whoever made it.
        metadata = orjson.loads(body[body.index(b'"metadata":') + 11 : body.index(b"}") + 1])
        token = metadata.get("continue", "")
        if not token:
            return


_LISTS: Mapping[str, Callable[[Channel], None]] = {
    "list all": _list,
    "list 1 % of them by label": _list_by_label,
    f"list all in pages of {PAGE}": _list_in_pages,
}


def _watched(access: Access, channel: Channel, count: int) -> Figures:
    """Seconds until the last watcher has a change; deliveries a second of a row of changes."""
    answer = channel.call(request("DELETE", f"{BASE}/configmaps/watched"))
    made = objects.config_map("watched", {"mark": "0", "pad": "p" * 500})
    revision = orjson.loads(_checked(channel, _post("configmaps", made)))["metadata"]
    assert answer.status in (200, 404)
    query = f"watch=1&resourceVersion={revision['resourceVersion']}&timeoutSeconds=600"
    watchers = Watchers(access, f"{BASE}/configmaps?{query}", count)
    single = sorted(watchers.change([_mark(n)], n) for n in range(1, CHANGES + 1))
    last = CHANGES + STREAM
    stream = watchers.change([_mark(n) for n in range(CHANGES + 1, last + 1)], last)
    watchers.close()
    return {
        f"a change, until the last of {count:,} watchers has it": single[len(single) // 2],
        f"changes delivered to {count:,} watchers": STREAM * count / stream,
    }


def _mark(number: int) -> bytes:
    body = objects.text({"data": {"mark": str(number)}})
    return request("PATCH", f"{BASE}/configmaps/watched", body, _MERGE)
