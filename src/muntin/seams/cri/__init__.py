"""The CRI seam: ``runtime.v1`` over gRPC on a Unix socket, with messages as plain dicts.

A message is a dict keyed by the proto's field names (``pod_sandbox_id``); what the wire leaves
out is absent, so read with ``.get``. Enums are their numbers (:mod:`muntin.seams.cri.enums`),
``bytes`` fields (``KeyValue.value``, ``ExecSyncResponse.stdout``) accept ``str`` when sent and
arrive as ``bytes``. Clients: :class:`muntin.seams.cri.client.CriClient`; servers:
:func:`muntin.seams.cri.server.serve`.
"""

from __future__ import annotations

from typing import Any

from muntin.kit.errors import Internal, MuntinError, wire_codes

Message = dict[str, Any]


class Unknown(Internal):
    """A failure without a class of its own: gRPC UNKNOWN, as containerd reports most of them."""


# google.golang.org/grpc/codes: the names that Go clients print.
CODE_NAMES = (
    "OK",
    "Canceled",
    "Unknown",
    "InvalidArgument",
    "DeadlineExceeded",
    "NotFound",
    "AlreadyExists",
    "PermissionDenied",
    "ResourceExhausted",
    "FailedPrecondition",
    "Aborted",
    "OutOfRange",
    "Unimplemented",
    "Internal",
    "Unavailable",
    "DataLoss",
    "Unauthenticated",
)


def grpc_code(error: MuntinError) -> int:
    """The gRPC status number of ``error``."""
    return 2 if isinstance(error, Unknown) else wire_codes(error).grpc


def rpc_error_text(error: MuntinError) -> str:
    """``rpc error: code = NotFound desc = ...``: how Go components print a failed call."""
    return f"rpc error: code = {CODE_NAMES[grpc_code(error)]} desc = {error.message}"
