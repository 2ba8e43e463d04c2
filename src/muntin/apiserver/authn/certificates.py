"""A verified client certificate is a user: common name, organizations, and a uid if it has one.

Source: apiserver v1.34 pkg/authentication/request/x509/x509.go.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from muntin.apiserver import status
from muntin.apiserver.request import User

CREDENTIAL_ID = "authentication.kubernetes.io/credential-id"
# As ssl names the attribute: it knows the organization's number alone.
UID = "1.3.6.1.4.1.57683.2"


def subject_of(certificate: Mapping[str, Any], field: str = "subject") -> list[tuple[str, str]]:
    """The attributes of a certificate's subject (or issuer), in order, as ``ssl`` names them."""
    return [pair for relative in certificate.get(field, ()) for pair in relative]


def user_of(certificate: Mapping[str, Any], der: bytes = b"") -> User:
    """The user that ``certificate`` (as ``ssl`` gives it) names; ``der`` is its bytes.

    Raises:
        ApiError: 401, it has no common name.
    """
    name = uid = ""
    groups = []
    for key, value in subject_of(certificate):
        if key == "commonName":
            name = value
        elif key == "organizationName":
            groups.append(value)
        elif key == UID:
            if uid:
                raise status.unauthorized()
            uid = value
    if not name:
        raise status.unauthorized()
    extra = {CREDENTIAL_ID: (f"X509SHA256={hashlib.sha256(der).hexdigest()}",)} if der else {}
    return User(name, (*groups, "system:authenticated"), uid, extra)
