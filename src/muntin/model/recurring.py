"""Decoding of objects whose spec has come before, as that of pods of one template does.

A spec is told by the digest of its text. What came of one that is known is not found out again; of
such an object only what stands around its spec is decoded, its shell.
"""

from __future__ import annotations

from typing import Any

import msgspec
import orjson

from muntin.model.digests import Recent, digest_of_text

Object = dict[str, Any]

SPEC = "spec"
MOST_SPECS, MOST_BYTES = 512, 8 * 1024  # four megabytes, if all are large


class Recurring:
    """The objects of one kind: ``shell`` is its compiled type with a spec of `msgspec.Raw`,
    ``spec`` that of the spec. What msgspec refuses raises its errors."""

    def __init__(self, shell: Any, spec: Any) -> None:
        self._shell = shell
        self._decode_shell = msgspec.json.Decoder(shell).decode
        self._decode_spec = msgspec.json.Decoder(spec).decode
        # By digest the text of what was decoded; none where that is the text itself.
        self._known: Recent[bytes] = Recent(MOST_SPECS)

    def of_text(self, text: bytes) -> Object:
        """The object of a JSON text."""
        shell = self._decode_shell(text)
        sent = bytes(shell.spec)
        return _joined(shell, self._spec(sent, None))

    def of_value(self, body: Object) -> Object:
        """The object of parsed JSON; its spec may be that of ``body``."""
        spec = body.get(SPEC)
        sent = orjson.dumps(spec)
        shell = msgspec.convert({**body, SPEC: msgspec.Raw(sent)}, self._shell)
        return _joined(shell, self._spec(sent, spec))

    def _spec(self, sent: bytes, parsed: Any) -> Any:
        key = digest_of_text(sent)
        known = self._known.get(key)
        if known is None:
            found = msgspec.to_builtins(self._decode_spec(sent))
            if len(sent) <= MOST_BYTES:
                text = orjson.dumps(found)
                self._known.keep(key, b"" if text == sent else text)
            return found
        if parsed is not None and not known:
            return parsed
        return orjson.loads(known or sent)


def _joined(shell: Any, spec: Any) -> Object:
    setattr(shell, SPEC, None)
    found: Object = msgspec.to_builtins(shell)
    found[SPEC] = spec  # where it stood
    return found
