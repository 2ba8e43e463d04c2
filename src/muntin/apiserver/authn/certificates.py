"""A verified client certificate is a user: common name and organizations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from muntin.apiserver import status
from muntin.apiserver.request import User


def user_of(certificate: Mapping[str, Any]) -> User:
    """The user that ``certificate`` (as ``ssl`` gives it) names.

    Raises:
        ApiError: 401, it has no common name.
    """
    name = ""
    groups = []
    for relative in certificate.get("subject", ()):
        for key, value in relative:
            if key == "commonName":
                name = value
            elif key == "organizationName":
                groups.append(value)
    if not name:
        raise status.unauthorized()
    return User(name, (*groups, "system:authenticated"))
