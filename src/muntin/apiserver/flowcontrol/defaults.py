"""The FlowSchemas and PriorityLevelConfigurations that every cluster has from the start.

Two of each are mandatory, the others are suggestions that a user may change.
Source: apiserver v1.34 pkg/apis/flowcontrol/bootstrap/default.go (the values are its).
"""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]

AUTO_UPDATE = "apf.kubernetes.io/autoupdate-spec"
MANDATORY = frozenset({"exempt", "catch-all"})

_EVERYBODY = ("system:unauthenticated", "system:authenticated")


def priority_levels() -> list[Object]:
    """All levels, the mandatory ones first."""
    return [
        _level("exempt", {
            "type": "Exempt", "exempt": {"nominalConcurrencyShares": 0, "lendablePercent": 0}
        }),
        _level("catch-all", {
            "type": "Limited",
            "limited": {
                "nominalConcurrencyShares": 5,
                "lendablePercent": 0,
                "limitResponse": {"type": "Reject"},
            },
        }),
        _queued("system", 30, 33, 64, 6),
        _queued("node-high", 40, 25, 64, 6),
        _queued("leader-election", 10, 0, 16, 4),
        _queued("workload-high", 40, 50, 128, 6),
        _queued("workload-low", 100, 90, 128, 6),
        _queued("global-default", 20, 50, 128, 6),
    ]  # fmt: skip


def flow_schemas() -> list[Object]:
    """All schemas, in order of their precedence."""
    controllers = _users("system:kube-controller-manager")
    scheduler = _users("system:kube-scheduler")
    system_accounts = [
        {"kind": "ServiceAccount", "serviceAccount": {"name": "*", "namespace": "kube-system"}}
    ]
    nodes = _groups("system:nodes")
    leases = _resources(["*"], "coordination.k8s.io", ["leases"], cluster=False)
    return [
        _schema("exempt", "exempt", 1, "", _everything(_groups("system:masters"))),
        _schema("probes", "exempt", 2, "", {
            "subjects": _groups(*_EVERYBODY),
            "nonResourceRules": [
                {"verbs": ["get"], "nonResourceURLs": ["/healthz", "/readyz", "/livez"]}
            ],
        }),
        _schema("system-leader-election", "leader-election", 100, "ByUser", {
            "subjects": [*controllers, *scheduler, *system_accounts],
            "resourceRules": [{**leases, "verbs": ["get", "create", "update"]}],
        }),
        _schema("system-node-high", "node-high", 400, "ByUser", {
            "subjects": nodes,
            "resourceRules": [
                _resources(["*"], "", ["nodes", "nodes/status"], cluster=True), leases
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


def _level(name: str, spec: Object) -> Object:
    return {"metadata": {"name": name, "annotations": {AUTO_UPDATE: "true"}}, "spec": spec}


def _queued(name: str, shares: int, lendable: int, queues: int, hand: int) -> Object:
    queuing = {"queues": queues, "handSize": hand, "queueLengthLimit": 50}
    limited = {
        "nominalConcurrencyShares": shares,
        "lendablePercent": lendable,
        "limitResponse": {"type": "Queue", "queuing": queuing},
    }
    return _level(name, {"type": "Limited", "limited": limited})


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
