"""Kubernetes' protobuf form of objects: request bodies read, answers written.

A body is ``k8s\\0`` and a message Unknown, which names the kind and holds the object's message.
Sources: protobuf.dev/programming-guides/encoding; apimachinery pkg/runtime/generated.proto,
pkg/runtime/serializer/protobuf.
"""

from muntin.model.protobuf.decode import decode_body
from muntin.model.protobuf.encode import encode_body, encode_watch_event
from muntin.model.protobuf.messages import CONTENT_TYPE, is_known

__all__ = ["CONTENT_TYPE", "decode_body", "encode_body", "encode_watch_event", "is_known"]
