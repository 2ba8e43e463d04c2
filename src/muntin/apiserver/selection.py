"""Which objects a list, watch or deletecollection is about."""

from __future__ import annotations

from muntin.apiserver import status
from muntin.apiserver.request import ApiRequest
from muntin.apiserver.watchers import Filter
from muntin.kit import errors
from muntin.model.selectors import parse_fields, parse_labels


def selected(request: ApiRequest) -> Filter:
    """The filter that the request's namespace, name and selectors make.

    Raises:
        ApiError: 400, a selector that cannot be read.
    """
    try:
        labels = parse_labels(request.param("labelSelector"))
        text = request.param("fieldSelector")
        if request.name and "metadata.name" not in text:  # the old /watch/ paths
            text = ",".join(part for part in (text, f"metadata.name={request.name}") if part)
        fields = parse_fields(text, request.target)
    except errors.Invalid as err:
        raise status.bad_request(err.message) from err
    return Filter(request.namespace, labels, fields)


def revision_param(request: ApiRequest) -> int | None:
    """The ``resourceVersion`` parameter; None when it is absent or empty.

    Raises:
        ApiError: 400, no number.
    """
    text = request.param("resourceVersion")
    if not text:
        return None
    if not text.isdigit():
        raise status.bad_request(f"resourceVersion: Invalid value: {text!r}: not a number")
    return int(text)
