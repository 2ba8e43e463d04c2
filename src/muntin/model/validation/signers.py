"""Validation of the names of certificate signers and of the bundles that bear them.

Source: kubernetes v1.34 pkg/apis/core/validation/names.go (ValidateSignerName,
ValidateClusterTrustBundleName).
"""

from __future__ import annotations

from muntin.model import names
from muntin.model.validation.findings import Findings

_PATH_LENGTH = 253 + 63 + 1
_NAME_LENGTH = 253 + 1 + _PATH_LENGTH


def signer_name(value: str, path: str, found: Findings) -> None:
    """``example.com/name``: a domain of at least two labels, and a path of subdomains."""
    if not value:
        found.required(path)
        return
    domain, slash, rest = value.partition("/")
    if not slash or "/" in rest:
        found.invalid(
            path,
            value,
            "must be a fully qualified domain and path of the form 'example.com/signer-name'",
        )
        return
    if len(domain) > names.SUBDOMAIN_MAX_LENGTH:
        found.too_long(path, names.SUBDOMAIN_MAX_LENGTH)
    labels = domain.split(".")
    for label in labels:
        if _bad_label(label, domain, names.dns1123_label(label), path, found):
            break
    if len(labels) < 2:
        found.invalid(
            path, domain, "should be a domain with at least two segments separated by dots"
        )
    for label in rest.split("."):
        if _bad_label(label, rest, names.dns1123_subdomain(label), path, found):
            break
    if len(value) > _NAME_LENGTH:
        found.too_long(path, _NAME_LENGTH)


def _bad_label(label: str, shown: str, problems: list[str], path: str, found: Findings) -> bool:
    for problem in problems:
        found.invalid(path, shown, f'validating label "{label}": {problem}')
    return bool(problems)


def bundle_name(name: str, signer: str | None = None) -> list[str]:
    """What is wrong with the name of a bundle of ``signer``; of any signer if that is None."""
    prefix, colon, _rest = name.rpartition(":")
    if signer is None:
        signer = prefix.replace(":", "/", 1) if colon else ""
    if not signer:
        if colon:
            return ['ClusterTrustBundle without signer name must not have ":" in its name']
        return names.dns1123_subdomain(name)
    expected = signer.replace("/", ":") + ":"
    if not name.startswith(expected):
        return [f"ClusterTrustBundle for signerName {signer} must be named with prefix {expected}"]
    return names.dns1123_subdomain(name.removeprefix(expected))
