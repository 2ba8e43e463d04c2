"""Every way to say who one is, over TLS with real certificates and tokens."""

import asyncio
import base64
import hashlib
import json
import ssl
import time

import pytest
from access_lab import ACCOUNTS, access, free_port, remote, service
from apiserver_process import Authority
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from muntin.apiserver.access_config import (
    AuthenticationWebhookConfig,
    OidcConfig,
    RequestHeaderConfig,
)
from muntin.kit import jose
from muntin.kit.clock import FakeClock
from muntin.model.service_account_tokens import legacy_claims

PODS = "/api/v1/namespaces/default/pods"
SECRETS = "/api/v1/namespaces/default/secrets"
SYSTEM = "/api/v1/namespaces/kube-system/secrets"
REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews"
AUTHENTICATED = "system:authenticated"


def pem(key):
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def b64(text):
    return base64.b64encode(text.encode()).decode()


async def role(lab, name, rule, subject):
    """A ClusterRole of one rule, bound to a user."""
    api = "/apis/rbac.authorization.k8s.io/v1"
    await lab.make(f"{api}/clusterroles", {"metadata": {"name": name}, "rules": [rule]})
    ref = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name}
    user = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": subject}
    await lab.make(
        f"{api}/clusterrolebindings",
        {"metadata": {"name": name}, "roleRef": ref, "subjects": [user]},
    )


def test_a_certificate_is_a_user_with_the_name_of_its_credential(tmp_path):
    async def scenario(lab):
        lab.authority.pair("jane", "jane", "dev")
        code, user = await lab.whoami(pair="jane")
        der = ssl.PEM_cert_to_DER_cert((tmp_path / "jane.crt").read_text())
        assert code == 201
        assert user == {
            "username": "jane",
            "groups": ["dev", AUTHENTICATED],
            "extra": {
                "authentication.kubernetes.io/credential-id": [
                    f"X509SHA256={hashlib.sha256(der).hexdigest()}"
                ]
            },
        }

    access(scenario, tmp_path)


def test_tokens_of_a_file(tmp_path):
    async def scenario(lab):
        code, user = await lab.whoami(token="secret")
        assert (code, user["username"], user["uid"]) == (201, "jane", "42")
        assert user["groups"] == ["dev", "ops", AUTHENTICATED]
        assert (await lab.whoami(token="other"))[0] == 401
        assert (await lab("GET", "/version", headers={"authorization": "Basic x"}))[0] == 401

    access(scenario, tmp_path, static_tokens='secret,jane,42,"dev,ops"\n')


def test_bootstrap_tokens(tmp_path):
    clock = FakeClock(1_800_000_000.0)
    token = "abcdef.0123456789abcdef"

    async def scenario(lab):
        assert (await lab.whoami(token=token))[0] == 401
        data = {
            "token-id": "abcdef", "token-secret": "0123456789abcdef",
            "usage-bootstrap-authentication": "true", "expiration": "2027-01-15T08:01:00Z",
            "auth-extra-groups": "system:bootstrappers:kubeadm:default-node-token",
        }  # fmt: skip
        secret = {
            "metadata": {"name": "bootstrap-token-abcdef"},
            "type": "bootstrap.kubernetes.io/token",
            "stringData": data,
        }
        made = await lab.make(SYSTEM, secret)
        code, user = await lab.whoami(token=token)
        assert (code, user["username"]) == (201, "system:bootstrap:abcdef")
        assert user["groups"] == [
            "system:bootstrappers",
            "system:bootstrappers:kubeadm:default-node-token",
            AUTHENTICATED,
        ]
        assert (await lab.whoami(token=token[:-1] + "0"))[0] == 401
        await clock.advance(61)
        assert (await lab.whoami(token=token))[0] == 401
        made["data"]["expiration"] = b64("2027-01-15T09:00:00Z")
        path = f"{SYSTEM}/bootstrap-token-abcdef"
        made = await lab.make(path, made, "PUT")
        assert (await lab.whoami(token=token))[0] == 201
        made["data"]["usage-bootstrap-authentication"] = b64("false")
        await lab.make(path, made, "PUT")
        assert (await lab.whoami(token=token))[0] == 401

    access(scenario, tmp_path, clock=clock)


