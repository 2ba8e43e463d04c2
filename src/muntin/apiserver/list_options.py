"""The parameters of a list or watch, read and checked against one another.

Source: apimachinery v1.34 pkg/apis/meta/internalversion/{defaults,validation}, Kubernetes
documentation, API concepts: resource versions.
"""

from __future__ import annotations

from dataclasses import dataclass

from muntin.apiserver import status
from muntin.apiserver.cache import Cache
from muntin.apiserver.request import ApiRequest
from muntin.kit import errors, numbers
from muntin.kit.errors import Cause

NOT_OLDER, EXACT = "NotOlderThan", "Exact"
WAIT_S = 3.0  # for a revision that this server has not seen yet
_FORBIDDEN, _UNSUPPORTED = "FieldValueForbidden", "FieldValueNotSupported"


@dataclass(frozen=True, slots=True)
class ListOptions:
    """``revision`` is None when none is asked for; ``initial_events`` is what of a watch's
    beginning is wanted: all objects as ADDED, or with False nothing but changes."""

    revision: int | None = None
    match: str = ""
    limit: int = 0
    token: str = ""
    timeout_s: int = 0
    bookmarks: bool = False
    initial_events: bool | None = None


def read(request: ApiRequest, *, watch: bool = False) -> ListOptions:
    """The options of ``request``.

    Raises:
        ApiError: 400 for what cannot be read, 422 for what does not go together.
    """
    initial = _optional_flag(request, "sendInitialEvents")
    text = request.param("resourceVersion")
    found = ListOptions(
        revision=_watched_revision(text) if watch else _revision(text),
        match=request.param("resourceVersionMatch"),
        limit=_number(request, "limit"),
        token=request.param("continue"),
        timeout_s=_number(request, "timeoutSeconds"),
        bookmarks=bool(_optional_flag(request, "allowWatchBookmarks")),
        initial_events=initial,
    )
    causes = _watch_causes(found) if watch else _list_causes(found)
    if causes:
        raise _invalid(causes)
    if watch and initial is None and not found.revision:
        return ListOptions(
            revision=found.revision,
            match=NOT_OLDER,
            timeout_s=found.timeout_s,
            bookmarks=found.bookmarks,
            initial_events=True,
        )
    return found


def asked_revision(request: ApiRequest) -> int | None:
    """The ``resourceVersion`` that a get asks for; None when it asks for the newest.

    Raises:
        ApiError: 400, no number.
    """
    return _revision(request.param("resourceVersion"))


def _list_causes(options: ListOptions) -> list[Cause]:
    causes = []
    match = options.match
    if match:
        field = "resourceVersionMatch"
        if options.revision is None:
            causes.append(
                _forbidden(
                    field, "resourceVersionMatch is forbidden unless resourceVersion is provided"
                )
            )
        if options.token:
            causes.append(
                _forbidden(field, "resourceVersionMatch is forbidden when continue is provided")
            )
        if match not in (EXACT, NOT_OLDER):
            causes.append(_unsupported(field, match, ("Exact", "NotOlderThan", "")))
        if match == EXACT and options.revision == 0:
            causes.append(
                _forbidden(
                    field, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
                )
            )
    if options.initial_events is not None:
        causes.append(_forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"))
    return causes


def _watch_causes(options: ListOptions) -> list[Cause]:
    causes, field, match = [], "resourceVersionMatch", options.match
    if options.initial_events is not None and match != NOT_OLDER:
        causes.append(
            _forbidden(
                field, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
            )
        )
    if match:
        if options.initial_events is None:
            causes.append(
                _forbidden(
                    field,
                    "resourceVersionMatch is forbidden for watch unless sendInitialEvents is "
                    "provided",
                )
            )
        if match != NOT_OLDER:
            causes.append(_unsupported(field, match, ("NotOlderThan",)))
        if options.token:
            causes.append(
                _forbidden(field, "resourceVersionMatch is forbidden when continue is provided")
            )
    return causes


def _forbidden(field: str, text: str) -> Cause:
    return Cause(_FORBIDDEN, field, f"Forbidden: {text}")


def _unsupported(field: str, value: str, known: tuple[str, ...]) -> Cause:
    shown = ", ".join(f'"{name}"' for name in known)
    return Cause(_UNSUPPORTED, field, f'Unsupported value: "{value}": supported values: {shown}')


def _invalid(causes: list[Cause]) -> status.ApiError:
    lines = [f"{cause.field}: {cause.message}" for cause in causes]
    shown = lines[0] if len(lines) == 1 else f"[{', '.join(lines)}]"
    about = {"group": "meta.k8s.io", "kind": "ListOptions"}
    text = f'ListOptions.meta.k8s.io "" is invalid: {shown}'
    return status.ApiError(422, "Invalid", text, causes=causes, details=about)


def _revision(text: str) -> int | None:
    if not text:
        return None
    try:
        return min(numbers.parse_uint(text), numbers.INT64_MAX)
    except errors.Invalid as err:
        text = f'resourceVersion: Invalid value: "{text}": {err.message}'
        raise status.bad_request(f"invalid resource version: {text}") from err


def _watched_revision(text: str) -> int | None:
    """As `_revision`, in the words of who reads that of a watch upstream, with 500 for a code."""
    try:
        return _revision(text)
    except status.ApiError as err:
        raise status.bad_request(err.message.removeprefix("invalid resource version: ")) from err


def _number(request: ApiRequest, name: str) -> int:
    """A number that counts only when it is positive."""
    text = request.param(name)
    if not text:
        return 0
    try:
        return max(0, numbers.parse_int(text))
    except errors.Invalid as err:
        raise status.bad_request(err.message) from err


def _optional_flag(request: ApiRequest, name: str) -> bool | None:
    return request.flag(name) if name in request.query else None


async def reach(cache: Cache, revision: int | None) -> None:
    """Return when the cache has ``revision``; None stands for the store's newest.

    Raises:
        ApiError: 504, it is newer than anything stored.
    """
    if revision is None:
        await cache.fresh()
    elif revision > cache.revision:
        try:
            await cache.wait(revision, WAIT_S)
        except errors.TimedOut as err:
            raise too_large(revision, cache.revision) from err


def too_large(asked: int, current: int) -> status.ApiError:
    """504: nobody has written that revision yet."""
    text = f"Timeout: Too large resource version: {asked}, current: {current}"
    cause = Cause("ResourceVersionTooLarge", "", "Too large resource version")
    return status.ApiError(504, "Timeout", text, causes=[cause], details={"retryAfterSeconds": 1})
