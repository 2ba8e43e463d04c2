"""Builders of API objects for the tables of controller tests."""

from muntin.controllers.rules.actions import Create, Delete, InBatches, InOrder, Note, Patch, Update
from muntin.model import times

NOW = 1_700_000_000.0
APP = {"app": "web"}


def at(offset_s=0.0):
    return times.text_of(NOW + offset_s)


def owner_ref(owner, controller=True):
    meta = owner["metadata"]
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": meta["name"],
        "uid": meta["uid"],
        "controller": controller,
        "blockOwnerDeletion": True,
    }


def meta(name, owner=None, **fields):
    result = {"name": name, "namespace": "ns", "uid": f"uid-{name}", "resourceVersion": "1"}
    if owner is not None:
        result["ownerReferences"] = [owner_ref(owner)]
    return {**result, **fields}


def pod(name, owner=None, *, node="n1", phase="Running", ready=True, labels=None, **fields):
    since = fields.pop("since", at(-1000))
    found = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": meta(name, owner, labels=dict(labels or APP), creationTimestamp=at(-1000)),
        "spec": {"containers": [{"name": "c"}]},
        "status": {"phase": phase, "conditions": []},
    }
    if node:
        found["spec"]["nodeName"] = node
    if phase == "Running":
        condition = {"type": "Ready", "status": str(ready), "lastTransitionTime": since}
        found["status"]["conditions"] = [condition]
    found["metadata"].update(fields)
    return found


def template(image="one", **labels):
    containers = [{"name": "c", "image": image}]
    return {"metadata": {"labels": {**APP, **labels}}, "spec": {"containers": containers}}


def workload(kind, name, replicas=3, **spec):
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": meta(name, generation=1),
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": dict(APP)},
            "template": template(),
            **spec,
        },
    }


def node(name, *, ready="True", taints=(), labels=None, **spec):
    found = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "uid": f"uid-{name}", "labels": labels or {}},
        "spec": dict(spec),
        "status": {"conditions": [{"type": "Ready", "status": ready}]},
    }
    if taints:
        found["spec"]["taints"] = list(taints)
    return found


def names(objects):
    return [obj["metadata"]["name"] for obj in objects]


def said(actions):
    """Each action in a word or two: what a table compares."""
    words = []
    for action in actions:
        if isinstance(action, Create):
            name = action.obj["metadata"].get("name") or action.obj["metadata"]["generateName"]
            words.append(f"create {action.resource.singular} {name}")
        elif isinstance(action, Update):
            sub = f"/{action.subresource}" if action.subresource else ""
            name = action.obj["metadata"]["name"]
            words.append(f"update {action.resource.singular}{sub} {name}")
        elif isinstance(action, Patch):
            words.append(f"patch {action.resource.singular} {action.name}")
        elif isinstance(action, Delete):
            words.append(f"delete {action.resource.singular} {action.obj['metadata']['name']}")
        elif isinstance(action, InBatches | InOrder):
            words += said(action.actions)
        elif isinstance(action, Note):
            words.append(f"note {action.reason}")
        else:
            words.append(f"again {action.delay_s:g}")
    return words


def without_status(actions):
    return [word for word in said(actions) if "/status" not in word and "again" not in word]


def status_of(actions):
    """The status that the actions write, None where they write none."""
    for action in actions:
        if isinstance(action, Update) and action.subresource == "status":
            return action.obj["status"]
    return None