def test_a_token_ends_in_the_moment_its_pod_does(tmp_path):
    async def scenario(lab):
        node = await lab.make("/api/v1/nodes", {"metadata": {"name": "n1"}})
        spec = {"nodeName": "n1", "containers": [{"name": "c", "image": "i"}]}
        pod = await lab.make(PODS, {"metadata": {"name": "p"}, "spec": spec})
        ref = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": pod["metadata"]["uid"]}
        token = await lab.token(boundObjectRef=ref, expirationSeconds=600)
        code, user = await lab.whoami(token=token)
        extra = user["extra"]
        prefix = "authentication.kubernetes.io"
        assert code == 201
        assert user["username"] == "system:serviceaccount:default:default"
        assert extra[f"{prefix}/pod-name"] == ["p"]
        assert extra[f"{prefix}/pod-uid"] == [pod["metadata"]["uid"]]
        assert extra[f"{prefix}/node-name"] == ["n1"]
        assert extra[f"{prefix}/node-uid"] == [node["metadata"]["uid"]]
        assert extra[f"{prefix}/credential-id"][0].startswith("JTI=")
        await lab.make(f"{PODS}/p", {"gracePeriodSeconds": 0}, "DELETE")
        assert (await lab.whoami(token=token))[0] == 401
        await lab.make(PODS, {"metadata": {"name": "p"}, "spec": spec})
        assert (await lab.whoami(token=token))[0] == 401, "another pod of the same name"

    access(scenario, tmp_path)


@pytest.mark.parametrize(
    "path, body, kind",
    [
        (SECRETS, {"metadata": {"name": "s"}}, "Secret"),
        ("/api/v1/nodes", {"metadata": {"name": "s"}}, "Node"),
    ],
)
def test_tokens_of_secrets_and_nodes(tmp_path, path, body, kind):
    async def scenario(lab):
        await lab.make(path, body)
        token = await lab.token(boundObjectRef={"apiVersion": "v1", "kind": kind, "name": "s"})
        code, user = await lab.whoami(token=token)
        assert code == 201
        assert ("authentication.kubernetes.io/node-name" in user["extra"]) is (kind == "Node")
        await lab.make(f"{path}/s", {}, "DELETE")
        assert (await lab.whoami(token=token))[0] == 401

    access(scenario, tmp_path)


def test_what_a_token_request_may_ask(tmp_path):
    async def scenario(lab):
        async def ask(spec, code):
            answer = await lab.admin().request(
                "POST", f"{ACCOUNTS}/default/token", headers={"content-type": "application/json"},
                body=json.dumps({"spec": spec}).encode(),
            )  # fmt: skip
            assert answer.status == code, answer.body
            return json.loads(answer.body)

        short = await ask({"expirationSeconds": 599}, 422)
        assert "may not specify a duration less than 10 minutes" in short["message"]
        long = await ask({"expirationSeconds": 2**32 + 1}, 422)
        assert "may not specify a duration larger than 2^32 seconds" in long["message"]
        wrong = await ask({"boundObjectRef": {"apiVersion": "v1", "kind": "Event"}}, 400)
        assert wrong["message"] == "cannot bind token to object of type /v1, Kind=Event"
        await ask({"boundObjectRef": {"apiVersion": "v1", "kind": "Pod", "name": "no"}}, 404)
        await lab.make(SECRETS, {"metadata": {"name": "s"}})
        other = {"apiVersion": "v1", "kind": "Secret", "name": "s", "uid": "other"}
        await ask({"boundObjectRef": other}, 409)
        found = await ask({"audiences": ["vault"], "expirationSeconds": 600}, 201)
        assert found["spec"]["audiences"] == ["vault"]
        assert (await lab.whoami(token=found["status"]["token"]))[0] == 401

    access(scenario, tmp_path)


def test_tokens_run_out_and_are_for_their_audience(tmp_path):
    clock = FakeClock(1_800_000_000.0)

    async def scenario(lab):
        token = await lab.token(expirationSeconds=600, audiences=["vault", "api"])
        assert (await lab.whoami(token=token))[0] == 201
        review = {"spec": {"token": token, "audiences": ["vault", "other"]}}
        found = (await lab.make(REVIEWS, review))["status"]
        assert (found["authenticated"], found["audiences"]) == (True, ["vault"])
        review["spec"]["audiences"] = ["other"]
        found = (await lab.make(REVIEWS, review))["status"]
        assert "authenticated" not in found
        assert found["error"] == (
            '[invalid bearer token, token audiences ["vault" "api"] is invalid for the target '
            'audiences ["other"]]'
        )
        await clock.advance(601)
        assert (await lab.whoami(token=token))[0] == 401
        expired = (await lab.make(REVIEWS, {"spec": {"token": token}}))["status"]
        assert expired["error"] == "[invalid bearer token, service account token has expired]"
        junk = (await lab.make(REVIEWS, {"spec": {"token": "junk"}}))["status"]
        assert junk == {"user": {}, "error": "invalid bearer token"}

    access(scenario, tmp_path, clock=clock, api_audiences=("api",))


