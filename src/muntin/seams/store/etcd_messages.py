"""The messages of etcd's v3 API that the store uses, as tables of field numbers.

Source: etcd v3.4 etcdserver/etcdserverpb/rpc.proto and mvcc/mvccpb/kv.proto.
"""

from __future__ import annotations

from typing import Any

from grpclib.encoding.base import CodecBase

from muntin.kit.protobuf import Field, Table, decode, encode


def _fields(text: str) -> dict[int, Field]:
    """Rows ``number name kind[*]``; a kind that is no scalar names a message; ``*`` repeats."""
    scalars = {"bool", "int64", "uint64", "enum", "string", "bytes"}
    fields = {}
    for row in text.split(","):
        number, name, kind = row.split()
        base = kind.rstrip("*")
        is_message = base not in scalars
        fields[int(number)] = Field(
            name,
            "message" if is_message else base,
            repeated=kind.endswith("*"),
            message=base if is_message else "",
        )
    return fields


MESSAGES: Table = {
    "ResponseHeader": _fields("3 revision int64"),
    "KeyValue": _fields(
        "1 key bytes, 2 create_revision int64, 3 mod_revision int64, 5 value bytes"
    ),
    "RangeRequest": _fields(
        "1 key bytes, 2 range_end bytes, 3 limit int64, 4 revision int64, 8 keys_only bool,"
        "9 count_only bool"
    ),
    "RangeResponse": _fields(
        "1 header ResponseHeader, 2 kvs KeyValue*, 3 more bool, 4 count int64"
    ),
    "PutRequest": _fields("1 key bytes, 2 value bytes"),
    "PutResponse": _fields("1 header ResponseHeader"),
    "DeleteRangeRequest": _fields("1 key bytes, 2 range_end bytes"),
    "DeleteRangeResponse": _fields("1 header ResponseHeader, 2 deleted int64"),
    "RequestOp": _fields(
        "1 request_range RangeRequest, 2 request_put PutRequest,"
        "3 request_delete_range DeleteRangeRequest"
    ),
    "ResponseOp": _fields(
        "1 response_range RangeResponse, 2 response_put PutResponse,"
        "3 response_delete_range DeleteRangeResponse"
    ),
    "Compare": _fields(
        "1 result enum, 2 target enum, 3 key bytes, 5 create_revision int64, 6 mod_revision int64"
    ),
    "TxnRequest": _fields("1 compare Compare*, 2 success RequestOp*, 3 failure RequestOp*"),
    "TxnResponse": _fields("1 header ResponseHeader, 2 succeeded bool, 3 responses ResponseOp*"),
    "CompactionRequest": _fields("1 revision int64, 2 physical bool"),
    "CompactionResponse": _fields("1 header ResponseHeader"),
    "WatchRequest": _fields(
        "1 create_request WatchCreateRequest, 3 progress_request WatchProgressRequest"
    ),
    "WatchCreateRequest": _fields(
        "1 key bytes, 2 range_end bytes, 3 start_revision int64, 4 progress_notify bool"
    ),
    "WatchProgressRequest": {},
    "Event": _fields("1 type enum, 2 kv KeyValue"),
    "WatchResponse": _fields(
        "1 header ResponseHeader, 2 watch_id int64, 3 created bool, 4 canceled bool,"
        "5 compact_revision int64, 6 cancel_reason string, 11 events Event*"
    ),
}

_EQUAL = 0
_CREATE, _MOD = 1, 2


def create_revision_is(key: str, revision: int) -> dict[str, Any]:
    """A Compare: the key was created at ``revision``; 0 means that it does not exist."""
    return {
        "result": _EQUAL, "target": _CREATE, "key": key.encode(), "create_revision": revision
    }  # fmt: skip


def mod_revision_is(key: str, revision: int) -> dict[str, Any]:
    """A Compare: the key was last changed at ``revision``."""
    return {"result": _EQUAL, "target": _MOD, "key": key.encode(), "mod_revision": revision}


class EtcdCodec(CodecBase):
    """grpclib codec: a message type is its name in :data:`MESSAGES`."""

    __content_subtype__ = "proto"

    def encode(self, message: Any, message_type: Any) -> bytes:
        """The wire bytes of the dict ``message``."""
        return encode(MESSAGES, message_type, message)

    def decode(self, data: bytes, message_type: Any) -> dict[str, Any]:
        """The dict of a message's wire bytes."""
        return decode(MESSAGES, message_type, data)
