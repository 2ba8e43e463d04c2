"""Answers to the authorization checks of expressions.

They are made while an expression is evaluated, which waits for nobody: whoever evaluates it does so
through `Authorizer.settled`, which asks a webhook and evaluates it anew.
"""

from __future__ import annotations

from muntin.apiserver.authn.service_account import groups_of, user_name
from muntin.apiserver.authz import Attributes, Authorizer
from muntin.apiserver.request import User
from muntin.model.cel.library.authorizer import Answer, Decide, Question


def decider(authorizer: Authorizer, user: User) -> Decide:
    """What answers in the name of ``user``, or of the service account that is asked for."""

    def decide(asked: Question) -> Answer:
        who = user
        if asked.service_account is not None:
            namespace, name = asked.service_account
            who = User(user_name(namespace, name), groups_of(namespace))
        if asked.path:
            found = authorizer.decide(Attributes(who, asked.verb, path=asked.path))
        else:
            found = authorizer.decide(
                Attributes(
                    who, asked.verb, asked.group, asked.resource, asked.subresource,
                    asked.namespace, asked.name,
                )
            )  # fmt: skip
        return Answer(found.allowed, found.reason)

    return decide
