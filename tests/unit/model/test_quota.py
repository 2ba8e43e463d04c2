"""Resource quotas: what each kind uses, scopes, and the verdict in upstream's words."""

import pytest

from muntin.kit.errors import Forbidden
from muntin.model import quota
from muntin.model.quota import Ask, amounts

NOW = 1_700_000_000.0


def pod(requests=None, limits=None, name="c", **spec):
    resources = {"requests": requests or {}, "limits": limits or {}}
    return {"metadata": {"name": "p"}, "spec": {"containers": [{"name": name, "resources": resources}], **spec}}  # fmt: skip # noqa: E501 - one table


def made(hard, used=None, **spec):
    known = dict.fromkeys(hard, "0") | (used or {})
    status = {"hard": hard, "used": known}
    return {"metadata": {"name": "q"}, "spec": {"hard": hard, **spec}, "status": status}


def usage(resource, obj):
    return amounts.texts(quota.evaluator(resource).usage(obj, NOW))


def judge(found, obj, *, resource="pods", old=None):
    ask = Ask(rules=quota.evaluator(resource), obj=obj, old=old, now=NOW)
    after = quota.check([found], ask)
    return {index: amounts.texts(used) for index, used in after.items()}


def test_pods_use_what_they_ask_for():
    found = pod({"cpu": "1", "memory": "1Gi", "hugepages-2Mi": "4Mi", "example.com/gpu": "2"},
                {"cpu": "2"})  # fmt: skip
    assert usage("pods", found) == {
        "count/pods": "1",
        "pods": "1",
        "cpu": "1",
        "requests.cpu": "1",
        "limits.cpu": "2",
        "memory": "1Gi",
        "requests.memory": "1Gi",
        "hugepages-2Mi": "4Mi",
        "requests.hugepages-2Mi": "4Mi",
        "requests.example.com/gpu": "2",
    }


def test_pods_count_init_containers_sidecars_overhead_and_pod_level():
    big = {"name": "i", "resources": {"requests": {"cpu": "5"}}}
    side = {"name": "s", "restartPolicy": "Always", "resources": {"requests": {"cpu": "2"}}}
    found = pod({"cpu": "1"}, initContainers=[side, big], overhead={"cpu": "500m"})
    assert usage("pods", found)["cpu"] == "7500m"
    found = pod({"cpu": "1"}, resources={"requests": {"cpu": "9"}})
    assert usage("pods", found)["cpu"] == "9"


@pytest.mark.parametrize(
    "change",
    [
        {"status": {"phase": "Succeeded"}},
        {"metadata": {"name": "p", "deletionTimestamp": "2020-01-01T00:00:00Z",
                      "deletionGracePeriodSeconds": 30}},
    ],
)  # fmt: skip
def test_pods_that_have_ended_are_only_counted(change):
    assert usage("pods", {**pod({"cpu": "1"}), **change}) == {"count/pods": "1"}


@pytest.mark.parametrize(
    ("spec", "ports", "balancers"),
    [
        ({"ports": [{}, {}]}, "0", "0"),
        ({"type": "NodePort", "ports": [{}, {}]}, "2", "0"),
        ({"type": "LoadBalancer", "ports": [{}]}, "1", "1"),
        ({"type": "LoadBalancer", "allocateLoadBalancerNodePorts": False, "ports": [{}]}, "0", "1"),
    ],
)
def test_services(spec, ports, balancers):
    assert usage("services", {"metadata": {}, "spec": spec}) == {
        "count/services": "1",
        "services": "1",
        "services.nodeports": ports,
        "services.loadbalancers": balancers,
    }


def test_claims_count_for_their_class_too():
    spec = {"storageClassName": "gold", "resources": {"requests": {"storage": "2Gi"}}}
    given = {"allocatedResources": {"storage": "3Gi"}}
    assert usage("persistentvolumeclaims", {"metadata": {}, "spec": spec, "status": given}) == {
        "count/persistentvolumeclaims": "1",
        "persistentvolumeclaims": "1",
        "requests.storage": "3Gi",
        "gold.storageclass.storage.k8s.io/persistentvolumeclaims": "1",
        "gold.storageclass.storage.k8s.io/requests.storage": "3Gi",
    }


def test_everything_else_is_counted():
    assert usage("secrets", {}) == {"count/secrets": "1", "secrets": "1"}
    assert usage("widgets.example.com", {}) == {"count/widgets.example.com": "1"}
    assert quota.evaluator("events") is None


def test_a_request_that_fits_is_charged():
    found = made({"pods": "2", "requests.cpu": "2"}, {"pods": "1", "requests.cpu": "500m"})
    assert judge(found, pod({"cpu": "1"})) == {0: {"pods": "2", "requests.cpu": "1500m"}}


