"""``Impersonate-*`` headers: act as somebody else, where one may (``kubectl --as``).

Source: apiserver v1.34 pkg/endpoints/filters/impersonation.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from muntin.apiserver import status
from muntin.apiserver.authn.service_account import PREFIX, groups_of
from muntin.apiserver.authz.attributes import Attributes
from muntin.apiserver.request import ANONYMOUS, User

AUTHENTICATED = "system:authenticated"


def impersonated(headers: Mapping[str, str]) -> User | None:
    """The user that the headers ask for; None if they ask for nobody.

    Raises:
        ApiError: 400, groups or a uid without a user.
    """
    name = headers.get("impersonate-user", "")
    listed = headers.get("impersonate-group", "")
    groups = tuple(group.strip() for group in listed.split(",") if group.strip())
    uid = headers.get("impersonate-uid", "")
    if not name:
        if groups or uid:
            raise status.bad_request(
                "requested impersonation of groups or a uid without impersonating a user"
            )
        return None
    if not groups and name.startswith(PREFIX):
        groups = groups_of(name.removeprefix(PREFIX).partition(":")[0])
    if name != ANONYMOUS.name and AUTHENTICATED not in groups:
        groups = (*groups, AUTHENTICATED)
    return User(name, groups, uid)


def needed(user: User, wanted: User, headers: Mapping[str, str]) -> Iterator[Attributes]:
    """What ``user`` must be allowed to become ``wanted``."""
    if wanted.name.startswith(PREFIX):
        namespace, _, name = wanted.name.removeprefix(PREFIX).partition(":")
        yield Attributes(user, "impersonate", "", "serviceaccounts", "", namespace, name)
    else:
        yield Attributes(user, "impersonate", "", "users", name=wanted.name)
    if headers.get("impersonate-group"):
        for group in wanted.groups:
            if group != AUTHENTICATED:
                yield Attributes(user, "impersonate", "", "groups", name=group)
    if wanted.uid:
        yield Attributes(user, "impersonate", "authentication.k8s.io", "uids", name=wanted.uid)
