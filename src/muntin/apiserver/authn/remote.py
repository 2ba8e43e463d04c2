"""The client's side of a webhook: one JSON request, tried again while its server cannot be reached.

Source: apiserver v1.34 pkg/util/webhook/webhook.go (backoff of 0.5 s, factor 1.5, five tries).
"""

from __future__ import annotations

from typing import Any

import orjson

from muntin.apiserver.access_config import RemoteConfig
from muntin.kit import errors
from muntin.kit.clock import Clock
from muntin.kit.http.client import HttpClient, HttpResponse

TRIES, FIRST_WAIT_S, FACTOR = 5, 0.5, 1.5
_AGAIN = frozenset({429, 500, 502, 503, 504})


class Remote:
    """Posts to one server over connections that are kept."""

    def __init__(self, config: RemoteConfig, clock: Clock) -> None:
        self._config = config
        self._clock = clock
        self._client: HttpClient | None = None

    async def ask(self, body: object) -> dict[str, Any]:
        """The answer's JSON object.

        Raises:
            Unavailable: the server cannot be reached, or does not answer with 2xx.
            Invalid: what it answers is no JSON object.
        """
        answer = await self._post(orjson.dumps(body))
        try:
            found = orjson.loads(answer.body)
        except orjson.JSONDecodeError as err:
            raise errors.Invalid(f"{self._config.url}: the answer is no JSON") from err
        if not isinstance(found, dict):
            raise errors.Invalid(f"{self._config.url}: the answer is no JSON object")
        return found

    async def send(self, body: object) -> None:
        """Post, whatever the answer says.

        Raises:
            Unavailable: as for ``ask``.
        """
        await self._post(orjson.dumps(body))

    async def _post(self, body: bytes) -> HttpResponse:
        headers = {"content-type": "application/json", "accept": "application/json"}
        if self._config.token:
            headers["authorization"] = f"Bearer {self._config.token}"
        wait_s, why = FIRST_WAIT_S, ""
        for number in range(TRIES):
            if number:
                await self._clock.sleep(wait_s)
                wait_s *= FACTOR
            try:
                answer = await self._http().request(
                    "POST", self._config.url, headers=headers, body=body,
                    timeout_s=self._config.timeout_s,
                )  # fmt: skip
            except (errors.Unavailable, errors.TimedOut) as err:
                why = err.message
                continue
            if answer.status < 300:
                return answer
            why = f"{self._config.url}: status {answer.status}"
            if answer.status not in _AGAIN:
                break
        raise errors.Unavailable(why)

    def _http(self) -> HttpClient:
        if self._client is None:
            from muntin.kit.http.tls import client_context

            config = self._config
            tls = None
            if config.url.startswith("https:"):
                tls = client_context(
                    ca=config.ca, certificate=config.client_certificate, key=config.client_key
                )
            self._client = HttpClient(tls=tls)
        return self._client

    async def close(self) -> None:
        """Drop the connections."""
        if self._client is not None:
            await self._client.close()
