"""Rows of the core group."""

from __future__ import annotations

from muntin.model.resources.row import (
    ALL_VERBS,
    READ_VERBS,
    SCALE,
    STATUS,
    UPDATE_VERBS,
    Resource,
    Subresource,
    builders,
)

_PROXY_VERBS = ("create", "delete", "get", "patch", "update")
_CONNECT = ("create", "get")
_NAMESPACE_VERBS = tuple(verb for verb in ALL_VERBS if verb != "deletecollection")

_POD_SUBRESOURCES = (
    Subresource("attach", _CONNECT, "PodAttachOptions", "", "v1"),
    Subresource("binding", ("create",), "Binding", "", "v1"),
    Subresource("ephemeralcontainers", UPDATE_VERBS),
    Subresource("eviction", ("create",), "Eviction", "policy", "v1"),
    Subresource("exec", _CONNECT, "PodExecOptions", "", "v1"),
    Subresource("log", ("get",)),
    Subresource("portforward", _CONNECT, "PodPortForwardOptions", "", "v1"),
    Subresource("proxy", _PROXY_VERBS, "PodProxyOptions", "", "v1"),
    Subresource("resize", UPDATE_VERBS),
    STATUS,
)
_TOKEN = Subresource("token", ("create",), "TokenRequest", "authentication.k8s.io", "v1")
_FINALIZE = Subresource("finalize", ("update",))
_NODE_PROXY = Subresource("proxy", _PROXY_VERBS, "NodeProxyOptions", "", "v1")
_SERVICE_PROXY = Subresource("proxy", _PROXY_VERBS, "ServiceProxyOptions", "", "v1")

_ns, _cluster = builders("", "v1")

CORE: tuple[Resource, ...] = (
    _ns("Binding", "bindings", verbs=("create",)),
    _cluster("ComponentStatus", "componentstatuses", "cs", verbs=READ_VERBS),
    _ns("ConfigMap", "configmaps", "cm"),
    _ns("Endpoints", "endpoints", "ep"),
    _ns("Event", "events", "ev"),
    _ns("LimitRange", "limitranges", "limits"),
    _cluster("Namespace", "namespaces", "ns", _FINALIZE, STATUS, verbs=_NAMESPACE_VERBS),
    _cluster("Node", "nodes", "no", _NODE_PROXY, STATUS),
    _ns("PersistentVolumeClaim", "persistentvolumeclaims", "pvc", STATUS),
    _cluster("PersistentVolume", "persistentvolumes", "pv", STATUS),
    _ns("Pod", "pods", "po", *_POD_SUBRESOURCES, categories="all"),
    _ns("PodTemplate", "podtemplates"),
    _ns("ReplicationController", "replicationcontrollers", "rc", SCALE, STATUS, categories="all"),
    _ns("ResourceQuota", "resourcequotas", "quota", STATUS),
    _ns("Secret", "secrets"),
    _ns("ServiceAccount", "serviceaccounts", "sa", _TOKEN),
    _ns("Service", "services", "svc", _SERVICE_PROXY, STATUS, categories="all"),
)
