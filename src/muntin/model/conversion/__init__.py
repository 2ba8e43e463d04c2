"""Objects from one version of their kind to another: the one place that knows how forms differ.

The API server stores each kind in its newest form and shows it in each version that it serves; a
client asks in the newest form and gets it also from a server that has an older one only. Most
versions of a kind differ in name alone; what differs in more has a row in ``_FORMS``, as a way to
the newest form and a way back. Between two older versions the way leads over the newest one.
Sources: kubernetes v1.20 and v1.34 pkg/apis/*/v*/conversion.go, and each file beside this one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from muntin.model.conversion import (
    autoscaling,
    autoscaling_beta,
    custom_definitions,
    events,
    flowcontrol,
    ingress,
    policy,
    reviews,
    slices,
    workloads,
)
from muntin.model.resources import Resource, storage_version

Object = dict[str, Any]
Form = Callable[[Object], Object]


def is_same(one: Resource, other: Resource) -> bool:
    """Whether both have the same form."""
    return (one.group, one.version) == (other.group, other.version)


def convert(obj: Object, source: Resource, target: Resource) -> Object:
    """``obj``, in the form of ``source``, in that of ``target``; ``obj`` itself is not changed."""
    if is_same(source, target):
        return obj
    newest = storage_version(target)
    result = obj
    if not is_same(source, newest) and (forms := _forms(source)):
        result = forms[0](result)
    if not is_same(target, newest) and (forms := _forms(target)):
        result = forms[1](result)
    return {**result, "apiVersion": target.api_version, "kind": target.kind}


def _forms(resource: Resource) -> tuple[Form, Form] | None:
    return _FORMS.get((resource.api_version, resource.kind))


_HPA, _FLOW = "HorizontalPodAutoscaler", "PriorityLevelConfiguration"
_BETA_FLOW = "flowcontrol.apiserver.k8s.io/v1beta"
# Version and kind: the way to the newest form, and the way from there.
_FORMS: Mapping[tuple[str, str], tuple[Form, Form]] = {
    ("events.k8s.io/v1", "Event"): (events.core_of, events.newer_of),
    ("events.k8s.io/v1beta1", "Event"): (events.core_of, events.newer_of),
    ("apiextensions.k8s.io/v1beta1", "CustomResourceDefinition"): (
        custom_definitions.newer_of,
        custom_definitions.older_of,
    ),
    ("autoscaling/v1", _HPA): (autoscaling.v2_of, autoscaling.v1_of),
    ("autoscaling/v2beta2", _HPA): (
        autoscaling_beta.newer_of_beta2,
        autoscaling_beta.v2beta2_of,
    ),
    ("autoscaling/v2beta1", _HPA): (autoscaling_beta.v2_of, autoscaling_beta.v2beta1_of),
    ("discovery.k8s.io/v1beta1", "EndpointSlice"): (slices.newer_of, slices.older_of),
    ("networking.k8s.io/v1beta1", "Ingress"): (ingress.newer_of, ingress.older_of),
    ("extensions/v1beta1", "Ingress"): (ingress.newer_of, ingress.older_of),
    ("extensions/v1beta1", "Deployment"): (workloads.deployment_of, workloads.older_deployment_of),
    ("apps/v1beta1", "Deployment"): (workloads.deployment_of, workloads.older_deployment_of),
    ("extensions/v1beta1", "DaemonSet"): (workloads.daemon_set_of, workloads.older_daemon_set_of),
    ("policy/v1beta1", "PodDisruptionBudget"): (policy.newer_of, policy.older_of),
    (f"{_BETA_FLOW}1", _FLOW): (flowcontrol.from_assured, flowcontrol.to_assured),
    (f"{_BETA_FLOW}2", _FLOW): (flowcontrol.from_assured, flowcontrol.to_assured),
    (f"{_BETA_FLOW}3", _FLOW): (flowcontrol.from_beta3, flowcontrol.to_beta3),
    ("authorization.k8s.io/v1beta1", "SubjectAccessReview"): (reviews.newer_of, reviews.older_of),
    ("authorization.k8s.io/v1beta1", "LocalSubjectAccessReview"): (
        reviews.newer_of,
        reviews.older_of,
    ),
}
