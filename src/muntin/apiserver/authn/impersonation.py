"""``Impersonate-*`` headers: act as somebody else, where one may (``kubectl --as``).

Every part of the wanted identity is a question of its own to the authorizers. Once the right to be
somebody may be bound to what is done then, several ways are tried, and the oldest last.
Source: apiserver v1.36 pkg/endpoints/filters/impersonation; KEP 5284.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from urllib.parse import unquote

import orjson

from muntin.apiserver import status
from muntin.apiserver.authn.service_account import PREFIX, groups_of
from muntin.apiserver.authz.attributes import Attributes
from muntin.apiserver.authz.rbac import SUPERUSERS
from muntin.apiserver.request import ANONYMOUS, User
from muntin.model import names, validation
from muntin.model.validation.findings import Findings
from muntin.model.validation.labels import domain_prefixed_path

AUTHENTICATED, UNAUTHENTICATED = "system:authenticated", "system:unauthenticated"
GROUP = "authentication.k8s.io"
EXTRA = "impersonate-extra-"
_NODE, _NODES = "system:node:", "system:nodes"
_NODE_NAME = "authentication.kubernetes.io/node-name"
_NODE_KEYS = "authentication.kubernetes.io/associated-node-keys"
_OLDEST = "impersonate"
_MANY = 4  # names that are asked for at once, first


@dataclass(frozen=True, slots=True)
class Check:
    """What must be allowed: ``at_once``, where it is given, or each of ``asked``.

    With ``why``, it never is.
    """

    asked: tuple[Attributes, ...]
    at_once: Attributes | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Way:
    """One way to become ``user``; ``constraint`` is the verb that it takes, none of the oldest."""

    user: User
    checks: tuple[Check, ...]
    constraint: str = ""


def is_asked(headers: Mapping[str, str]) -> bool:
    """Whether any header of impersonation is there."""
    return any(name.startswith("impersonate-") for name in headers)


def wanted(headers: Mapping[str, str], *, constrained: bool) -> User | None:
    """The user that the headers ask for, with no groups but those; None if they ask for nobody.

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
            raise status.bad_request(_nobody(groups, uid, extra, constrained=constrained))
        return None
    return User(name, groups, uid, extra)


def _quoted(text: str) -> str:
    return orjson.dumps(text).decode()


def _nobody(
    groups: tuple[str, ...], uid: str, extra: Mapping[str, tuple[str, ...]], *, constrained: bool
) -> str:
    if not constrained:
        return "requested impersonation of groups, a uid or extra without impersonating a user"
    shown = ", ".join(_quoted(group) for group in groups)
    more = ", ".join(
        f"{_quoted(key)}:[]string{{{', '.join(map(_quoted, values))}}}"
        for key, values in sorted(extra.items())
    )
    return (
        f'requested &user.DefaultInfo{{Name:"", UID:{_quoted(uid)}, '
        f"Groups:[]string{f'{{{shown}}}' if groups else '(nil)'}, "
        f"Extra:map[string][]string{f'{{{more}}}' if extra else '(nil)'}}} "
        "without impersonating a user name"
    )


def ways(user: User, asked: User, doing: Attributes | None) -> Iterator[Way]:
    """How ``user`` may become the user ``asked`` for ``doing``; the first that is allowed counts.

    Without ``doing`` there is but the oldest way: to be somebody for all that they may.
    """
    if doing is not None:
        for mode, fits in _MODES.items():
            if fits(user, asked):
                yield _constrained(mode, user, asked, doing)
    checks = _checks(user, asked, _OLDEST, "", uid_first=doing is not None)
    yield Way(_complete(asked, asked.groups), tuple(checks))


def _constrained(mode: str, user: User, asked: User, doing: Attributes) -> Way:
    """A right to act as somebody, and a right to do this as somebody."""
    verb = f"impersonate:{mode}"
    if mode == "associated-node":  # decided alike for all nodes; that it is its own is certain
        user = replace(user, extra={_NODE_KEYS: tuple(sorted(user.extra))})
    on = replace(doing, user=user, verb=f"impersonate-on:{mode}:{doing.verb}")
    checks = [Check((on,)), *_checks(user, asked, verb, GROUP)]
    if mode == "associated-node":
        any_node = replace(checks[1].asked[0], name="*")
        checks[1] = Check((any_node,))
    groups = asked.groups
    if _node_of(asked.name):
        groups = (_NODES,)
    return Way(_complete(asked, groups), tuple(checks), verb)


