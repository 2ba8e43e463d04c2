"""Bootstrap tokens that are over are removed.

Source: kubernetes v1.34 pkg/controller/bootstrap/tokencleaner.go.
"""

from __future__ import annotations

from muntin.controllers.rules.actions import Action, Again, Delete, Object
from muntin.model.bootstrap_tokens import of_secret
from muntin.model.resources import SECRETS


def reconcile(secret: Object, now: float) -> list[Action]:
    """The deletion of the Secret, or when to look at it again."""
    token = of_secret(secret)
    if token is None or token.expires is None:
        return []
    if token.is_expired(now):
        return [Delete(resource=SECRETS, obj=secret)]
    return [Again(token.expires - now)]
