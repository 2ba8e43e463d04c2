"""What the API fills in of requests for devices.

Source: kubernetes v1.36 pkg/apis/resource/v1/defaults.go.
"""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]


def resource_claim(claim: Object) -> None:
    """A claim's requests ask for one device each, if they do not say how many."""
    _claim_spec(claim.get("spec") or {})


def resource_claim_template(template: Object) -> None:
    """The same of the claims that are made by it."""
    _claim_spec((template.get("spec") or {}).get("spec") or {})


def _claim_spec(spec: Object) -> None:
    for request in (spec.get("devices") or {}).get("requests") or ():
        for part in (request.get("exactly"), *(request.get("firstAvailable") or ())):
            if part is not None:
                _request(part)


def _request(part: Object) -> None:
    mode = part.setdefault("allocationMode", "ExactCount")
    if mode == "ExactCount" and not part.get("count"):
        part["count"] = 1
    for toleration in part.get("tolerations") or ():
        toleration.setdefault("operator", "Equal")
