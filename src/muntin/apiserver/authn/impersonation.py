"""``Impersonate-*`` headers: act as somebody else, where one may (``kubectl --as``).

Every part of the wanted identity is a question of its own to the authorizers.
Source: apiserver v1.34 pkg/endpoints/filters/impersonation.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from urllib.parse import unquote

from muntin.apiserver import status
from muntin.apiserver.authn.service_account import PREFIX, groups_of
from muntin.apiserver.authz.attributes import Attributes
from muntin.apiserver.request import ANONYMOUS, User

AUTHENTICATED, UNAUTHENTICATED = "system:authenticated", "system:unauthenticated"
GROUP = "authentication.k8s.io"
EXTRA = "impersonate-extra-"


def is_asked(headers: Mapping[str, str]) -> bool:
    """Whether any header of impersonation is there."""
    return any(name.startswith("impersonate-") for name in headers)


def impersonated(headers: Mapping[str, str]) -> User | None:
    """The user that the headers ask for; None if they ask for nobody.

    Raises:
        ApiError: 400, groups, a uid or extra without a user.
    """
    name = headers.get("impersonate-user", "")
    # The values of repeated headers come joined with ", "; a comma alone is part of a name.
    groups = tuple(group for group in headers.get("impersonate-group", "").split(", ") if group)
    uid = headers.get("impersonate-uid", "")
    extra = {
        unquote(header.removeprefix(EXTRA)).lower(): tuple(value.split(", "))
        for header, value in headers.items()
        if header.startswith(EXTRA)
    }
    if not name:
        if groups or uid or extra:
            raise status.bad_request(
                "requested impersonation of groups, a uid or extra without impersonating a user"
            )
        return None
    if not groups and name.startswith(PREFIX):
        groups = groups_of(name.removeprefix(PREFIX).partition(":")[0])
    return User(name, _completed(name, groups), uid, extra)


def _completed(name: str, groups: tuple[str, ...]) -> tuple[str, ...]:
    """``groups`` with that of all who are, or are not, authenticated."""
    if name == ANONYMOUS.name:
        return groups if UNAUTHENTICATED in groups else (*groups, UNAUTHENTICATED)
    if AUTHENTICATED in groups or UNAUTHENTICATED in groups:
        return groups
    return (*groups, AUTHENTICATED)


def needed(user: User, wanted: User, headers: Mapping[str, str]) -> Iterator[Attributes]:
    """What ``user`` must be allowed to become ``wanted``."""
    account = wanted.name.removeprefix(PREFIX).split(":")
    if wanted.name.startswith(PREFIX) and len(account) == 2:
        yield Attributes(user, "impersonate", "", "serviceaccounts", "", *account)
    else:
        yield Attributes(user, "impersonate", "", "users", name=wanted.name)
    for group in headers.get("impersonate-group", "").split(", "):
        if group:
            yield Attributes(user, "impersonate", "", "groups", name=group)
    if wanted.uid:
        yield Attributes(user, "impersonate", GROUP, "uids", name=wanted.uid)
    for key, values in wanted.extra.items():
        for value in values:
            yield Attributes(user, "impersonate", GROUP, "userextras", key, name=value)