@pytest.mark.parametrize(
    ("found", "obj", "text"),
    [
        (made({"pods": "1"}, {"pods": "1"}), pod(),
         "exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1"),
        (made({"cpu": "2", "memory": "1Gi", "pods": "9"}, {"cpu": "1500m"}),
         pod({"cpu": "1", "memory": "2Gi"}),
         "exceeded quota: q, requested: cpu=1,memory=2Gi, used: cpu=1500m,memory=0, limited: "
         "cpu=2,memory=1Gi"),
        (made({"limits.cpu": "2", "limits.memory": "1Gi"}), pod({"cpu": "1"}),
         "failed quota: q: must specify limits.cpu for: c; limits.memory for: c"),
        ({**made({"pods": "1"}), "status": {"hard": {"pods": "1"}, "used": {}}}, pod(),
         "status unknown for quota: q, resources: pods"),
    ],
)  # fmt: skip
def test_refusals(found, obj, text):
    with pytest.raises(Forbidden) as caught:
        judge(found, obj)
    assert caught.value.message == text


def test_a_quota_without_status_limits_nothing_yet():
    assert judge({"metadata": {"name": "q"}, "spec": {"hard": {"pods": "1"}}}, pod()) == {}


def test_what_a_quota_does_not_name_is_free():
    assert judge(made({"requests.example.com/gpu": "1"}), pod({"cpu": "1"})) == {}
    assert judge(made({"services": "1"}), pod()) == {}


def test_updates_are_charged_for_the_difference():
    def service(kind):
        return {"metadata": {}, "spec": {"type": kind, "ports": [{}]}}

    found = made({"services": "1", "services.nodeports": "1"}, {"services": "1"})
    after = judge(found, service("NodePort"), resource="services", old=service("ClusterIP"))
    assert after == {0: {"services": "1", "services.nodeports": "1"}}
    back = judge(found, service("ClusterIP"), resource="services", old=service("NodePort"))
    assert back == {}


AFFINE = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
    {"topologyKey": "k", "namespaces": ["other"]}]}}  # fmt: skip


def named(scope, operator="Exists", *values):
    row = {"scopeName": scope, "operator": operator, "values": [*values]}
    return {"scopeSelector": {"matchExpressions": [row]}}


@pytest.mark.parametrize(
    ("scope", "inside", "outside"),
    [
        ({"scopes": ["Terminating"]}, pod(activeDeadlineSeconds=5), pod()),
        ({"scopes": ["NotTerminating"]}, pod(), pod(activeDeadlineSeconds=5)),
        ({"scopes": ["BestEffort"]}, pod(), pod({"cpu": "1"})),
        ({"scopes": ["NotBestEffort"]}, pod({"cpu": "1"}), pod()),
        (named("PriorityClass"), pod(priorityClassName="high"), pod()),
        (named("PriorityClass", "DoesNotExist"), pod(), pod(priorityClassName="high")),
        (named("PriorityClass", "In", "high"), pod(priorityClassName="high"),
         pod(priorityClassName="low")),
        (named("PriorityClass", "NotIn", "high"), pod(priorityClassName="low"),
         pod(priorityClassName="high")),
        ({"scopes": ["CrossNamespacePodAffinity"]}, pod(affinity=AFFINE), pod()),
        ({"scopes": ["NotBestEffort"], **named("PriorityClass", "In", "high")},
         pod({"cpu": "1"}, priorityClassName="high"), pod(priorityClassName="high")),
    ],
)  # fmt: skip
def test_scopes(scope, inside, outside):
    found = made({"pods": "5"}, **scope)
    assert judge(found, inside) == {0: {"pods": "1"}}
    assert judge(found, outside) == {}


def test_claims_have_a_scope_of_their_own():
    def claim(name):
        return {"metadata": {}, "spec": {"volumeAttributesClassName": name}}

    found = made({"persistentvolumeclaims": "5"}, **named("VolumeAttributesClass", "In", "fast"))
    resource = "persistentvolumeclaims"
    assert judge(found, claim("fast"), resource=resource) == {0: {resource: "1"}}
    assert judge(found, claim("slow"), resource=resource) == {}


def test_a_namespace_is_added_up_by_what_the_quota_names():
    hard = {"pods": "9", "requests.cpu": "9", "count/widgets.example.com": "3", "secrets": "3"}
    found = {"metadata": {"name": "q"}, "spec": {"hard": hard}}
    assert quota.counted(hard) == {"pods", "widgets.example.com", "secrets"}
    rows = {
        "pods": [pod({"cpu": "1"}), pod({"cpu": "250m"}), {**pod(), "status": {"phase": "Failed"}}],
        "widgets.example.com": [{}, {}],
        "secrets": [],
    }
    assert amounts.texts(quota.used(found, rows, NOW)) == {
        "pods": "2",
        "requests.cpu": "1250m",
        "count/widgets.example.com": "2",
        "secrets": "0",
    }


def test_negative_usage_is_refused():
    with pytest.raises(Forbidden, match="quota usage is negative for resource"):
        judge(made({"cpu": "1"}), pod({"cpu": "-1"}))
