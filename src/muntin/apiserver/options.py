"""The options of a write in its query: fieldManager, dryRun, force, fieldValidation.

Source: apimachinery v1.34 pkg/apis/meta/v1/validation/validation.go; apiserver v1.34
pkg/endpoints/handlers/create.go prefixFromUserAgent.
"""

from __future__ import annotations

import orjson

from muntin.apiserver import status
from muntin.apiserver.request import ApiRequest
from muntin.kit.errors import Cause

MOST_BYTES = 128  # of a field manager's name
_VALIDATIONS = ("", "Ignore", "Strict", "Warn")
_KINDS = {"POST": "CreateOptions", "PUT": "UpdateOptions", "PATCH": "PatchOptions"}


def check(request: ApiRequest, *, applying: bool | None = None) -> None:
    """Refuse options that no write may have; ``applying`` says of a patch which kind it is.

    Raises:
        ApiError: 422 with all causes.
    """
    query = request.query
    if not query and not applying:
        return
    causes = [*_force(request, applying), *manager_causes(request.param("fieldManager"))]
    dry = query.get("dryRun", ())
    if any(value != "All" for value in dry):
        shown = orjson.dumps(list(dry)).decode()
        causes.append(_cause("NotSupported", "dryRun", f'{shown}: supported values: "All"'))
    wanted = request.param("fieldValidation")
    if wanted not in _VALIDATIONS:
        known = ", ".join(f'"{value}"' for value in _VALIDATIONS)
        shown = f'"{wanted}": supported values: {known}'
        causes.append(_cause("NotSupported", "fieldValidation", shown))
    if causes:
        raise _invalid(_KINDS.get(request.http.method, "CreateOptions"), causes)


def _force(request: ApiRequest, applying: bool | None) -> list[Cause]:
    if applying and not request.param("fieldManager"):
        return [_cause("Required", "fieldManager", "is required for apply patch")]
    if applying is False and "force" in request.query:
        return [_cause("Forbidden", "force", "may not be specified for non-apply patch")]
    return []


def manager_causes(name: str, field: str = "fieldManager") -> list[Cause]:
    """What is wrong with the name of a field manager."""
    if name.isprintable() and len(name) <= MOST_BYTES // 4:  # of four bytes each at most
        return []
    causes = []
    if len(name.encode()) > MOST_BYTES:
        text = f"may not be more than {MOST_BYTES} bytes"
        causes.append(_cause("TooLong", field, text))
    at = 0
    for character in name:
        if not character.isprintable():
            text = f"invalid character U+{ord(character):04X} (at position {at})"
            shown = orjson.dumps(name).decode()
            causes.append(_cause("Invalid", field, f"{shown}: {text}"))
        at += len(character.encode())
    return causes


_WORDS = {
    "Forbidden": "Forbidden",
    "Invalid": "Invalid value",
    "NotSupported": "Unsupported value",
    "Required": "Required value",
    "TooLong": "Too long",
}


def _cause(kind: str, field: str, text: str) -> Cause:
    return Cause(f"FieldValue{kind}", field, f"{_WORDS[kind]}: {text}")


def _invalid(kind: str, causes: list[Cause]) -> status.ApiError:
    lines = [f"{cause.field}: {cause.message}" for cause in causes]
    shown = lines[0] if len(lines) == 1 else f"[{', '.join(lines)}]"
    text = f'{kind}.meta.k8s.io "" is invalid: {shown}'
    details = {"group": "meta.k8s.io", "kind": kind}
    return status.ApiError(422, "Invalid", text, causes=causes, details=details)


def manager_of(request: ApiRequest) -> str:
    """The field manager: the one that is named, else the program of the User-Agent."""
    name = request.param("fieldManager")
    if name:
        return name
    agent = request.http.headers.get("user-agent", "").partition("/")[0]
    if agent.isascii() and agent.isprintable() and len(agent) <= MOST_BYTES:
        return agent
    result = ""
    for character in filter(str.isprintable, agent):
        if len((result + character).encode()) > MOST_BYTES:
            break
        result += character
    return result
