"""Fetch images from registries: the pull side of the distribution API, with token log-in.

Source: opencontainers/distribution-spec v1.1; Docker's "Token Authentication Specification".
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode, urljoin, urlsplit

from muntin.kit.errors import Forbidden, Invalid, NotFound, Unavailable
from muntin.kit.http.client import HttpClient, HttpResponse, paced
from muntin.seams.oci.manifest import (
    INDEX_TYPES,
    MANIFEST_TYPES,
    Descriptor,
    parse_digest,
    parse_document,
)
from muntin.seams.oci.reference import DEFAULT_REGISTRY, Reference

_HOSTS = {DEFAULT_REGISTRY: "registry-1.docker.io"}
_ANSWER_S = 30.0
_REDIRECTS = 5
_REDIRECT_STATUS = (301, 302, 303, 307, 308)
_PARAMETER = re.compile(r'(\w+)="?([^",]*)"?')


@dataclass(frozen=True, slots=True)
class Credentials:
    """A user of a registry; empty for nobody."""

    username: str = ""
    password: str = ""
    registry_token: str = ""

    def basic(self) -> str:
        """The value of a basic Authorization header, empty for nobody."""
        if not self.username:
            return ""
        pair = f"{self.username}:{self.password}".encode()
        return f"Basic {base64.b64encode(pair).decode()}"


@dataclass(frozen=True, slots=True)
class Document:
    """A manifest or index as the registry sent it."""

    media_type: str
    digest: str
    data: bytes


def base_url(registry: str) -> str:
    """Where a registry answers: plain HTTP on loopback addresses, as Docker does, else HTTPS."""
    host = _HOSTS.get(registry, registry)
    name = urlsplit(f"//{host}").hostname or ""
    plain = name == "localhost" or name.startswith("127.") or name == "::1"
    return f"{'http' if plain else 'https'}://{host}"


class RegistryClient:
    """Reads one repository."""

    def __init__(
        self, http: HttpClient, reference: Reference, credentials: Credentials | None = None
    ) -> None:
        self._http = http
        self._reference = reference
        self._credentials = credentials or Credentials()
        self._url = f"{base_url(reference.registry)}/v2/{reference.repository}"
        token = self._credentials.registry_token
        self._authorization = f"Bearer {token}" if token else ""

    async def document(self, wanted: str) -> Document:
        """The manifest or index with that tag or digest.

        Raises:
            NotFound: the registry does not have it.
            Forbidden: it asks for other credentials.
            Unavailable: it does not answer, or not as a registry.
        """
        url = f"{self._url}/manifests/{wanted}"
        answer = await self._get(url, {"Accept": ", ".join(INDEX_TYPES + MANIFEST_TYPES)})
        digest = "sha256:" + hashlib.sha256(answer.body).hexdigest()
        if wanted.startswith("sha256:") and digest != wanted:
            raise Invalid(f"content of {wanted} has the digest {digest}")
        media_type = answer.headers.get("content-type", "").partition(";")[0]
        return Document(media_type, digest, answer.body)

    async def blob(self, digest: str) -> bytes:
        """A small blob, checked.

        Raises:
            Invalid: its content has another digest; and as :meth:`document`.
        """
        answer = await self._get(f"{self._url}/blobs/{parse_digest(digest)}", {})
        found = "sha256:" + hashlib.sha256(answer.body).hexdigest()
        if found != digest:
            raise Invalid(f"content of {digest} has the digest {found}")
        return answer.body

    async def download(self, layer: Descriptor, target: Path) -> None:
        """Write a blob to ``target`` as it comes, checked; raises as :meth:`blob`."""
        digest = layer.digest
        url, headers = f"{self._url}/blobs/{digest}", self._headers({})
        for _ in range(_REDIRECTS):
            sha = hashlib.sha256()
            async with self._http.stream(
                "GET", url, headers=headers, timeout_s=_ANSWER_S
            ) as answer:
                if answer.status in _REDIRECT_STATUS:
                    url, headers = _redirect(url, answer.headers, headers)
                    continue
                if answer.status == 401 and await self._log_in(answer.headers):
                    headers = self._headers({})
                    continue
                self._check(HttpResponse(answer.status, answer.headers, b""), url)
                left = layer.size
                with target.open("wb") as file:
                    async for chunk in paced(answer.chunks, _ANSWER_S):
                        left -= len(chunk)
                        if left < 0:
                            raise Invalid(f"{digest} has more than its {layer.size} bytes")
                        sha.update(chunk)
                        file.write(chunk)
            if f"sha256:{sha.hexdigest()}" != digest:
                raise Invalid(f"content of {digest} has the digest sha256:{sha.hexdigest()}")
            return
        raise Unavailable(f"{self._url}/blobs/{digest}: too many redirects")

    async def _get(self, url: str, headers: Mapping[str, str]) -> HttpResponse:
        sent, logged_in = self._headers(headers), False
        for _ in range(_REDIRECTS + 1):
            answer = await self._http.request("GET", url, headers=sent, timeout_s=_ANSWER_S)
            if answer.status in _REDIRECT_STATUS:
                url, sent = _redirect(url, answer.headers, sent)
            elif answer.status == 401 and not logged_in and await self._log_in(answer.headers):
                logged_in, sent = True, self._headers(headers)
            else:
                self._check(answer, url)
                return answer
        raise Unavailable(f"{url}: too many redirects")

    def _headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        extra = {"Authorization": self._authorization} if self._authorization else {}
        return {**headers, **extra}

    def _check(self, answer: HttpResponse, url: str) -> None:
        if answer.status == 404:
            raise NotFound(f"{self._reference}: not found")
        if answer.status in (401, 403):
            raise Forbidden(
                f"pull access denied, repository does not exist or may require authorization: "
                f"GET {url}: {answer.status}"
            )
        if answer.status != 200:
            raise Unavailable(f"unexpected status from GET request to {url}: {answer.status}")

    async def _log_in(self, headers: Mapping[str, str]) -> bool:
        """Get what a 401 asks for; False if we already sent all that we have."""
        scheme, _, rest = headers.get("www-authenticate", "").partition(" ")
        if scheme.lower() == "basic":
            before, self._authorization = self._authorization, self._credentials.basic()
            return bool(self._authorization) and before != self._authorization
        parameters = dict(_PARAMETER.findall(rest))
        realm = parameters.get("realm", "")
        if scheme.lower() != "bearer" or not realm or self._authorization:
            return False
        query = {key: parameters[key] for key in ("service", "scope") if parameters.get(key)}
        query.setdefault("scope", f"repository:{self._reference.repository}:pull")
        basic = self._credentials.basic()
        answer = await self._http.request(
            "GET",
            f"{realm}?{urlencode(query)}",
            headers={"Authorization": basic} if basic else {},
            timeout_s=_ANSWER_S,
        )
        if answer.status != 200:
            raise Forbidden(
                f"failed to authorize: failed to fetch token from {realm}: {answer.status}"
            )
        document = parse_document(answer.body)
        self._authorization = f"Bearer {document.get('token') or document.get('access_token')}"
        return True


def _redirect(
    url: str, headers: Mapping[str, str], sent: Mapping[str, str]
) -> tuple[str, dict[str, str]]:
    """The new address, and headers without credentials where it is another host's.

    Raises:
        Unavailable: it is none.
    """
    try:
        target = urljoin(url, headers.get("location", ""))
        same_host = urlsplit(target).netloc == urlsplit(url).netloc
    except ValueError as err:
        raise Unavailable(f"{url}: redirected to an invalid URL: {err}") from err
    kept = {k: v for k, v in sent.items() if same_host or k != "Authorization"}
    return target, kept
