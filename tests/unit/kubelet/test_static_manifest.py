"""Static pods of the node's folder, and what their mirrors need."""

from __future__ import annotations

import json
from typing import Any

import pytest

from muntin.kit.errors import MuntinError
from muntin.kubelet.static_manifest import mirror_action, mirror_of, static_pod

NODE = {"metadata": {"name": "lin01", "uid": "n"}}
PATH, SEEN = "/etc/kubernetes/manifests/a.yaml", "2026-01-01T00:00:00.000000Z"


def manifest(**spec: Any) -> dict[str, Any]:
    containers = [{"name": "c", "image": "busybox"}]
    full = {"containers": containers, **spec}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, "spec": full}


def read(value: Any, path: str = PATH, node: str = "lin01", seen: str = SEEN) -> Any:
    text = value if isinstance(value, bytes) else json.dumps(value).encode()
    return static_pod(text, path, node, (1, 34), seen)


def test_a_manifest_becomes_a_pod_of_this_node() -> None:
    pod = read(manifest())
    meta = pod["metadata"]
    assert (meta["name"], meta["namespace"]) == ("web-lin01", "default")
    assert pod["spec"]["nodeName"] == "lin01"
    assert pod["spec"]["tolerations"] == [{"effect": "NoExecute", "operator": "Exists"}]
    assert pod["spec"]["restartPolicy"] == "Always"
    assert meta["annotations"] == {
        "kubernetes.io/config.hash": meta["uid"],
        "kubernetes.io/config.seen": SEEN,
        "kubernetes.io/config.source": "file",
    }
    yaml = b"apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n  containers:\n" + (
        b"  - {name: c, image: busybox}\n"
    )
    assert read(yaml, seen="later")["metadata"]["uid"] == meta["uid"]


def test_the_uid_follows_from_node_path_and_contents() -> None:
    pods = [read(manifest()), read(manifest(), path="/b"), read(manifest(), node="lin02"),
            read(manifest(hostNetwork=True))]  # fmt: skip
    assert len({pod["metadata"]["uid"] for pod in pods}) == 4
    named = manifest()
    named["metadata"]["uid"] = "mine"
    assert read(named)["metadata"]["annotations"]["kubernetes.io/config.hash"] == "mine"


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (b"{", "not YAML"),
        (b"[]", "expected one object of apiVersion v1 and kind Pod"),
        (b"kind: Pod\n---\nkind: Pod", "must be one YAML document"),
        ({**manifest(), "kind": "Deployment"}, "kind Pod"),
        ({**manifest(), "metadata": {}}, "metadata.name is missing"),
        (manifest(containers=[]), "spec.containers: Required value"),
        (manifest(containers="x"), "cannot unmarshal string"),
        (manifest(serviceAccountName="x"), "got serviceAccountName"),
        (manifest(resourceClaims=[{"name": "c", "resourceClaimName": "c"}]), "got resourceClaims"),
        *(
            ({**manifest(), "metadata": {"name": "web", "uid": uid}}, "metadata.uid: expected")
            for uid in ("../../../../etc", "a/../b", "..", ".", "a\\b", "c:", "a\n", "x" * 129)
        ),
        (
            manifest(
                volumes=[{"name": "v", "projected": {"sources": [{"secret": {"name": "s"}}]}}]
            ),
            "may not refer to API objects, got secret",
        ),
    ],
)
def test_what_is_no_static_pod(value: Any, why: str) -> None:
    with pytest.raises(MuntinError, match=why):
        read(value)


def test_a_mirror_shows_its_pod() -> None:
    pod = read(manifest())
    mirror = mirror_of(pod, NODE)
    assert "uid" not in mirror["metadata"]
    (owner,) = mirror["metadata"]["ownerReferences"]
    assert owner == {
        "apiVersion": "v1", "kind": "Node", "name": "lin01", "uid": "n", "controller": True
    }  # fmt: skip
    assert mirror_action(pod, None) == "create"
    assert mirror_action(pod, mirror) == ""
    assert mirror_action(None, None) == ""


def test_a_mirror_of_something_else_goes() -> None:
    pod = read(manifest())
    mirror = mirror_of(pod, NODE)
    assert mirror_action(None, mirror) == "delete"
    assert mirror_action(read(manifest(hostNetwork=True)), mirror) == "delete"
    deleted = {**mirror, "metadata": {**mirror["metadata"], "deletionTimestamp": SEEN}}
    assert mirror_action(pod, deleted) == "delete"
    plain = {"metadata": {"name": "web-lin01"}}
    assert mirror_action(pod, plain) == ""  # a pod of the API has the name