def test_a_projected_token_outlives_what_it_says(tmp_path):
    clock = FakeClock(1_800_000_000.0)

    async def scenario(lab):
        spec = {"containers": [{"name": "c", "image": "i"}]}
        await lab.make(PODS, {"metadata": {"name": "p"}, "spec": spec})
        ref = {"apiVersion": "v1", "kind": "Pod", "name": "p"}
        token = await lab.token(boundObjectRef=ref, expirationSeconds=3607)
        claims = jose.peek(token)[1]
        assert claims["exp"] - claims["iat"] == 365 * 24 * 3600
        assert claims["kubernetes.io"]["warnafter"] - claims["iat"] == 3607
        await clock.advance(4000)
        assert (await lab.whoami(token=token))[0] == 201
        vault = await lab.token(boundObjectRef=ref, expirationSeconds=3607, audiences=["vault"])
        claims = jose.peek(vault)[1]
        assert claims["exp"] - claims["iat"] == 3607

    access(scenario, tmp_path, clock=clock)


def test_keys_and_issuers_are_exchanged_without_a_break(tmp_path):
    old = ec.generate_private_key(ec.SECP256R1())
    new = rsa.generate_private_key(public_exponent=65537, key_size=2048)

    async def scenario(lab):
        account = await lab.make(f"{ACCOUNTS}/default", {}, "GET")
        now = int(time.time())
        claims = {
            "iss": "https://old.example.com", "aud": ["https://kubernetes.default.svc.cluster.local"],
            "exp": now + 600, "nbf": now, "sub": "system:serviceaccount:default:default",
            "kubernetes.io": {"namespace": "default", "serviceaccount": {
                "name": "default", "uid": account["metadata"]["uid"]}},
        }  # fmt: skip
        signed = jose.signing_key(pem(old)).sign(claims)
        assert (await lab.whoami(token=signed))[0] == 201
        token = await lab.token()
        assert jose.peek(token)[0]["alg"] == "RS256"
        assert (await lab.whoami(token=token))[0] == 201
        stranger = jose.signing_key(pem(ec.generate_private_key(ec.SECP256R1()))).sign(claims)
        assert (await lab.whoami(token=stranger))[0] == 401
        unsigned = ".".join([jose.base64url(b'{"alg":"none"}'), signed.split(".")[1], ""])
        assert (await lab.whoami(token=unsigned))[0] == 401
        _, keys = await lab("GET", "/openid/v1/jwks", token=token)
        assert {row["alg"] for row in keys["keys"]} == {"RS256", "ES256"}
        assert all("d" not in row for row in keys["keys"])
        assert jose.verify(token, jose.jwk_keys(keys, ["RS256"]))["iss"]
        _, document = await lab("GET", "/.well-known/openid-configuration", token=token)
        assert document["id_token_signing_alg_values_supported"] == ["ES256", "RS256"]
        assert document["jwks_uri"] == "https://192.0.2.1/keys"
        assert (await lab("GET", "/openid/v1/jwks"))[0] == 403, "for ServiceAccounts alone"

    access(
        scenario,
        tmp_path,
        key=pem(new),
        service_account_verification_keys=(pem(old),),
        more_issuers=("https://old.example.com",),
        jwks_uri="https://192.0.2.1/keys",
    )


def test_tokens_in_secrets(tmp_path):
    async def scenario(lab):
        account = await lab.make(f"{ACCOUNTS}/default", {}, "GET")
        key = jose.signing_key((tmp_path / "service-account.key").read_bytes())
        uid = account["metadata"]["uid"]
        token = key.sign(legacy_claims("default", "default", uid, "s"))
        annotations = {
            "kubernetes.io/service-account.name": "default",
            "kubernetes.io/service-account.uid": uid,
        }
        secret = {
            "metadata": {"name": "s", "annotations": annotations},
            "type": "kubernetes.io/service-account-token",
            "stringData": {"token": token},
        }
        assert (await lab.whoami(token=token))[0] == 401
        await lab.make(SECRETS, secret)
        code, user = await lab.whoami(token=token)
        assert (code, user["username"]) == (201, "system:serviceaccount:default:default")
        async with asyncio.timeout(5):
            while True:
                found = await lab.make(f"{SECRETS}/s", {}, "GET")
                labels = found["metadata"].get("labels") or {}
                if "kubernetes.io/legacy-token-last-used" in labels:
                    break
                await asyncio.sleep(0.01)
        assert labels["kubernetes.io/legacy-token-last-used"] == time.strftime(
            "%Y-%m-%d", time.gmtime()
        )
        tracking = await lab.make(
            "/api/v1/namespaces/kube-system/configmaps/"
            "kube-apiserver-legacy-service-account-token-tracking", {}, "GET",
        )  # fmt: skip
        assert len(tracking["data"]["since"]) == 10
        found["metadata"]["labels"]["kubernetes.io/legacy-token-invalid-since"] = "2026-01-01"
        found = await lab.make(f"{SECRETS}/s", found, "PUT")
        assert (await lab.whoami(token=token))[0] == 401
        del found["metadata"]["labels"]["kubernetes.io/legacy-token-invalid-since"]
        await lab.make(f"{SECRETS}/s", found, "PUT")
        assert (await lab.whoami(token=token))[0] == 201
        await lab.make(f"{SECRETS}/s", {}, "DELETE")
        assert (await lab.whoami(token=token))[0] == 401

    access(scenario, tmp_path)


