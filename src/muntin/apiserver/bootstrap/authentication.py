"""ConfigMaps in which the server says whom it believes, for those who must believe the same.

``extension-apiserver-authentication`` is how aggregated API servers learn the authorities of
clients and of the front proxy. Source: kubernetes v1.34 pkg/controlplane/controller/
{clusterauthenticationtrust,legacytokentracking}.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from muntin.apiserver.core import Core
from muntin.kit.clock import rfc3339
from muntin.model import resources
from muntin.model.features import ApiFeature, is_in
from muntin.model.resources import Resource
from muntin.model.service_account_tokens import TRACKING
from muntin.model.windows_releases import parse_kubernetes

Object = dict[str, Any]
NAMESPACE, NAME = "kube-system", "extension-apiserver-authentication"


def config_maps(core: Core) -> Iterator[tuple[Resource, Object]]:
    """The ConfigMaps of kube-system that the server itself keeps."""
    data = _trust(core)
    if data:
        yield resources.CONFIG_MAPS, _config_map(NAME, data)
    version = parse_kubernetes(core.config.kubernetes_version)
    tracked = core.cache.get(resources.CONFIG_MAPS, NAMESPACE, TRACKING)
    if is_in(ApiFeature.TOKEN_TRACKING, version) and tracked is None:
        since = rfc3339(core.clock.now())[: len("2006-01-02")]
        yield resources.CONFIG_MAPS, _config_map(TRACKING, {"since": since})


def _config_map(name: str, data: dict[str, str]) -> Object:
    return {"metadata": {"name": name, "namespace": NAMESPACE}, "data": data}


def _trust(core: Core) -> dict[str, str]:
    access = core.config.access
    data: dict[str, str] = {}
    if access.client_ca:
        data["client-ca-file"] = access.client_ca.decode()
    if (front := access.request_header) is not None:
        data |= {
            "requestheader-allowed-names": _list(front.allowed_names),
            "requestheader-client-ca-file": front.client_ca.decode(),
            "requestheader-extra-headers-prefix": _list(front.extra_header_prefixes),
            "requestheader-group-headers": _list(front.group_headers),
            "requestheader-username-headers": _list(front.username_headers),
        }
        if front.uid_headers:
            data["requestheader-uid-headers"] = _list(front.uid_headers)
    return data


def _list(names: Sequence[str]) -> str:
    """A JSON list without blanks, as upstream writes it."""
    return json.dumps(list(names), separators=(",", ":"))
