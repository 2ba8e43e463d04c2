"""JSON values that are well-formed and not what they should be."""

import contextlib
import json

import pytest
from fuzzing import documents, fuzz

from muntin.hns.dataplane import PaperDataplane
from muntin.hns.host import Host
from muntin.hns.service import Hns
from muntin.hns.store import Store
from muntin.kit.clock import FakeClock
from muntin.kit.errors import Invalid
from muntin.kubelet.credentials import auth_config
from muntin.metrics_server.samples import look_of
from muntin.model import (
    decoding,
    json_patch,
    merge_patch,
    resources,
    schema,
    strategic,
)
from muntin.model.admission import review
from muntin.model.custom import jsonpath
from muntin.model.fields import sets
from muntin.model.resources import PODS
from muntin.model.windows_releases import build_named, profile_of
from muntin.seams.cni import errors as cni_errors
from muntin.seams.cni import result
from muntin.seams.hns.errors import HnsFailure
from muntin.seams.oci import manifest

TYPES = schema.load("1.36")
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "a", "labels": {"b": "c"}, "creationTimestamp": "2024-01-01T00:00:00Z"},
    "spec": {
        "containers": [
            {"name": "c", "image": "i", "ports": [{"containerPort": 80}], "env": [{"name": "A"}],
             "resources": {"limits": {"cpu": "100m"}}}
        ],
        "tolerations": [{"key": "k", "operator": "Exists", "tolerationSeconds": 5}],
        "volumes": [{"name": "v", "configMap": {"name": "m",
                                                "items": [{"key": "a", "path": "b"}]}}],
    },
}  # fmt: skip
PATCH = {
    "metadata": {"labels": {"$patch": "replace", "x": "y"}, "annotations": None},
    "spec": {
        "containers": [{"name": "c", "$patch": "delete"}, {"name": "d", "image": "j"}],
        "$setElementOrder/containers": [{"name": "d"}],
        "$deleteFromPrimitiveList/x": ["a"],
        "$retainKeys": ["containers"],
    },
}
OPERATIONS = [
    {"op": "add", "path": "/metadata/labels/x~1y", "value": {"a": []}},
    {"op": "copy", "from": "/spec", "path": "/spec/containers/-"},
    {"op": "move", "from": "/metadata/labels", "path": "/spec/0"},
    {"op": "test", "path": "/spec/containers/0/name", "value": "c"},
    {"op": "remove", "path": "/spec/containers/0"},
    {"op": "replace", "path": "", "value": {}},
]
NETWORK = {
    "Name": "n", "Type": "L2Bridge", "SchemaVersion": {"Major": 2, "Minor": 0}, "Flags": 0,
    "Ipams": [{"Type": "Static", "Subnets": [{"IpAddressPrefix": "10.244.1.0/24", "Routes": [
        {"NextHop": "10.244.1.2", "DestinationPrefix": "0.0.0.0/0"}]}]}],
}  # fmt: skip
ENDPOINT = {
    "Name": "e", "HostComputeNetwork": "", "SchemaVersion": {"Major": 2, "Minor": 0}, "Flags": 0,
    "IpConfigurations": [{"IpAddress": "10.244.1.9", "PrefixLength": 24}],
    "Dns": {"ServerList": ["10.96.0.10"], "Domain": "a", "Search": ["b"]},
    "MacAddress": "00-15-5D-00-00-01",
    "Policies": [{"Type": "OutBoundNAT", "Settings": {"Exceptions": ["10.0.0.0/8"]}},
                 {"Type": "PortMapping", "Settings": {"Protocol": 6, "ExternalPort": 80,
                                                      "InternalPort": 80, "VIP": "1.2.3.4"}},
                 {"Type": "ACL", "Settings": {"Action": "Allow", "Direction": "In", "Priority": 1,
                                              "Protocols": "6", "LocalPorts": "80-90",
                                              "RemoteAddresses": "10.0.0.0/8,1.1.1.1"}}],
}  # fmt: skip
BALANCER = {
    "HostComputeEndpoints": [], "SourceVIP": "10.244.1.2", "Flags": 0,
    "SchemaVersion": {"Major": 2, "Minor": 0}, "FrontendVIPs": ["10.96.0.1"],
    "PortMappings": [{"Protocol": 6, "InternalPort": 80, "ExternalPort": 80, "Flags": 0,
                      "DistributionType": 1}],
}  # fmt: skip
SUMMARY = {
    "node": {"cpu": {"time": "2024-01-01T00:00:00Z", "usageCoreNanoSeconds": 5},
             "memory": {"workingSetBytes": 7}},
    "pods": [{"podRef": {"name": "a", "namespace": "b"}, "containers": [
        {"name": "c", "cpu": {"time": "2024-01-01T00:00:00Z", "usageCoreNanoSeconds": 1},
         "memory": {"workingSetBytes": 2}}]}],
}  # fmt: skip
RESULT = {
    "cniVersion": "1.0.0", "ips": [{"address": "10.0.0.2/24", "gateway": "10.0.0.1"}],
    "routes": [{"dst": "0.0.0.0/0"}], "dns": {"nameservers": ["1.1.1.1"]},
    "interfaces": [{"name": "e"}],
}  # fmt: skip
FIELDS = {"f:metadata": {"f:labels": {".": {}, "f:a": {}}},
          "f:spec": {"f:containers": {'k:{"name":"c"}': {".": {}, "f:image": {}},
                                      "v:1": {}}}}  # fmt: skip
