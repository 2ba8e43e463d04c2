"""A Scale in the form that its client accepts: whole, as a Table, or its metadata alone."""

from __future__ import annotations

from typing import Any

from muntin.apiserver import output
from muntin.apiserver.core import Core
from muntin.apiserver.negotiation import META_GROUP, PARTIAL, TABLE
from muntin.apiserver.request import ApiRequest
from muntin.kit.http.messages import Response
from muntin.model import tables
from muntin.model.features import ApiFeature, is_in
from muntin.model.resources.lifecycle import version_of


def response(core: Core, request: ApiRequest, scale: dict[str, Any]) -> Response:
    """The answer with ``scale``.

    Raises:
        ApiError: 406, what the client accepts is none that can be had.
    """
    form = output.negotiate(request)
    if form.kind == TABLE and is_in(ApiFeature.SCALE_TABLES, version_of(core.schema.version)):
        from muntin.model.tables import scales  # few ask for it

        body = tables.table(
            request.target,
            [scale],
            now_s=core.clock.now(),
            include=form.include,
            version=form.version,
            metadata={"resourceVersion": scale["metadata"].get("resourceVersion", "")},
            show=scales.OF_CUSTOM if request.target.is_custom else scales.OF_WORKLOADS,
        )
        return Response(200, output.HEADERS, body + b"\n")
    if form.kind == PARTIAL:
        return output.json_response(
            {
                "kind": PARTIAL,
                "apiVersion": f"{META_GROUP}/{form.version}",
                "metadata": scale["metadata"],
            }
        )
    return output.json_response(scale)
