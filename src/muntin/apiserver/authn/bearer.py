"""Bearer tokens of every kind: each is asked in turn until one knows the token.

Source: apiserver v1.34 pkg/authentication/request/{bearertoken,websocket},
pkg/authentication/token/union.
"""

from __future__ import annotations

from collections.abc import Sequence

from muntin.apiserver.authn.verified import Refused, TokenAuthenticator, Verified
from muntin.kit.http.messages import Request
from muntin.kit.jose import base64url_decode

INVALID = "invalid bearer token"
WEBSOCKET_PREFIX = "base64url.bearer.authorization.k8s.io."


class BearerTokens:
    """The kinds of tokens that one server takes, in order."""

    def __init__(self, kinds: Sequence[TokenAuthenticator]) -> None:
        self._kinds = kinds

    async def verify(self, token: str, audiences: tuple[str, ...]) -> Verified:
        """Who shows ``token``.

        Raises:
            Refused: nobody knows it; the text names every reason that was given.
        """
        reasons = []
        for kind in self._kinds:
            try:
                found = await kind.verify(token, audiences)
            except Refused as err:
                reasons.append(str(err))
                continue
            if found is not None:
                return found
        unique = dict.fromkeys([INVALID, *reasons])
        raise Refused(f"[{', '.join(unique)}]" if reasons else INVALID)


class OfThisServer:
    """A kind of token that knows no audiences: it is for this server, and for nobody else."""

    def __init__(self, kind: TokenAuthenticator, own: tuple[str, ...]) -> None:
        self._kind = kind
        self._own = own

    async def verify(self, token: str, audiences: tuple[str, ...]) -> Verified | None:
        """As the kind says, for those of ``audiences`` that are this server."""
        matching = tuple(name for name in audiences if name in self._own)
        return await self._kind.verify(token, matching) if matching else None


def token_of(request: Request) -> str:
    """The token that ``request`` shows, or empty text.

    Browsers cannot set Authorization on a WebSocket: they offer the token as a subprotocol.
    """
    header = request.headers.get("authorization", "")
    if header[:7].lower() == "bearer ":
        return header[7:].strip()
    if request.upgrade and not header:
        for offered in request.headers.get("sec-websocket-protocol", "").split(","):
            text = offered.strip()
            if text.startswith(WEBSOCKET_PREFIX):
                try:
                    return base64url_decode(text.removeprefix(WEBSOCKET_PREFIX)).decode()
                except ValueError:
                    return ""
    return ""