def front_proxy(folder):
    (folder / "front").mkdir()
    proxy = Authority(folder / "front", "front-proxy-ca")
    for file, name in (("proxy", "front-proxy-client"), ("other", "somebody-else")):
        proxy.pair(file, name)
        for end in ("crt", "key"):
            (folder / f"{file}.{end}").write_bytes((folder / f"front/{file}.{end}").read_bytes())
    return RequestHeaderConfig(
        client_ca=(folder / "front/ca.crt").read_bytes(), allowed_names=("front-proxy-client",)
    )


def test_a_front_proxy_says_who_asks_and_nobody_else_does(tmp_path):
    said = {
        "X-Remote-User": "bob",
        "X-Remote-Group": "dev",
        "X-Remote-Extra-Scopes%2fX": "read",
    }

    async def scenario(lab):
        lab.authority.pair("jane", "jane")
        code, user = await lab.whoami(pair="proxy", headers=said)
        assert (code, user["username"], user["groups"]) == (201, "bob", ["dev", AUTHENTICATED])
        assert user["extra"] == {"scopes/x": ["read"]}
        assert (await lab.whoami(pair="proxy"))[0] == 401
        assert (await lab.whoami(pair="other", headers=said))[0] == 401
        assert (await lab.whoami(pair="jane", headers=said))[1]["username"] == "jane"
        path = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"
        found = (await lab.make(path, {}, "GET"))["data"]
        assert found["client-ca-file"] == (tmp_path / "ca.crt").read_text()
        front = (tmp_path / "front/ca.crt").read_text()
        assert found["requestheader-client-ca-file"] == front
        assert found["requestheader-allowed-names"] == '["front-proxy-client"]'
        assert found["requestheader-username-headers"] == '["X-Remote-User"]'

    access(scenario, tmp_path, request_header=front_proxy)


class Issuer:
    """An OpenID issuer: one key, which may be exchanged."""

    def __init__(self, port):
        self.url = f"https://localhost:{port}"
        self.asked = 0
        self.exchange()

    def exchange(self):
        self.key = jose.signing_key(
            pem(rsa.generate_private_key(public_exponent=65537, key_size=2048))
        )

    def answer(self, path, body):
        self.asked += 1
        if path == "/.well-known/openid-configuration":
            return {"issuer": self.url, "jwks_uri": f"{self.url}/keys"}
        return {"keys": [self.key.public.jwk()]} if path == "/keys" else 404

    def token(self, **claims):
        now = int(time.time())
        base = {"iss": self.url, "aud": "kubernetes", "exp": now + 600, "sub": "1",
                "email": "jane@example.com", "groups": ["dev"], "hd": "example.com"}  # fmt: skip
        return self.key.sign({**base, **claims})


def test_openid_tokens(tmp_path):
    port = free_port()
    issuer = Issuer(port)

    def config(folder):
        return (
            OidcConfig(
                issuer_url=issuer.url,
                client_id="kubernetes",
                username_claim="email",
                groups_claim="groups",
                groups_prefix="oidc:",
                required_claims={"hd": "example.com"},
                ca=(folder / "ca.crt").read_bytes(),
            ),
        )

    async def scenario(lab):
        assert (await lab.whoami(token=issuer.token()))[0] == 401, "nobody answers there yet"
        async with service(tmp_path, issuer.answer, port):
            code, user = await lab.whoami(token=issuer.token())
            assert (code, user["username"]) == (201, "jane@example.com")
            assert user["groups"] == ["oidc:dev", AUTHENTICATED]
            asked = issuer.asked
            assert (await lab.whoami(token=issuer.token()))[0] == 201
            assert issuer.asked == asked, "keys are kept"
            for wrong in (
                {"exp": int(time.time()) - 1},
                {"aud": "other"},
                {"hd": "elsewhere.example.com"},
                {"email_verified": False},
                {"email": None},
                {"groups": {"a": "b"}},
                {"nbf": int(time.time()) + 3600},
            ):
                assert (await lab.whoami(token=issuer.token(**wrong)))[0] == 401, wrong
            lab.server.core.authenticator._oidc[0]._asked -= 60
            issuer.exchange()
            assert (await lab.whoami(token=issuer.token()))[0] == 201, "the new key is fetched"
            found = (await lab.make(REVIEWS, {"spec": {"token": issuer.token(aud="x")}}))["status"]
            assert 'expected audience "kubernetes"' in found["error"]

    access(scenario, tmp_path, oidc=config)