SECRET = {"auths": {"docker.io": {"username": "a", "password": "b", "auth": "YTpi",
                                  "identitytoken": "t"}}}  # fmt: skip
DIGEST = "sha256:" + "0" * 64
MANIFEST = {
    "mediaType": "m", "config": {"digest": DIGEST, "size": 2, "Env": ["a=b"], "Cmd": ["c"]},
    "layers": [{"digest": DIGEST, "size": 3, "urls": ["u"], "annotations": {"a": "b"}}],
    "manifests": [{"digest": DIGEST, "size": 1, "platform": {
        "os": "windows", "architecture": "amd64", "os.version": "10.0.17763.1"}}],
    "rootfs": {"diff_ids": ["a"]}, "history": [{"created_by": "x", "empty_layer": True}],
}  # fmt: skip
REVIEW = {
    "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
    "response": {"uid": "u", "allowed": True, "patchType": "JSONPatch", "patch": "W10=",
                 "warnings": ["w"], "auditAnnotations": {"a": "b"}, "status": {"code": 400}},
}  # fmt: skip


def decoded(document):
    for resource in (
        PODS,
        resources.known("v1", "Service"),
        resources.known("apps/v1", "Deployment"),
    ):
        try:
            decoding.decode(TYPES, resource, document)
        except decoding.Undecodable:
            continue


def strategic_merge(patch):
    if isinstance(patch, dict):  # what the verb has checked
        strategic.apply(TYPES, TYPES.type_of(PODS), POD, patch)


def operations(patch):
    if isinstance(patch, list) and all(isinstance(row, dict) for row in patch):
        json_patch.apply(POD, patch)


def hns():
    return Hns(
        Host(
            profile=profile_of(build_named("2022")),
            store=Store(None),
            dataplane=PaperDataplane(),
            clock=FakeClock(),
        )
    )


def order(kind, document):
    """One document as a network, endpoint or load balancer, in both versions."""
    service = hns()
    network = service.call("POST", "/v2/networks", "", json.loads(json.dumps(NETWORK)))
    if isinstance(document, dict):  # what the server has checked
        document = {**document}
        if kind == "endpoints" and document.get("HostComputeNetwork") == "":
            document["HostComputeNetwork"] = network["ID"]
        for path in (f"/v2/{kind}", f"/{kind}"):
            try:
                made = service.call("POST", path, "", document)
            except HnsFailure:
                continue
            assert json.dumps(made)


def cni_result(document):
    if isinstance(document, dict):  # what the runner has checked
        result.parse(document)


def summary(document):
    try:
        look_of(document)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
        return  # what `scrape` names a kubelet's answer that is no Summary


def reviewed(document):
    if not review.wrong_form(document, "v1") and isinstance(document, dict):
        review.verdict(document, "v1", "u", mutating=True)


def sets_of(document):
    if isinstance(document, dict):
        sets.parse(document)


def image(document):
    data = json.dumps(document).encode()
    parsed = manifest.parse_document(data)
    manifest.is_index(parsed)
    for parse in (manifest.parse_index, manifest.parse_manifest):
        with contextlib.suppress(Invalid):
            parse(parsed)
    manifest.parse_config(data)


def credentials(document):
    for key in (".dockerconfigjson", ".dockercfg"):
        auth_config({"data": {key: json.dumps(document).encode()}}, "docker.io/library/a:b")


TARGETS = {
    "object": (decoded, documents(POD, {"spec": {"ports": [{"port": 80, "targetPort": "x"}]}})),
    "merge patch": (lambda value: merge_patch.apply(POD, value), documents(PATCH)),
    "strategic merge patch": (strategic_merge, documents(PATCH), Invalid),
    "JSON patch": (operations, documents(OPERATIONS), Invalid),
    "managed fields": (sets_of, documents(FIELDS), Invalid),
    "JSON path": (lambda value: jsonpath.find(
        jsonpath.parse(".spec.containers[?(@.name=='c')].ports[0:2]..containerPort"), value),
        documents(POD)),
    "HNS network": (lambda value: order("networks", value), documents(NETWORK)),
    "HNS endpoint": (lambda value: order("endpoints", value), documents(ENDPOINT)),
    "HNS load balancer": (lambda value: order("loadbalancers", value), documents(BALANCER)),
    "CNI result": (cni_result, documents(RESULT), Invalid),
    "CNI error": (lambda value: cni_errors.parse_error(json.dumps(value).encode(), b"", 1, "p"),
                  documents({"code": 7, "msg": "m", "details": "d"})),
    "kubelet's summary": (summary, documents(SUMMARY)),
    "image": (image, documents(MANIFEST), Invalid),
    "admission review": (reviewed, documents(REVIEW), Invalid),
    "registry credentials": (credentials, documents(SECRET, SECRET["auths"])),
}  # fmt: skip


@pytest.mark.parametrize("name", TARGETS)
def test_documents(name):
    parse, values, *refusals = TARGETS[name]
    fuzz(parse, values, *refusals)
