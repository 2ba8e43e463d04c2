"""Claims that grow, and claims of ephemeral volumes."""

import pytest
from objects import pod, said
from volumes import claim, volume

from muntin.controllers.rules import ephemeral_volume, volume_expansion

HAS = {"capacity": {"storage": "1Gi"}}


@pytest.mark.parametrize(
    ("mine", "spec", "type_"),
    [
        (claim(size="2Gi", phase="Bound", status=HAS), {"csi": {"driver": "d"}}, "Normal"),
        (claim(size="2Gi", phase="Bound", status=HAS), {"hostPath": {"path": "/a"}}, "Warning"),
        (claim(size="1Gi", phase="Bound", status=HAS), {"csi": {"driver": "d"}}, None),
        (claim(size="2Gi", status=HAS), {"csi": {"driver": "d"}}, None),
    ],
)
def test_who_is_waited_for_when_a_claim_grows(mine, spec, type_):
    actions = volume_expansion.reconcile(mine, volume(claim="c/uid-c", nfs=None, **spec))
    assert [row.type for row in actions] == ([type_] if type_ else [])
    for row in actions:
        assert row.reason == "ExternalExpanding"
        assert row.message == "waiting for an external controller to expand this PVC"


def test_a_claim_grows_only_with_its_own_volume():
    mine = claim(size="2Gi", phase="Bound", status=HAS)
    assert volume_expansion.reconcile(mine, volume(claim="c/other")) == []
    assert volume_expansion.reconcile(mine, None) == []


def with_ephemeral(**fields):
    found = pod("p", **fields)
    template = {
        "metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}},
        "spec": {"accessModes": ["ReadWriteOnce"]},
    }
    found["spec"]["volumes"] = [
        {"name": "v", "ephemeral": {"volumeClaimTemplate": template}},
        {"name": "w", "emptyDir": {}},
    ]
    return found


def test_claims_of_ephemeral_volumes_are_the_pods():
    (create,) = ephemeral_volume.reconcile(with_ephemeral(), {})
    made = create.obj
    assert made["metadata"]["name"] == "p-v"
    assert made["metadata"]["labels"] == {"a": "b"}
    assert made["metadata"]["annotations"] == {"c": "d"}
    assert made["spec"] == {"accessModes": ["ReadWriteOnce"]}
    (owner,) = made["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["uid"], owner["controller"]) == ("Pod", "uid-p", True)
    assert ephemeral_volume.reconcile(with_ephemeral(), {"p-v": made}) == []
    assert ephemeral_volume.reconcile(with_ephemeral(deletionTimestamp="now"), {}) == []


def test_a_claim_of_that_name_that_is_somebody_elses():
    (note,) = actions = ephemeral_volume.reconcile(with_ephemeral(), {"p-v": claim("p-v")})
    assert said(actions) == ["note FailedBinding"]
    assert note.message == (
        "ephemeral volume v: PVC ns/p-v was not created for pod ns/p (pod is not owner)"
    )
