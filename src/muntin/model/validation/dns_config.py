"""Validation of a pod's resolver settings.

Source: kubernetes v1.34 pkg/apis/core/validation/validation.go (validatePodDNSConfig).
"""

from __future__ import annotations

from muntin.model import names
from muntin.model.validation.findings import Findings, Object

_NAMESERVERS, _SEARCHES, _SEARCH_CHARS = 3, 32, 2048  # limits of Linux' resolver


def dns_config(spec: Object, path: str, found: Findings) -> None:
    """``dnsConfig``, which ``dnsPolicy: None`` needs."""
    config = spec.get("dnsConfig")
    if spec.get("dnsPolicy") == "None":
        if config is None:
            found.required(path, "must provide `dnsConfig` when `dnsPolicy` is None")
            return
        if not config.get("nameservers"):
            found.required(
                f"{path}.nameservers",
                "must provide at least one DNS nameserver when `dnsPolicy` is None",
            )
            return
    if config is not None:
        _config(config, path, found)


def _config(config: Object, path: str, found: Findings) -> None:
    servers, searches = config.get("nameservers") or (), config.get("searches") or ()
    if len(servers) > _NAMESERVERS:
        found.invalid(
            f"{path}.nameservers", servers, f"must not have more than {_NAMESERVERS} nameservers"
        )
    for index, server in enumerate(servers):
        found.each_invalid(f"{path}.nameservers[{index}]", server, names.ip_address(server))
    if len(searches) > _SEARCHES:
        found.invalid(
            f"{path}.searches", searches, f"must not have more than {_SEARCHES} search paths"
        )
    if len(" ".join(searches)) > _SEARCH_CHARS:
        found.invalid(
            f"{path}.searches",
            searches,
            f"must not have more than {_SEARCH_CHARS} characters (including spaces) in the search "
            "list",
        )
    for index, search in enumerate(searches):
        if search != ".":
            bare = search.removesuffix(".")
            problems = names.underscored_subdomain(bare)
            found.each_invalid(f"{path}.searches[{index}]", bare, problems)
    for index, option in enumerate(config.get("options") or ()):
        if not option.get("name"):
            found.required(f"{path}.options[{index}]", "must not be empty")
