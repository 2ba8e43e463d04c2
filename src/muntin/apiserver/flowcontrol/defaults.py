"""The FlowSchemas and PriorityLevelConfigurations that every cluster has from the start.

Two of each are mandatory, the others are suggestions that a user may change. They are here in the
form that is stored. Source: apiserver v0.20.0 and v0.25.0 to v0.36.0
pkg/apis/flowcontrol/bootstrap/default.go (the values are its).
"""

from __future__ import annotations

from typing import Any

from muntin.model.features import ApiFeature, is_in
from muntin.model.gates import Version

Object = dict[str, Any]

AUTO_UPDATE = "apf.kubernetes.io/autoupdate-spec"
MANDATORY = frozenset({"exempt", "catch-all"})

_EVERYBODY = ("system:unauthenticated", "system:authenticated")
_ELECTION_VERBS = ["get", "create", "update"]


def priority_levels(version: Version) -> list[Object]:
    """All levels of an API of ``version``, the mandatory ones first."""
    exempt: Object = {"type": "Exempt"}
    if is_in(ApiFeature.EXEMPT_SHARES, version):
        exempt["exempt"] = {"nominalConcurrencyShares": 0, "lendablePercent": 0}
    rows = [
        _level("exempt", exempt),
        _limited("catch-all", 5, 0, {"type": "Reject"}),
        _limited("system", 30, 33, _queue(64, 6)),
        _limited("node-high", 40, 25, _queue(64, 6)),
        _limited("leader-election", 10, 0, _queue(16, 4)),
        _limited("workload-high", 40, 50, _queue(128, 6)),
        _limited("workload-low", 100, 90, _queue(128, 6)),
        _limited("global-default", 20, 50, _queue(128, 6)),
    ]
    if not is_in(ApiFeature.LENT_SEATS, version):
        for row in rows[1:]:
            del row["spec"]["limited"]["lendablePercent"]
    return rows if _is_recent(version) else _plain(rows, but={"node-high"})


def flow_schemas(version: Version) -> list[Object]:
    """All schemas of an API of ``version``, in order of their precedence."""
    controllers = _users("system:kube-controller-manager")
    scheduler = _users("system:kube-scheduler")
    system_accounts = _accounts("*")
    nodes = _groups("system:nodes")
    rows = [
        _schema("exempt", "exempt", 1, "", _everything(_groups("system:masters"))),
        _schema("probes", "exempt", 2, "", {
            "subjects": _groups(*_EVERYBODY),
            "nonResourceRules": [
                {"verbs": ["get"], "nonResourceURLs": ["/healthz", "/readyz", "/livez"]}
            ],
        }),
        *_elections(version, [*controllers, *scheduler, *system_accounts]),
        _schema("system-node-high", "node-high", 400, "ByUser", {
            "subjects": nodes,
            "resourceRules": [
                _resources(["*"], "", ["nodes", "nodes/status"], cluster=True),
                _leases(["*"]),
            ],
        }),
        _schema("system-nodes", "system", 500, "ByUser", _everything(nodes)),
        _schema("kube-controller-manager", "workload-high", 800, "ByNamespace",
                _everything(controllers)),
        _schema("kube-scheduler", "workload-high", 800, "ByNamespace", _everything(scheduler)),
        _schema("kube-system-service-accounts", "workload-high", 900, "ByNamespace",
                _everything(system_accounts)),
        _schema("service-accounts", "workload-low", 9000, "ByUser",
                _everything(_groups("system:serviceaccounts"))),
        _schema("global-default", "global-default", 9900, "ByUser",
                _everything(_groups(*_EVERYBODY))),
        _schema("catch-all", "catch-all", 10000, "ByUser", _everything(_groups(*_EVERYBODY))),
    ]  # fmt: skip
    new = {"probes", "system-node-high", "endpoint-controller"}
    return rows if _is_recent(version) else _plain(rows, but=new)


