"""grpclib codec of CRI messages: a message type is its name in the tables."""

from __future__ import annotations

from typing import Any

from grpclib.encoding.base import CodecBase

from muntin.kit.protobuf import decode, encode
from muntin.seams.cri.tables import tables


class CriCodec(CodecBase):
    """Dicts to protobuf and back."""

    __content_subtype__ = "proto"

    def encode(self, message: Any, message_type: Any) -> bytes:
        """The wire bytes of the dict ``message``."""
        return encode(tables().messages, message_type, message)

    def decode(self, data: bytes, message_type: Any) -> dict[str, Any]:
        """The dict of a message's wire bytes."""
        return decode(tables().messages, message_type, data)
