"""Rules on names: DNS policies, search lists, and names that Windows cannot resolve."""

from __future__ import annotations

import re
from collections.abc import Iterator

from muntin.lint.places import Fix, Path, Place, Put
from muntin.lint.rule import Profiles, Rule, equals, on_pods, remove_unsafe
from muntin.lint.views import Pod, listing, mapping
from muntin.model.windows import Feature

_LABEL = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_END = r"(?=$|[:/?\s\"',;])"
_BEGIN = r"(?<![\w.\-@])"
_PARTLY = re.compile(rf"(?<![\w.\-])({_LABEL}\.{_LABEL}\.svc){_END}")
_KUBERNETES = re.compile(rf"{_BEGIN}(kubernetes\.default){_END}")
_DOMAIN = "cluster.local"


def texts(pod: Pod) -> Iterator[tuple[Path, str]]:
    """The texts that programs of the pod are started with: variables, commands, arguments."""
    for container in pod.containers:
        for index, variable in enumerate(listing(container.data.get("env"))):
            value = mapping(variable).get("value")
            if isinstance(value, str):
                yield (*container.path, "env", index, "value"), value
        for field in ("command", "args"):
            for index, word in enumerate(listing(container.data.get(field))):
                if isinstance(word, str):
                    yield (*container.path, field, index), word


def _partly_qualified(pod: Pod, profiles: Profiles) -> Iterator[Place]:
    """Names of services that lack the cluster's domain: ``web.shop.svc``, ``web.shop``."""
    found = [_PARTLY, _KUBERNETES]
    if pod.object.namespace:
        own = re.escape(pod.object.namespace)
        found.append(re.compile(rf"{_BEGIN}({_LABEL}\.{own}){_END}"))
    for path, value in texts(pod):
        for pattern in found:
            if match := pattern.search(value):
                name = match[1]
                tail = _DOMAIN if name.endswith(".svc") else f"svc.{_DOMAIN}"
                whole = f"{value[: match.end(1)]}.{tail}{value[match.end(1) :]}"
                fix = Fix((Put(path, whole),), safe=False)
                yield Place(path, fix, {"name": name})
                break


def _several_suffixes(pod: Pod, profiles: Profiles) -> Iterator[Place]:
    """A list that makes more than one suffix, with that of the pod's namespace."""
    searches = listing(mapping(pod.spec.get("dnsConfig")).get("searches"))
    own = 0 if pod.spec.get("dnsPolicy") in ("None", "Default") else 1
    if searches and len(searches) + own > 1:
        yield Place(pod.at("spec", "dnsConfig", "searches"))


RULES: dict[Feature, Rule] = {
    Feature.CLUSTER_FIRST_WITH_HOST_NET: on_pods(
        where=equals("ClusterFirstWithHostNet"), fix=remove_unsafe
    ),
    Feature.DNS_SEVERAL_SUFFIXES: on_pods(_several_suffixes),
    Feature.DNS_PARTLY_QUALIFIED_NAMES: on_pods(_partly_qualified),
}
