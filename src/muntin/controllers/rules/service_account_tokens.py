"""Secrets that hold a ServiceAccount's token: filled in, and removed with their account.

For an API of old also made, one for each account, and listed in it. Source: kubernetes v1.34
pkg/controller/serviceaccount/tokens_controller.go, and v1.23's for what is made unasked.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from muntin.controllers.rules.actions import Action, Create, Delete, Object, Update
from muntin.model import pods
from muntin.model.resources import SECRETS, SERVICE_ACCOUNTS
from muntin.model.service_account_tokens import NAME, TYPE, UID, legacy_claims, token_of

Sign = Callable[[dict[str, str]], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """``sign`` makes a token of claims; ``root_ca`` is PEM. ``automatic``: every account gets a
    Secret, whose name ends in what ``suffix`` gives."""

    sign: Sign
    root_ca: str
    automatic: bool
    suffix: Callable[[], str]


def reconcile(
    account: Object | None, secrets: Sequence[Object], settings: Settings
) -> list[Action]:
    """What to do about one account (None: it is gone) and the Secrets that name it."""
    if account is None:
        return [Delete(resource=SECRETS, obj=secret) for secret in secrets]
    if pods.is_deleting(account):
        return []
    actions: list[Action] = []
    good = []
    for secret in secrets:
        if pods.is_deleting(secret):
            continue
        uid = (secret["metadata"].get("annotations") or {}).get(UID)
        if uid and uid != account["metadata"]["uid"]:
            actions.append(Delete(resource=SECRETS, obj=secret))
            continue
        good.append(secret)
        actions += _filled(secret, account, settings)
    if settings.automatic:
        actions += _listed(account, good, settings)
    return actions


def _filled(secret: Object, account: Object, settings: Settings) -> list[Action]:
    """The Secret with what it lacks."""
    meta, data = secret["metadata"], dict(secret.get("data") or {})
    namespace = meta["namespace"]
    owner = account["metadata"]
    data |= {"ca.crt": _encoded(settings.root_ca), "namespace": _encoded(namespace)}
    if not token_of(secret):
        claims = legacy_claims(namespace, owner["name"], owner["uid"], meta["name"])
        data["token"] = _encoded(settings.sign(claims))
    annotations = {**(meta.get("annotations") or {}), NAME: owner["name"], UID: owner["uid"]}
    if data == (secret.get("data") or {}) and annotations == meta.get("annotations"):
        return []
    obj = {**secret, "metadata": {**meta, "annotations": annotations}, "data": data}
    return [Update(resource=SECRETS, obj=obj)]


def _listed(account: Object, secrets: Sequence[Object], settings: Settings) -> list[Action]:
    """The account lists one Secret of those that are there; one is made if there is none."""
    meta = account["metadata"]
    prefix = f"{meta['name']}-token-"
    own = [name for name in (row["metadata"]["name"] for row in secrets) if name.startswith(prefix)]
    rows = account.get("secrets") or []
    kept = [row for row in rows if not row["name"].startswith(prefix) or row["name"] in own]
    actions: list[Action] = []
    if not any(row["name"] in own for row in kept):
        if own:
            name = own[0]
        else:
            name = prefix + settings.suffix()
            actions.append(Create(resource=SECRETS, obj=_new(name, account, settings)))
        kept = [*kept, {"name": name}]
    if kept != rows:
        actions.append(Update(resource=SERVICE_ACCOUNTS, obj={**account, "secrets": kept}))
    return actions


def _new(name: str, account: Object, settings: Settings) -> Object:
    owner = account["metadata"]
    claims = legacy_claims(owner["namespace"], owner["name"], owner["uid"], name)
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": name,
            "namespace": owner["namespace"],
            "annotations": {NAME: owner["name"], UID: owner["uid"]},
        },
        "type": TYPE,
        "data": {
            "ca.crt": _encoded(settings.root_ca),
            "namespace": _encoded(owner["namespace"]),
            "token": _encoded(settings.sign(claims)),
        },
    }


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