def test_a_webhook_knows_tokens(tmp_path):
    port, asked = free_port(), []

    def answer(path, body):
        asked.append(body["spec"]["token"])
        if body["spec"]["token"] != "good":
            return {"status": {"authenticated": False}}
        user = {"username": "remote", "uid": "7", "groups": ["dev"], "extra": {"a": ["b"]}}
        return {"status": {"authenticated": True, "user": user}}

    async def scenario(lab):
        async with service(tmp_path, answer, port):
            for _ in range(2):
                code, user = await lab.whoami(token="good")
                assert code == 201
                assert user == {
                    "username": "remote", "uid": "7", "groups": ["dev", AUTHENTICATED],
                    "extra": {"a": ["b"]},
                }  # fmt: skip
                assert (await lab.whoami(token="bad"))[0] == 401
            assert asked == ["good", "bad"], "both answers are remembered"

    def config(folder):
        return AuthenticationWebhookConfig(remote=remote(folder, port))

    access(scenario, tmp_path, authentication_webhook=config)


def test_acting_as_somebody_else_is_asked_for_item_by_item(tmp_path):
    async def scenario(lab):
        lab.authority.pair("jane", "jane")
        bob = {"Impersonate-User": "bob"}
        code, error = await lab.whoami(pair="jane", headers=bob)
        assert code == 403
        assert error["message"] == (
            'users "bob" is forbidden: User "jane" cannot impersonate resource "users" in API '
            'group "" at the cluster scope'
        )
        rule = {"verbs": ["impersonate"], "apiGroups": [""], "resources": ["users"],
                "resourceNames": ["bob"]}  # fmt: skip
        await role(lab, "as-bob", rule, "jane")
        code, user = await lab.whoami(pair="jane", headers=bob)
        assert (code, user["username"]) == (201, "bob")
        more = {**bob, "Impersonate-Group": "dev", "Impersonate-Uid": "7",
                "Impersonate-Extra-Scopes": "read"}  # fmt: skip
        assert (
            'groups "dev" is forbidden'
            in (await lab.whoami(pair="jane", headers=more))[1]["message"]
        )
        await role(lab, "groups", {**rule, "resources": ["groups"], "resourceNames": ["dev"]},
                   "jane")  # fmt: skip
        group = "authentication.k8s.io"
        assert (
            f'userextras.{group} "read" is forbidden'
            in (await lab.whoami(pair="jane", headers=more))[1]["message"]
        )
        rest = {"verbs": ["impersonate"], "apiGroups": [group],
                "resources": ["uids", "userextras/scopes"]}  # fmt: skip
        await role(lab, "rest", rest, "jane")
        code, user = await lab.whoami(pair="jane", headers=more)
        assert user == {
            "username": "bob", "uid": "7", "groups": ["dev", AUTHENTICATED],
            "extra": {"scopes": ["read"]},
        }  # fmt: skip
        code, error = await lab.whoami(pair="jane", headers={"Impersonate-Group": "dev"})
        assert code == 400
        account = {"Impersonate-User": "system:serviceaccount:default:default"}
        code, error = await lab.whoami(pair="jane", headers=account)
        assert error["message"].endswith('in API group "" in the namespace "default"')

    access(scenario, tmp_path)


@pytest.mark.parametrize(
    "config, codes",
    [
        ({}, {"/healthz": 200, "/version": 200, "/api": 403}),
        ({"anonymous": False}, {"/healthz": 401, "/version": 401, "/api": 401}),
        ({"anonymous_paths": ("/healthz",)}, {"/healthz": 200, "/version": 401, "/api": 401}),
    ],
)
def test_who_shows_nothing(tmp_path, config, codes):
    async def scenario(lab):
        assert {path: (await lab("GET", path))[0] for path in codes} == codes

    access(scenario, tmp_path, **config)
