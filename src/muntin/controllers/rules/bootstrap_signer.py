"""ConfigMap ``cluster-info`` signed with every bootstrap token that may sign.

Who holds a token can so tell the cluster's own information from a forgery before trusting it.
Source: kubernetes v1.34 pkg/controller/bootstrap/bootstrapsigner.go.
"""

from __future__ import annotations

from collections.abc import Iterable

from muntin.controllers.rules.actions import Action, Again, Object, Update
from muntin.kit.jose import detached_hs256
from muntin.model.bootstrap_tokens import BootstrapToken, of_secret
from muntin.model.resources import CONFIG_MAPS

NAMESPACE, NAME = "kube-public", "cluster-info"
SIGNED, PREFIX = "kubeconfig", "jws-kubeconfig-"


def reconcile(config_map: Object, secrets: Iterable[Object], now: float) -> list[Action]:
    """The ConfigMap with the signatures of now, and when one of them is over."""
    data = config_map.get("data") or {}
    content = data.get(SIGNED)
    if content is None:
        return []
    tokens = [token for token in map(of_secret, secrets) if token and _signs(token, now)]
    wanted = {key: value for key, value in data.items() if not key.startswith(PREFIX)}
    for token in tokens:
        key = token.secret.encode()  # its second half alone
        wanted[PREFIX + token.id] = detached_hs256(content.encode(), key, token.id)
    actions: list[Action] = []
    if wanted != data:
        actions.append(Update(resource=CONFIG_MAPS, obj={**config_map, "data": wanted}))
    ends = [token.expires - now for token in tokens if token.expires is not None]
    if ends:
        actions.append(Again(min(ends)))
    return actions


def _signs(token: BootstrapToken, now: float) -> bool:
    return token.signing and not token.is_expired(now)
