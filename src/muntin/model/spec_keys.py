"""What pods' specs are known by, to those who find something out of one and want it once.

Pods of one template differ in the name of their token's volume, which is drawn for each. A spec is
right or wrong whatever was drawn, and so a key leaves it open.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from muntin.model.digests import digest_of_text, text_of

TOKEN_VOLUME = "kube-api-access-"
_named = re.compile(rb'"%b[a-z0-9]{5}"' % TOKEN_VOLUME.encode()).search
_DRAWN = b"\0"  # in no JSON


def spec_key(spec: Mapping[str, Any] | None) -> int:
    """The digest of a spec but for the name that was drawn; `digest` says what it is worth."""
    text = text_of(spec)
    drawn = _named(text)
    return digest_of_text(text if drawn is None else text.replace(drawn[0], _DRAWN))