def _complete(asked: User, groups: tuple[str, ...]) -> User:
    account = _account_of(asked.name)
    if account and not groups:
        groups = groups_of(account[0])
    return replace(asked, groups=_completed(asked.name, groups))


def _checks(
    user: User, asked: User, verb: str, group: str, *, uid_first: bool = True
) -> Iterator[Check]:
    """What ``user`` must be allowed to be all that is ``asked`` for; ``group`` is that of users."""
    yield Check((_named(user, asked.name, verb, group),))
    uid = Check((Attributes(user, verb, GROUP, "uids", name=asked.uid),))
    if asked.uid and uid_first:
        yield uid
    limited = verb != _OLDEST
    if asked.groups:
        yield from _groups(Attributes(user, verb, group, "groups"), asked.groups, limited=limited)
    if asked.extra:
        yield _extra(user, asked, verb, limited=limited)
    if asked.uid and not uid_first:
        yield uid


def _groups(each: Attributes, groups: tuple[str, ...], *, limited: bool) -> Iterator[Check]:
    if limited and SUPERUSERS in groups:
        why = f"impersonating the {SUPERUSERS} group is not allowed"
        yield Check((replace(each, name=SUPERUSERS),), why=why)
    at_once = replace(each, name="*") if limited and len(groups) >= _MANY else None
    yield Check(tuple(replace(each, name=name) for name in groups), at_once)


def _extra(user: User, asked: User, verb: str, *, limited: bool) -> Check:
    each = Attributes(user, verb, GROUP, "userextras")
    if limited and (why := _wrong_extra(asked.extra)):
        return Check((each,), why=why)
    questions = tuple(
        replace(each, subresource=key, name=value)
        for key, values in asked.extra.items()
        for value in values
    )
    many = limited and len(questions) >= _MANY
    return Check(questions, replace(each, subresource="*", name="*") if many else None)


def _wrong_extra(extra: Mapping[str, tuple[str, ...]]) -> str:
    for key, values in extra.items():
        if not key:
            return "impersonating the empty string key in extra is not allowed"
        found = Findings()
        domain_prefixed_path(key, "extra.key", found)
        if found.causes:
            text = validation.summary(found.causes)
            return f"impersonating an invalid key in extra is not allowed: {text}"
        if "" in values:
            return "impersonating the empty string value in extra is not allowed"
    return ""


def _named(user: User, name: str, verb: str, group: str) -> Attributes:
    if account := _account_of(name):
        return Attributes(user, verb, group, "serviceaccounts", "", *account)
    if group and (node := _node_of(name)):
        return Attributes(user, verb, group, "nodes", name=node)
    return Attributes(user, verb, group, "users", name=name)


def _account_of(name: str) -> tuple[str, str] | None:
    namespace, _, account = name.removeprefix(PREFIX).partition(":")
    if not name.startswith(PREFIX):
        return None
    wrong = names.dns1123_label(namespace) or names.dns1123_subdomain(account)
    return None if wrong else (namespace, account)


def _node_of(name: str) -> str:
    node = name.removeprefix(_NODE)
    return node if node != name and not names.dns1123_subdomain(node) else ""


def _by_name(asked: User) -> bool:
    return not (asked.uid or asked.groups or asked.extra)


def _is_own_node(user: User, asked: User) -> bool:
    node = _node_of(asked.name)
    own = user.extra.get(_NODE_NAME, ())
    return bool(node and _account_of(user.name) and tuple(own) == (node,) and _by_name(asked))


_MODES: Mapping[str, Callable[[User, User], bool]] = {
    "associated-node": _is_own_node,
    "arbitrary-node": lambda _, asked: _by_name(asked) and bool(_node_of(asked.name)),
    "serviceaccount": lambda _, asked: _by_name(asked) and _account_of(asked.name) is not None,
    "user-info": lambda _, asked: not (_node_of(asked.name) or _account_of(asked.name)),
}


def _completed(name: str, groups: tuple[str, ...]) -> tuple[str, ...]:
    """``groups`` with that of all who are, or are not, authenticated."""
    if name == ANONYMOUS.name:
        return groups if UNAUTHENTICATED in groups else (*groups, UNAUTHENTICATED)
    if AUTHENTICATED in groups or UNAUTHENTICATED in groups:
        return groups
    return (*groups, AUTHENTICATED)
