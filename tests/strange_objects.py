"""Valid but strange objects of every stored kind: what readers of the API must be able to bear.

From one plain object of a kind, `variants` makes many, each with one field that is left out, null
inside, empty, huge, negative or at the end of its range. The API server's own validation decides
which of them can be stored; those are what controllers, scheduler, proxies and kubelets meet.
"""

import copy
import itertools
import random
from pathlib import Path

import yaml

from muntin.model import resources
from muntin.model.schema import INT_OR_STRING, MICRO_TIME, QUANTITY, TIME

FILE = Path(__file__).parent / "seam/apiserver/one_of_each.yaml"
DEPTH = 5
HUGE = "x" * 5000
STRANGE = {
    "s": ["", "²", HUGE, "-1", "9" * 30, "a/b", "a b"],
    "t": ["", "²"],
    "i": [0, -1, 1, 2**31 - 1, -(2**31)],
    "i32": [0, -1, 1, 2**31 - 1, -(2**31)],
    "i64": [0, -1, 1, 2**63 - 1, -(2**63), 10**12],
    "n": [0, -1, 1e308],
    "n64": [0, -1, 1e308],
    "b": [True, False],
    "y": ["", "eA=="],
    "o": [{}],
    "*": [{}, [], 0, ""],
    TIME: ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"],
    MICRO_TIME: ["0001-01-01T00:00:00.000000Z", "9999-12-31T23:59:59.999999Z"],
    QUANTITY: ["0", "-1", "1n", "1e18", "9" * 40],
    INT_OR_STRING: [0, -1, 2**31 - 1, "", "0%", "100%", "9999999999%", "x"],
}
# A large number here asks for as many pods, which is work and not a strange object.
COUNTS = {"replicas", "parallelism", "completions", "minReplicas", "maxReplicas", "backoffLimit"}
ANNOTATIONS = [
    "batch.kubernetes.io/job-completion-index",
    "batch.kubernetes.io/job-index-failure-count",
    "controller.kubernetes.io/pod-deletion-cost",
    "deployment.kubernetes.io/desired-replicas",
    "deployment.kubernetes.io/max-replicas",
    "deployment.kubernetes.io/revision",
    "deployment.kubernetes.io/revision-history",
    "deprecated.daemonset.template.generation",
    "endpoints.kubernetes.io/last-change-trigger-time",
    "endpoints.kubernetes.io/over-capacity",
    "pv.kubernetes.io/bind-completed",
    "pv.kubernetes.io/provisioned-by",
    "rbac.authorization.kubernetes.io/autoupdate",
    "service.kubernetes.io/topology-mode",
    "volume.beta.kubernetes.io/storage-class",
    "volume.kubernetes.io/selected-node",
    "volume.kubernetes.io/storage-provisioner",
]
LABELS = [
    "app",
    "apps.kubernetes.io/pod-index",
    "batch.kubernetes.io/controller-uid",
    "batch.kubernetes.io/job-name",
    "controller-revision-hash",
    "endpointslice.kubernetes.io/managed-by",
    "kubernetes.io/hostname",
    "kubernetes.io/os",
    "kubernetes.io/service-name",
    "pod-template-generation",
    "pod-template-hash",
    "statefulset.kubernetes.io/pod-name",
    "topology.kubernetes.io/zone",
]
OWNERS = [
    {"apiVersion": "v1", "kind": "Node", "name": "n1", "uid": "1", "controller": True},
    {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "²", "uid": "²", "controller": True},
    {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web", "uid": "2"},
    {"apiVersion": "x.y/v1", "kind": "Nothing", "name": "x", "uid": "3", "controller": True},
    {"apiVersion": "batch/v1", "kind": "Job", "name": "x", "uid": "", "controller": False},
]


def plain_objects():
    """One object of every kind that is stored, in its newest form."""
    for document in yaml.safe_load_all(FILE.read_text()):
        if document:
            yield resources.known(document["apiVersion"], document["kind"]), document


def paths(schema, type_, depth=DEPTH, skip=()):
    """Every field of ``type_`` as its path and shape; lists and maps are entered at one member."""
    for name, shape in type_.fields.items():
        if name in skip:
            continue
        yield (name,), shape
        inner, step = shape, (name,)
        while inner is not None and inner.code in "[{":
            step = (*step, 0 if inner.code == "[" else "k")
            inner = inner.items
        if inner is None or inner.code != "@" or inner.ref in STRANGE or depth <= 1:
            continue
        for rest, found in paths(schema, schema.type(inner.ref), depth - 1):
            yield (*step, *rest), found


def values(shape, name):
    """Strange values of a field."""
    if name in COUNTS:
        return [0]
    if shape.code == "[":
        return [[], [None], [None, None]]
    if shape.code == "{":
        return [{}, {"": ""}, {"k": None}]
    if shape.code == "@":
        return STRANGE.get(shape.ref, [{}, None])
    return STRANGE.get(shape.code, [])


def put(obj, path, value):
    """A copy of ``obj`` with ``value`` at ``path``; what is missing on the way is made."""
    changed = copy.deepcopy(obj)
    at = changed
    for step, following in itertools.pairwise(path):
        made = [] if following == 0 else {}
        if step == 0:
            if not at:
                at.append(made)
            at = at[0]
        else:
            if not isinstance(at.get(step), type(made)):
                at[step] = made
            at = at[step]
    if path[-1] == 0:
        at[:1] = [value]
    else:
        at[path[-1]] = value
    return changed


def without(obj, path):
    """A copy of ``obj`` without the field at ``path``; None where it has none."""
    changed = copy.deepcopy(obj)
    at = changed
    for step in path[:-1]:
        try:
            at = at[step]
        except (KeyError, IndexError, TypeError):
            return None
    if not isinstance(at, dict) or path[-1] not in at:
        return None
    del at[path[-1]]
    return changed


def variants(schema, resource, plain, *, most=None, seed=0):
    """Strange forms of ``plain``, with what is strange about each; at most so many, by ``seed``."""
    cases = [*_fields(schema, resource, plain), *_metadata(plain)]
    if most is not None and len(cases) > most:
        cases = random.Random(f"{seed}{resource.plural}").sample(cases, most)
    return cases


def _fields(schema, resource, plain):
    skip = ("apiVersion", "kind", "metadata", "status")
    for path, shape in paths(schema, schema.type_of(resource), skip=skip):
        if (shorter := without(plain, path)) is not None:
            yield f"no {path}", shorter
        for value in values(shape, path[-1]):
            yield f"{path} = {str(value)[:40]}", put(plain, path, value)


def statuses(schema, resource, *, most=None, seed=0):
    """Strange statuses of a kind, with what is strange about each."""
    shape = schema.type_of(resource).fields.get("status")
    if shape is None or shape.code != "@":
        return []
    type_ = schema.type(shape.ref)
    cases = [("{}", {})]
    every = list(paths(schema, type_))
    for path, field in every:
        cases += [
            (f"{path} = {str(value)[:40]}", put({}, path, value))
            for value in values(field, path[-1])
        ]
    if most is not None and len(cases) > most:
        cases = random.Random(f"{seed}{resource.plural}").sample(cases, most)
    return cases


def _metadata(plain):
    for name in ANNOTATIONS:
        for value in ("", "²", "-1", "9" * 30, "x" * 300, "0"):
            yield (
                f"annotation {name} = {value[:10]}",
                put(plain, ("metadata", "annotations", name), value),
            )
    for name in LABELS:
        for value in ("", "x", "9" * 30, "0"):
            yield f"label {name} = {value[:10]}", put(plain, ("metadata", "labels", name), value)
    for owner in OWNERS:
        yield f"owner {owner}", put(plain, ("metadata", "ownerReferences"), [owner])
    for key in ("labels", "annotations", "ownerReferences", "finalizers", "managedFields"):
        for value in (None, [None]) if key[-1] == "s" else (None, {}):
            yield f"metadata {key} = {value}", put(plain, ("metadata", key), value)
    yield "generateName", put(plain, ("metadata", "generateName"), "x" * 200)
