"""What the server itself writes into a CertificateSigningRequest.

Who asks for the certificate is who sent the request; nobody may say otherwise, or change later what
was asked for.
Source: kubernetes v1.36 pkg/registry/certificates/certificates/strategy.go.
"""

from __future__ import annotations

from typing import Any

from muntin.apiserver.request import User, user_info
from muntin.kit.clock import rfc3339
from muntin.model.resources import Resource

Object = dict[str, Any]

_REQUESTOR = ("username", "uid", "groups", "extra")


def is_one(resource: Resource) -> bool:
    """Whether objects of ``resource`` are CertificateSigningRequests."""
    return resource.plural == "certificatesigningrequests" and not resource.is_custom


def sign_with(request: Object, user: User) -> None:
    """Write into a new ``request`` that ``user`` makes it."""
    spec = {key: value for key, value in request["spec"].items() if key not in _REQUESTOR}
    request["spec"] = {**spec, **user_info(user)}


def date_conditions(new: Object, old: Object, now: float) -> None:
    """Give the conditions of ``new`` the times that they lack; ``now`` is in seconds."""
    before = {
        (row.get("type"), row.get("status")): row.get("lastTransitionTime")
        for row in (old.get("status") or {}).get("conditions") or ()
    }
    for row in (new.get("status") or {}).get("conditions") or ():
        row["lastUpdateTime"] = row.get("lastUpdateTime") or rfc3339(now)
        since = row.get("lastTransitionTime") or before.get((row.get("type"), row.get("status")))
        row["lastTransitionTime"] = since or rfc3339(now)
