"""What a server that runs for long keeps: no more for every client, definition or write."""

import asyncio
import gzip
import json
from collections import Counter
from dataclasses import replace

import pytest
from api_in_process import JSON, MAPS, PODS, config_map, run
from crontabs import CRDS, GROUP, crontab, define, definition, established, version

from muntin.apiserver import status
from muntin.apiserver.authn import MOST_CERTIFICATES
from muntin.apiserver.cache import RING_LEAST
from muntin.kit.http.messages import Request

REVIEWS = "/apis/authentication.k8s.io/v1/selfsubjectreviews"


def named(name):
    return {"subject": ((("commonName", name),), (("organizationName", "people"),))}


def test_events_that_are_not_fresh_are_forgotten_but_for_the_newest():
    async def scenario(server, api):
        first = server.core.cache.revision
        for number in range(RING_LEAST + 20):
            await api("POST", MAPS, config_map(f"m{number}"))
        while len(server.core.cache.by_storage["configmaps"].ring) > RING_LEAST:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        async with api.watch(f"{MAPS}?watch=1&resourceVersion={first}") as events:
            assert (await events.next())["object"]["code"] == 410
        since = (await api("GET", f"{MAPS}/m30"))["metadata"]["resourceVersion"]
        async with api.watch(f"{MAPS}?watch=1&resourceVersion={since}") as events:
            assert await events.short() == ("ADDED", "m31")

    run(scenario, events_fresh_s=0.02)


def test_a_certificate_is_remembered_once_however_many_connections_show_it():
    async def scenario(server, api):
        asked = Request(method="POST", path=REVIEWS, headers=JSON, body=b"{}")

        async def who(number):
            shown = {
                "peer_certificate": named(f"u{number}"),
                "peer_certificate_der": b"%d" % number,
            }
            request = replace(asked, **shown)
            answer = await server.handler(request)
            return json.loads(answer.body)["status"]["userInfo"]["username"]

        remembered = server.core.authenticator.certificates
        for _ in range(50):
            assert await who(1) == "u1"
        assert len(remembered) == 1
        for number in range(MOST_CERTIFICATES + 5):
            assert await who(number) == f"u{number}"
        assert len(remembered) <= MOST_CERTIFICATES

    run(scenario)


def test_requests_are_counted_by_what_they_are_however_often_a_definition_changes():
    async def scenario(server, api):
        await define(api)
        path = f"/apis/{GROUP}/v1/namespaces/default/crontabs"
        await api("POST", path, crontab())
        name = definition()["metadata"]["name"]
        for number in range(5):
            await api("GET", f"{path}/one")
            found = await api("GET", f"{CRDS}/{name}")
            found["spec"]["versions"] = [version(deprecated=bool(number % 2))]
            await api("PUT", f"{CRDS}/{name}", found)
            await established(api, name)
        lines = (await api("GET", "/metrics")).splitlines()
        shown = Counter(line.rpartition(" ")[0] for line in lines if 'resource="crontabs"' in line)
        assert shown
        assert set(shown.values()) == {1}

    run(scenario)


@pytest.mark.parametrize("path", ["/openapi/v2", "/openapi/v3/api/v1"])
def test_large_documents_are_kept_in_gzip_and_given_as_the_client_wants_them(path):
    async def scenario(server, api):
        def asking(**headers):
            return server.user("admin", "system:masters").request("GET", path, headers=headers)

        plain = await asking(accept="application/json")
        packed = await asking(**{"accept": "application/json", "accept-encoding": "gzip"})
        assert "content-encoding" not in {key.lower() for key in plain.headers}
        assert packed.headers["content-encoding"] == "gzip"
        assert packed.headers["vary"] == "Accept, Accept-Encoding"
        assert gzip.decompress(packed.body) == plain.body
        assert json.loads(plain.body)["paths"]
        assert packed.headers["etag"] == plain.headers["etag"]
        known = await asking(**{"if-none-match": plain.headers["etag"]})
        assert (known.status, known.body) == (304, b"")

    run(scenario)


def shown(name, path, method="POST", **headers):
    """The header of a request of ``name`` (empty: anonymous) whose body is still to come."""
    request = Request(method=method, path=path, headers={**JSON, **headers}, complete=False)
    if not name:
        return request
    return replace(request, peer_certificate=named(name), peer_certificate_der=name.encode())


def test_only_authorized_users_may_send_a_long_body():
    """The others get what they would get afterwards, audit log and all."""

    async def scenario(server, api):
        gate = server.handler.gate
        roles = "/apis/rbac.authorization.k8s.io/v1"
        rule = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["create"]}
        await api("POST", f"{roles}/clusterroles", {"metadata": {"name": "r"}, "rules": [rule]})
        subject = {"kind": "User", "name": "writer", "apiGroup": "rbac.authorization.k8s.io"}
        ref = {"kind": "ClusterRole", "name": "r", "apiGroup": "rbac.authorization.k8s.io"}
        binding = {"metadata": {"name": "b"}, "subjects": [subject], "roleRef": ref}
        await api("POST", f"{roles}/clusterrolebindings", binding)

        passed = await gate(shown("writer", MAPS))
        assert (passed.user, passed.known.name) == ("writer", "writer")
        as_other = {"impersonate-user": "writer"}
        for request, code, reason in (
            (shown("", MAPS), 403, "Forbidden"),
            (shown("other", MAPS), 403, "Forbidden"),
            (shown("writer", PODS), 403, "Forbidden"),
            (shown("writer", MAPS, **as_other), 403, "Forbidden"),
            (shown("", MAPS, authorization="Bearer odd"), 401, "Unauthorized"),
            (shown("other", "/apis/none.example/v1/things"), 403, "Forbidden"),
        ):
            answer = await gate(request)
            assert answer.status == code, request
            assert json.loads(answer.body)["reason"] == reason
            assert answer.headers["Audit-Id"]
        # A header without its body has no effect, for any user.
        assert (await server.handler(shown("writer", MAPS))).status == 503
        assert (await api("GET", MAPS))["items"] == []

    run(scenario)


def test_too_many_bytes_at_once_are_a_status_to_try_again():
    answer = status.refusal(429, "too much")
    assert answer.headers["Retry-After"] == "1"
    body = json.loads(answer.body)
    assert (body["reason"], body["details"]) == ("TooManyRequests", {"retryAfterSeconds": 1})
