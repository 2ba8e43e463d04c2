"""The options of a connection (exec, attach, port-forward, proxy) as the object admission sees.

Source: kubernetes v1.34 pkg/apis/core: PodExecOptions, PodAttachOptions, PodPortForwardOptions,
PodProxyOptions, ServiceProxyOptions, NodeProxyOptions.
"""

from __future__ import annotations

from typing import Any

from muntin.apiserver import status
from muntin.apiserver.request import ApiRequest
from muntin.kit import errors, numbers

Object = dict[str, Any]

_STREAMS = ("stdin", "stdout", "stderr", "tty")


def _port(text: str) -> int:
    """A number of the query's ``ports``.

    Source: kubernetes v1.34 pkg/apis/core/v1/conversion.go, Convert_Slice_string_To_Slice_int32.

    Raises:
        ApiError: 400, ``text`` is no number of 16 bits.
    """
    try:
        return numbers.parse_uint(text, 16)
    except errors.Invalid as err:
        raise status.bad_request(f"cannot convert to []int32: {err.message}") from err


def options(request: ApiRequest) -> Object:
    """What the query (and, for a proxy, the path) asks for, with the subresource's kind."""
    row = request.subresource
    assert row is not None
    found: Object = {"kind": row.kind, "apiVersion": row.version}
    if row.name == "proxy":
        path = request.rest
        return {**found, "path": f"/{path}"} if path else found
    if row.name == "portforward":
        ports = [_port(word) for text in request.query.get("ports", ()) for word in text.split(",")]
        return {**found, "ports": ports} if ports else found
    found.update({name: True for name in _STREAMS if request.flag(name)})
    if request.param("container"):
        found["container"] = request.param("container")
    if row.name == "exec":
        found["command"] = list(request.query.get("command", ()))
    return found
