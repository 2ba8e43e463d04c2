"""Sums of ClusterRoles, Secrets with tokens, tokens that join: decided from snapshots."""

import base64
import hashlib
import hmac
import json

import pytest

from muntin.controllers.rules import (
    bootstrap_signer,
    cluster_role_aggregation,
    service_account_tokens,
    token_cleaner,
)
from muntin.controllers.rules.actions import Again, Create, Delete, Update

NOW = 1_800_000_000.0


def b64(text):
    return base64.b64encode(text.encode()).decode()


# -- aggregation ------------------------------------------------------------------------------


def role(name, rules=(), labels=None, picks=None):
    found = {"metadata": {"name": name, "labels": labels or {}}, "rules": list(rules)}
    if picks:
        found["aggregationRule"] = {"clusterRoleSelectors": [{"matchLabels": picks}]}
    return found


def test_a_sum_holds_the_rules_of_what_it_picks_by_name_and_once():
    get = {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}
    put = {"verbs": ["put"], "apiGroups": [""], "resources": ["pods"]}
    total = role("view", picks={"to": "view"})
    roles = [
        role("b", [put, get], {"to": "view"}),
        role("a", [get], {"to": "view"}),
        role("c", [{"verbs": ["*"]}], {"to": "edit"}),
        total,
    ]
    (update,) = cluster_role_aggregation.reconcile(total, roles)
    assert update.obj["rules"] == [get, put]
    assert cluster_role_aggregation.reconcile(update.obj, roles) == []
    assert cluster_role_aggregation.reconcile(roles[0], roles) == []


# -- Secrets with tokens ----------------------------------------------------------------------


def account(**more):
    return {"metadata": {"name": "sa", "namespace": "ns", "uid": "u1"}, **more}


def secret(name="mine", annotations=None, data=None):
    found = {
        "metadata": {
            "name": name,
            "namespace": "ns",
            "annotations": annotations or {"kubernetes.io/service-account.name": "sa"},
        },
        "type": "kubernetes.io/service-account-token",
    }
    return {**found, "data": data} if data else found


def settings(automatic=False):
    return service_account_tokens.Settings(
        sign=lambda claims: json.dumps(claims),
        root_ca="CA",
        automatic=automatic,
        suffix=lambda: "abcde",
    )


def test_a_secret_that_names_an_account_is_filled_in():
    (update,) = service_account_tokens.reconcile(account(), [secret()], settings())
    assert isinstance(update, Update)
    assert update.obj["metadata"]["annotations"]["kubernetes.io/service-account.uid"] == "u1"
    data = update.obj["data"]
    assert (data["ca.crt"], data["namespace"]) == (b64("CA"), b64("ns"))
    claims = json.loads(base64.b64decode(data["token"]))
    assert claims["sub"] == "system:serviceaccount:ns:sa"
    assert claims["kubernetes.io/serviceaccount/secret.name"] == "mine"
    assert service_account_tokens.reconcile(account(), [update.obj], settings()) == []


@pytest.mark.parametrize("owner", [None, {"metadata": {**account()["metadata"], "uid": "u2"}}])
def test_a_secret_goes_with_its_account(owner):
    uid = {"kubernetes.io/service-account.uid": "u1", "kubernetes.io/service-account.name": "sa"}
    (delete,) = service_account_tokens.reconcile(owner, [secret(annotations=uid)], settings())
    assert isinstance(delete, Delete)


def test_an_account_of_old_gets_a_secret_and_lists_it():
    made = service_account_tokens.reconcile(account(), [], settings(automatic=True))
    create, update = made
    assert isinstance(create, Create)
    assert create.obj["metadata"]["name"] == "sa-token-abcde"
    assert update.obj["secrets"] == [{"name": "sa-token-abcde"}]
    listed = account(secrets=[{"name": "sa-token-abcde"}, {"name": "docker"}])
    assert service_account_tokens.reconcile(listed, [create.obj], settings(True)) == []
    again = service_account_tokens.reconcile(listed, [], settings(True))
    assert again[-1].obj["secrets"] == [{"name": "docker"}, {"name": "sa-token-abcde"}]
    (only,) = service_account_tokens.reconcile(account(), [create.obj], settings(True))
    assert only.obj["secrets"] == [{"name": "sa-token-abcde"}]


# -- bootstrap tokens -------------------------------------------------------------------------


def token(identifier="abcdef", **data):
    data = {"token-id": identifier, "token-secret": "0123456789abcdef", **data}
    return {
        "metadata": {"name": f"bootstrap-token-{identifier}", "namespace": "kube-system"},
        "type": "bootstrap.kubernetes.io/token",
        "data": {key: b64(value) for key, value in data.items()},
    }


def test_tokens_that_are_over_are_removed():
    assert token_cleaner.reconcile(token(), NOW) == []
    (again,) = token_cleaner.reconcile(token(expiration="2027-01-15T09:00:00Z"), NOW)
    assert again == Again(3600.0)
    (delete,) = token_cleaner.reconcile(token(expiration="2027-01-15T07:59:59Z"), NOW)
    assert isinstance(delete, Delete)


def test_cluster_info_is_signed_with_each_token_that_may():
    signing = {"usage-bootstrap-signing": "true"}
    tokens = [
        token(**signing),
        token("fedcba", **signing, expiration="2027-01-15T08:10:00Z"),
        token("ababab"),
        token("cdcdcd", **signing, expiration="2026-01-01T00:00:00Z"),
    ]
    info = {"data": {"kubeconfig": "kind: Config\n", "jws-kubeconfig-gone00": "old"}}
    update, again = bootstrap_signer.reconcile(info, tokens, NOW)
    data = update.obj["data"]
    assert sorted(data) == ["jws-kubeconfig-abcdef", "jws-kubeconfig-fedcba", "kubeconfig"]
    assert again == Again(600.0)
    header, middle, signature = data["jws-kubeconfig-abcdef"].split(".")
    assert middle == ""
    payload = base64.urlsafe_b64encode(b"kind: Config\n").decode().rstrip("=")
    right = hmac.digest(b"0123456789abcdef", f"{header}.{payload}".encode(), hashlib.sha256)
    assert signature == base64.urlsafe_b64encode(right).decode().rstrip("=")
    decoded = json.loads(base64.urlsafe_b64decode(header + "=="))
    assert decoded == {"alg": "HS256", "kid": "abcdef"}
    assert bootstrap_signer.reconcile(update.obj, tokens, NOW) == [again]


def test_a_signature_is_that_of_upstreams_signer():
    """Recorded from kube-controller-manager 1.36."""
    info = {"data": {"kubeconfig": "apiVersion: v1\nkind: Config\nclusters: []\n"}}
    tokens = [token("aaaaaa", **{"usage-bootstrap-signing": "true"})]
    (update,) = bootstrap_signer.reconcile(info, tokens, NOW)
    assert update.obj["data"]["jws-kubeconfig-aaaaaa"] == (
        "eyJhbGciOiJIUzI1NiIsImtpZCI6ImFhYWFhYSJ9..1O3D49foXI2WieiWQgpnPmzDH4UicPOvRr-aMM-6LLk"
    )
