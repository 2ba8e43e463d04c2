"""Whole answers in another form than compact JSON: YAML, protobuf, or JSON for human eyes.

Everything is made as JSON; the few clients that ask for something else pay for it.
Source: apiserver v1.34 pkg/endpoints/handlers/negotiation/negotiate.go (isPrettyPrint).
"""

from __future__ import annotations

from collections.abc import AsyncIterable
from functools import cache
from typing import Any

import orjson

from muntin.apiserver import negotiation, status
from muntin.apiserver.negotiation import JSON, PROTOBUF, YAML
from muntin.kit.errors import Unsupported
from muntin.kit.http.messages import Answer, Request, Response

# Programs that show people what they get.
_PRETTY_AGENTS = ("curl", "Wget", "Mozilla/5.0")
_TRUE = ("1", "t", "T", "TRUE", "true", "True")
_PATHS = ("/api", "/apis")
_OLD_BOOLEANS = frozenset({"y", "Y", "n", "N"})


async def for_client(request: Request, answer: Answer) -> Answer:
    """``answer`` in the form that its client wants.

    Raises:
        ApiError: 406, the object has no such form.
    """
    media = _media(request.headers.get("accept", ""))
    pretty = media == JSON and _is_pretty(request)
    if (media == JSON and not pretty) or not isinstance(answer, Response):
        return answer
    if answer.headers.get("Content-Type") != JSON or "Content-Encoding" in answer.headers:
        return answer
    if not request.path.startswith(_PATHS):
        return answer
    body = await _whole(answer.body)
    if body is not None:
        answer.body = _encoded(body, media)
        answer.headers = {**answer.headers, "Content-Type": media}
    return answer


def _media(accept: str) -> str:
    if not accept or accept == JSON:
        return JSON
    found = negotiation.negotiated(accept)
    return found.media if found is not None else JSON


def _is_pretty(request: Request) -> bool:
    if "pretty=" in request.query:
        for part in request.query.split("&"):
            name, _, value = part.partition("=")
            if name == "pretty" and value:
                return value in _TRUE
    return request.headers.get("user-agent", "").startswith(_PRETTY_AGENTS)


async def _whole(body: object) -> bytes | None:
    """All of a body; None for one that is pushed, as a watch is."""
    if isinstance(body, bytes):
        return body
    if isinstance(body, AsyncIterable):
        return b"".join([piece async for piece in body])
    return None


def _encoded(body: bytes, media: str) -> bytes:
    value = orjson.loads(body)
    if media == YAML:
        return to_yaml(value)
    if media == PROTOBUF:
        from muntin.model import protobuf  # tables that JSON clients never need

        try:
            return protobuf.encode_body(value)
        except Unsupported as err:
            raise status.not_acceptable(f"{JSON}, {YAML}") from err
    return orjson.dumps(value, option=orjson.OPT_INDENT_2)


def to_yaml(value: object) -> bytes:
    """``value`` as YAML with sorted keys, as upstream writes it."""
    import yaml  # 3 MB that JSON clients never need

    text: str = yaml.dump(value, Dumper=_dumper(), allow_unicode=True, width=1 << 30)
    return text.encode()


@cache
def _dumper() -> Any:
    """A writer that quotes as upstream's does.

    Text that would be read as something else stands in double quotes, text of several lines in a
    block. Source: sigs.k8s.io/yaml goyaml.v2/encode.go (stringv).
    """
    import yaml

    from muntin.model import yaml_scalars

    class Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
        """The library's, with upstream's style of scalars."""

    resolve: Any = yaml.resolver.Resolver().resolve
    plain = yaml.resolver.BaseResolver.DEFAULT_SCALAR_TAG

    def text(dumper: Any, value: str) -> Any:
        style = None
        if (
            value in _OLD_BOOLEANS
            or not isinstance(yaml_scalars.read(value), str)
            or resolve(yaml.ScalarNode, value, (True, False)) != plain
        ):
            style = '"'
        elif "\n" in value:
            style = "|"
        return dumper.represent_scalar(plain, value, style=style)

    Dumper.add_representer(str, text)
    return Dumper
