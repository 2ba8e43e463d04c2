"""The linter as a validating webhook: HTTPS in, `review` decides, the answer out.

``POST /validate`` takes AdmissionReviews, ``GET /healthz`` says that somebody is there.
"""

from __future__ import annotations

import json
import logging
import ssl
from dataclasses import replace
from http import HTTPStatus

from muntin.kit.errors import Invalid
from muntin.kit.http.server import OF_COMPONENT, HttpServer, Request, Response
from muntin.kit.log import fields
from muntin.lint.review import review
from muntin.lint.run import Linter

PATH, HEALTH = "/validate", "/healthz"
_JSON = {"Content-Type": "application/json"}
_TEXT = {"Content-Type": "text/plain; charset=utf-8"}
log = logging.getLogger(__name__)


# A review holds an object and the one before it, each of up to 3 MiB.
LIMITS = replace(OF_COMPONENT, body=7 * 1024 * 1024, held=64 * 1024 * 1024)


class Webhook:
    """Answers reviews by one linter; ``enforce`` refuses what has errors."""

    def __init__(self, linter: Linter, *, enforce: bool = False) -> None:
        self._linter = linter
        self._enforce = enforce
        self._server = HttpServer(self.answer, LIMITS)

    async def listen(self, address: str, port: int, context: ssl.SSLContext) -> int:
        """Serve on ``address``; the port, if 0 was asked for, is the one that was free."""
        return await self._server.listen_tcp(address, port, context)

    async def close(self) -> None:
        """Answer what is being asked, then end."""
        await self._server.close()

    async def answer(self, request: Request) -> Response:
        """One request's answer."""
        if request.path == HEALTH:
            return Response(headers=_TEXT, body=b"ok")
        if request.path != PATH:
            return _refused(HTTPStatus.NOT_FOUND, f"there is {PATH} and {HEALTH}")
        if request.method != "POST":
            return _refused(HTTPStatus.METHOD_NOT_ALLOWED, "reviews are sent with POST")
        try:
            told = review(json.loads(request.body), self._linter, enforce=self._enforce)
        except Invalid as err:
            return _refused(HTTPStatus.BAD_REQUEST, err.message)
        except (ValueError, RecursionError) as err:
            return _refused(HTTPStatus.BAD_REQUEST, f"the body is not JSON: {err}")
        response = told["response"]
        if not response["allowed"]:
            log.info("refused", **fields(uid=response["uid"], why=response["status"]["message"]))
        return Response(headers=_JSON, body=json.dumps(told).encode())


def _refused(status: HTTPStatus, text: str) -> Response:
    return Response(status=status, headers=_TEXT, body=f"{text}\n".encode())


def server_context(certificate: str, key: str) -> ssl.SSLContext:
    """TLS with the certificate (PEM, with its chain) and key in these files.

    Raises:
        Invalid: the files are no certificate and its key.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(certificate, key)
    except (ssl.SSLError, ValueError) as err:
        raise Invalid(f"{certificate} and {key} are no certificate and its key: {err}") from err
    return context
