"""``/statusz`` and ``/flagz``: what the server is and how it was started, for people and programs.

Flags are kube-apiserver's names for what the configuration says. As text the pages are for reading;
programs ask for an object of ``config.k8s.io``.
Source: apiserver v1.36 pkg/server/statusz, pkg/server/flagz.
"""

from __future__ import annotations

import time
from typing import Any

from muntin.apiserver import output, status
from muntin.apiserver.build_info import version_info
from muntin.apiserver.config import ApiServerConfig
from muntin.apiserver.core import Core
from muntin.apiserver.encodings import to_yaml
from muntin.apiserver.request import ApiRequest
from muntin.kit.clock import rfc3339
from muntin.kit.http.messages import Response

Object = dict[str, Any]

PATHS = ("/flagz", "/statusz")
_GROUP = "config.k8s.io"
_VERSIONS = ("v1alpha1", "v1beta1")
_DEPRECATED = "v1alpha1"
_TEXT = {"Content-Type": "text/plain; charset=utf-8"}
_LISTED = ("/flagz", "/healthz", "/livez", "/metrics", "/readyz", "/statusz", "/version")
_NOTICE = "This page is for people to read: its form may change, so programs should not parse it."


async def statusz(core: Core, request: ApiRequest) -> Response:
    """Since when the server runs, and which version it is."""
    info = version_info(core.config.kubernetes_version)
    now, up = core.clock.now(), int(time.monotonic() - _STARTED)
    full = info["gitVersion"].removeprefix("v")
    emulated = f"{info['major']}.{info['minor']}"
    fields = {
        "startTime": rfc3339(now - up),
        "uptimeSeconds": up,
        "goVersion": info["goVersion"],
        "binaryVersion": full,
        "emulationVersion": emulated,
        "paths": list(_LISTED),
    }
    started = time.strftime("%a %b %e %H:%M:%S UTC %Y", time.gmtime(now - up))
    minutes = up // 60
    lines = [
        "",
        f"Started: {started}",
        f"Up: {minutes // 60} hr {minutes % 60:02} min {up % 60:02} sec",
        f"Go version: {info['goVersion']}",
        f"Binary version: {full}",
        f"Emulation version: {emulated}",
        f"Paths: {' '.join(_LISTED)}",
    ]
    return _page(request, "Statusz", fields, lines)


async def flagz(core: Core, request: ApiRequest) -> Response:
    """What the server was told at its start."""
    flags = _flags(core.config)
    return _page(request, "Flagz", {"flags": flags}, [f"{key} {flags[key]}" for key in flags])


def _flags(config: ApiServerConfig) -> dict[str, str]:
    limits, access, admission = config.limits, config.access, config.admission
    low, high = config.node_ports
    on = [f"{key}={str(value).lower()}" for key, value in config.runtime_config.items()]
    found = {
        "advertise-address": config.advertise_address,
        "authorization-mode": f"[{','.join(access.authorization_modes)}]",
        "default-not-ready-toleration-seconds": str(config.not_ready_toleration_s),
        "disable-admission-plugins": f"[{','.join(admission.disable)}]",
        "enable-admission-plugins": f"[{','.join(admission.enable)}]",
        "etcd-compaction-interval": f"{config.compaction_interval_s:g}s",
        "max-mutating-requests-inflight": str(limits.mutating_requests_in_flight),
        "max-requests-inflight": str(limits.requests_in_flight),
        "min-request-timeout": f"{limits.watch_timeout_s:g}",
        "request-timeout": f"{limits.request_timeout_s:g}s",
        "runtime-config": ",".join(on),
        "secure-port": str(config.port),
        "service-account-issuer": f"[{config.issuer}]",
        "service-cluster-ip-range": config.service_cidr,
        "service-node-port-range": f"{low}-{high}",
        "shutdown-delay-duration": f"{limits.shutdown_delay_s:g}s",
    }
    return dict(sorted(found.items()))


def _page(request: ApiRequest, kind: str, fields: Object, lines: list[str]) -> Response:
    """The page in the first form that the client takes.

    Raises:
        ApiError: 406.
    """
    accept = request.http.headers.get("accept", "").strip()
    for clause in accept.split(",") if accept else ("text/plain",):
        media, *parts = (part.strip() for part in clause.split(";"))
        wanted = dict(part.partition("=")[::2] for part in parts)
        version = wanted.get("v", "")
        is_object = wanted.get("as") == kind and wanted.get("g") == _GROUP and version in _VERSIONS
        if media in ("text/plain", "text/*", "*/*") and "as" not in wanted:
            text = "\n".join(["", f"apiserver {kind.lower()}", f"Warning: {_NOTICE}", *lines, ""])
            return Response(200, _TEXT, text.encode())
        if media in ("application/json", "application/yaml") and is_object:
            return _object(request, media, kind, version, fields)
    known = "application/json, application/yaml, text/plain"
    raise status.not_acceptable(known)


def _object(request: ApiRequest, media: str, kind: str, version: str, fields: Object) -> Response:
    obj = {
        "kind": kind,
        "apiVersion": f"{_GROUP}/{version}",
        "metadata": {"name": "apiserver"},
        **fields,
    }
    if version == _DEPRECATED:
        page = kind.lower()
        request.warnings.append(
            f"This version of the {page} endpoint is deprecated. Please use a newer version."
        )
    headers = {"Content-Type": f"{media};g={_GROUP};v={version};as={kind}"}
    if media == "application/yaml":
        return Response(200, headers, to_yaml(obj))
    return Response(200, headers, output.indented_response(obj).body)


_STARTED = time.monotonic()