def _elections(version: Version, components: list[Object]) -> list[Object]:
    """Who elects a leader, over Leases and what had been used before them."""
    leases = _leases(_ELECTION_VERBS)
    rules = [leases]
    if not _is_recent(version):
        old = _resources(_ELECTION_VERBS, "", ["endpoints", "configmaps"], cluster=False)
        rules = [{**old, "namespaces": ["kube-system"]}, leases]
    found = [
        _schema("system-leader-election", "leader-election", 100, "ByUser",
                {"subjects": components, "resourceRules": rules})
    ]  # fmt: skip
    if is_in(ApiFeature.LEASES_ALONE_ELECT, version):
        return found
    controllers = [
        *_users("system:kube-controller-manager"),
        *_accounts("endpoint-controller", "endpointslicemirroring-controller"),
    ]
    endpoints = _resources(_ELECTION_VERBS, "", ["endpoints"], cluster=False)
    both = _resources(_ELECTION_VERBS, "", ["endpoints", "configmaps"], cluster=False)
    return [
        *found,
        _schema("endpoint-controller", "workload-high", 150, "ByUser",
                {"subjects": controllers, "resourceRules": [endpoints]}),
        _schema("workload-leader-election", "leader-election", 200, "ByUser",
                {"subjects": _accounts("*"), "resourceRules": [both, leases]}),
    ]  # fmt: skip


def are_kept_up(version: Version) -> bool:
    """Whether suggestions are brought back and up to date, and not only made with a new store."""
    return _is_recent(version)


def _is_recent(version: Version) -> bool:
    return is_in(ApiFeature.TODAYS_DEFAULTS, version)


def _plain(rows: list[Object], *, but: set[str]) -> list[Object]:
    """The rows without ``but`` some, and without the annotation that came later."""
    kept = [row for row in rows if row["metadata"]["name"] not in but]
    return [{**row, "metadata": {"name": row["metadata"]["name"]}} for row in kept]


def _level(name: str, spec: Object) -> Object:
    return {"metadata": {"name": name, "annotations": {AUTO_UPDATE: "true"}}, "spec": spec}


def _limited(name: str, shares: int, lendable: int, response: Object) -> Object:
    limited = {
        "nominalConcurrencyShares": shares,
        "lendablePercent": lendable,
        "limitResponse": response,
    }
    return _level(name, {"type": "Limited", "limited": limited})


def _queue(queues: int, hand: int) -> Object:
    queuing = {"queues": queues, "handSize": hand, "queueLengthLimit": 50}
    return {"type": "Queue", "queuing": queuing}


def _schema(name: str, level: str, precedence: int, method: str, rules: Object) -> Object:
    spec: Object = {
        "priorityLevelConfiguration": {"name": level},
        "matchingPrecedence": precedence,
    }
    if method:
        spec["distinguisherMethod"] = {"type": method}
    return _level(name, {**spec, "rules": [rules]})


def _groups(*names: str) -> list[Object]:
    return [{"kind": "Group", "group": {"name": name}} for name in names]


def _users(*names: str) -> list[Object]:
    return [{"kind": "User", "user": {"name": name}} for name in names]


def _accounts(*names: str) -> list[Object]:
    return [
        {"kind": "ServiceAccount", "serviceAccount": {"name": name, "namespace": "kube-system"}}
        for name in names
    ]


def _leases(verbs: list[str]) -> Object:
    return _resources(verbs, "coordination.k8s.io", ["leases"], cluster=False)


def _resources(verbs: list[str], group: str, resources: list[str], *, cluster: bool) -> Object:
    rule: Object = {"verbs": verbs, "apiGroups": [group], "resources": resources}
    if cluster:
        rule["clusterScope"] = True
    return {**rule, "namespaces": ["*"]}


def _everything(subjects: list[Object]) -> Object:
    return {
        "subjects": subjects,
        "resourceRules": [_resources(["*"], "*", ["*"], cluster=True)],
        "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
    }
