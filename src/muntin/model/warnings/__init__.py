"""What the API warns of in an object although it takes it.

Warnings reach users as Warning headers, which kubectl prints. One file per noun; `of_object` finds
the ones of any kind. Objects of an API of 1.20 are taken without a word, as upstream did.
Source: kubernetes v1.36 pkg/registry (WarningsOnCreate, WarningsOnUpdate of each kind).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from muntin.model.features import ApiFeature, is_in
from muntin.model.gates import Version
from muntin.model.resources import Resource
from muntin.model.warnings import networking, pods, services, storage, workloads

Object = Mapping[str, Any]
Find = Callable[[Object, Object | None, Version], Iterator[str]]


def of_object(
    resource: Resource, new: Object, old: Object | None, api: Version, spec_key: int | None = None
) -> list[str]:
    """The warnings of ``new``, in upstream's order; ``old`` is what it replaces, if anything.

    ``spec_key`` is that of a pod's spec, where it is known already.
    """
    if not is_in(ApiFeature.OBJECT_WARNINGS, api):
        return []
    if spec_key is not None:
        return list(pods.of_pod(new, old, api, spec_key))
    find = _KINDS.get((resource.group, resource.plural))
    return list(find(new, old, api)) if find is not None else []


_NETWORK, _STORAGE = "networking.k8s.io", "storage.k8s.io"
_KINDS: Mapping[tuple[str, str], Find] = {
    ("", "pods"): pods.of_pod,
    ("", "podtemplates"): workloads.of_template,
    ("", "replicationcontrollers"): workloads.of_workload,
    ("apps", "replicasets"): workloads.of_workload,
    ("apps", "deployments"): workloads.of_workload,
    ("apps", "daemonsets"): workloads.of_set,
    ("apps", "statefulsets"): workloads.of_stateful_set,
    ("batch", "jobs"): workloads.of_job,
    ("batch", "cronjobs"): workloads.of_cron_job,
    ("", "services"): services.of_service,
    ("", "endpoints"): networking.of_endpoints,
    ("discovery.k8s.io", "endpointslices"): networking.of_endpoint_slice,
    (_NETWORK, "ingresses"): networking.of_ingress,
    (_NETWORK, "networkpolicies"): networking.of_network_policy,
    ("", "nodes"): networking.of_node,
    ("", "persistentvolumes"): storage.of_volume,
    ("", "persistentvolumeclaims"): storage.of_claim,
    (_STORAGE, "storageclasses"): storage.of_class,
    (_STORAGE, "csistoragecapacities"): storage.of_capacity,
    (_STORAGE, "csidrivers"): storage.of_driver,
    ("node.k8s.io", "runtimeclasses"): workloads.of_runtime_class,
    ("resource.k8s.io", "resourceslices"): storage.of_slice,
    ("", "secrets"): storage.of_secret,
    ("", "serviceaccounts"): workloads.of_account,
}
