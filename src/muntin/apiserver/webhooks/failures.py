"""Why a webhook could not be called, in the words that Go's HTTP client has for it.

People and programs look for these texts. Source: observed of kube-apiserver v1.34; Go 1.24 net,
crypto/tls, crypto/x509; client-go rest/request.go (answers that are no success).
"""

from __future__ import annotations

import errno
import ssl
from urllib.parse import SplitResult

import orjson

from muntin.kit import errors


class WebhookFailed(errors.Unavailable):
    """A webhook gave no usable answer; the message names the URL and the reason.

    ``code`` is the status that it answered with, or the one that stands for what went wrong.
    """

    def __init__(self, message: str, code: int = 503) -> None:
        super().__init__(message)
        self.code = code


_SYSTEM = {
    errno.ECONNREFUSED: "connect: connection refused",
    errno.EHOSTUNREACH: "connect: no route to host",
    errno.ENETUNREACH: "connect: network is unreachable",
    errno.ETIMEDOUT: "connect: connection timed out",
    errno.ECONNRESET: "read: connection reset by peer",
}
_X509 = "tls: failed to verify certificate: x509: "
_UNKNOWN_AUTHORITY = frozenset({18, 19, 20, 21})  # OpenSSL's X509_V_ERR_* of missing trust
_HOSTNAME_MISMATCH, _EXPIRED, _NOT_YET_VALID = 62, 10, 9


def of_transport(error: errors.MuntinError, url: str, peer: SplitResult) -> WebhookFailed:
    """The failure to reach ``url``, whose connections really lead to ``peer``."""
    host = f"[{peer.hostname}]" if ":" in (peer.hostname or "") else peer.hostname
    port = peer.port or (443 if peer.scheme == "https" else 80)
    return WebhookFailed(f'Post "{url}": {_reason(error, f"{host}:{port}")}')


def _reason(error: errors.MuntinError, peer: str) -> str:
    if isinstance(error, errors.TimedOut):
        return "context deadline exceeded"
    cause = error.__cause__
    if isinstance(cause, ssl.SSLCertVerificationError):
        return _X509 + _certificate(cause)
    if isinstance(cause, ssl.SSLError):
        return _tls(cause)
    if isinstance(cause, OSError) and cause.errno in _SYSTEM:
        return f"dial tcp {peer}: {_SYSTEM[cause.errno]}"
    if isinstance(cause, OSError) and "ame or service not known" in str(cause):
        return f"dial tcp: lookup {peer.rpartition(':')[0]}: no such host"
    if isinstance(cause, TimeoutError):
        return f"dial tcp {peer}: i/o timeout"
    return "EOF" if "closed" in error.message else error.message


def _certificate(error: ssl.SSLCertVerificationError) -> str:
    if error.verify_code in _UNKNOWN_AUTHORITY:
        return "certificate signed by unknown authority"
    if error.verify_code == _HOSTNAME_MISMATCH:
        wanted = error.verify_message.partition("'")[2].rpartition("'")[0]
        return f"certificate is not valid for {wanted}"
    if error.verify_code in (_EXPIRED, _NOT_YET_VALID):
        return "certificate has expired or is not yet valid"
    return error.verify_message


def _tls(error: ssl.SSLError) -> str:
    if error.reason in ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE"):
        return "tls: first record does not look like a TLS handshake"
    return f"remote error: tls: {(error.reason or 'handshake failure').replace('_', ' ').lower()}"


def of_answer(status: int, body: bytes) -> WebhookFailed:
    """The failure of an answer that is no success; its own Status speaks if it has one."""
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError:
        found = None
    is_status = isinstance(found, dict) and found.get("kind") == "Status"
    if is_status and found.get("apiVersion") == "v1" and found.get("message"):
        return WebhookFailed(str(found["message"]), status)
    known = {
        401: "the server has asked for the client to provide credentials",
        400: "the server rejected our request for an unknown reason",
        403: body[:2048].decode(errors="replace").strip(),
        404: "the server could not find the requested resource",
        405: "the server does not allow this method on the requested resource",
        429: "the server has received too many requests and has asked us to try again later",
    }
    if status in known:
        return WebhookFailed(known[status], status)
    text = body[:2048].decode(errors="replace").strip()
    if status >= 500:
        shown = f'("{text}")' if text else "(unknown)"
        return WebhookFailed(
            f"an error on the server {shown} has prevented the request from succeeding", status
        )
    return WebhookFailed(
        f"the server rejected our request for an unknown reason ({status})", status
    )
