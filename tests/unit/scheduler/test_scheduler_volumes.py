"""Volumes of pods: where they let a pod run, in which words, and what binds them."""

import pytest
from cluster_of import cluster, node, pod, schedule

from muntin.model.windows_releases import scheduler_words
from muntin.scheduler.plan_framework import Request
from muntin.scheduler.plan_storage import Storage
from muntin.scheduler.plan_volumes import PodVolumes

DISKS = "disks.example.com"
BOUND = {"pv.kubernetes.io/bind-completed": "yes"}
SELECTED = "volume.kubernetes.io/selected-node"


def claim(name="c", volume=None, *, annotations=None, phase=None, **spec):
    marks = {**(BOUND if volume else {}), **(annotations or {})}
    return {
        "metadata": {"name": name, "namespace": "ns", "uid": f"uid-{name}", "annotations": marks},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
            "storageClassName": "late",
            **({"volumeName": volume} if volume else {}),
            **spec,
        },
        "status": {"phase": phase or ("Bound" if volume else "Pending")},
    }


def volume(name="v", hosts=None, *, size="1Gi", labels=None, **spec):
    if hosts:
        row = {"key": "kubernetes.io/hostname", "operator": "In", "values": list(hosts)}
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [row]}]}}
    return {
        "metadata": {"name": name, "labels": labels or {}},
        "spec": {
            "capacity": {"storage": size},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "late",
            **spec,
        },
        "status": {"phase": "Available"},
    }


def late(provisioner="kubernetes.io/no-provisioner", **fields):
    return {
        "metadata": {"name": "late"},
        "provisioner": provisioner,
        "volumeBindingMode": "WaitForFirstConsumer",
        **fields,
    }


def storage(*, claims=(), volumes=(), classes=None, csi_nodes=None, capacities=None):
    return Storage(
        claims={f"ns/{row['metadata']['name']}": row for row in claims},
        volumes={row["metadata"]["name"]: row for row in volumes},
        classes={"late": late()} if classes is None else classes,
        csi_nodes=csi_nodes or {},
        drivers={DISKS: {"spec": {"storageCapacity": capacities is not None}}},
        capacities=dict(enumerate(capacities or ())),
    )


def user(*names, name="p", **spec):
    rows = [{"name": key, "persistentVolumeClaim": {"claimName": key}} for key in names or ("c",)]
    return pod(name, volumes=rows, **spec)


def decide(found, known, *nodes, words=None, **pods_on):
    state = cluster(*(nodes or (node("a"), node("b"))), **pods_on)
    state.storage = known
    return schedule(found, state, words=words)


NOT_HELPFUL = "preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."


@pytest.mark.parametrize(
    ("known", "reason"),
    [
        (storage(), 'persistentvolumeclaim "c" not found'),
        (
            storage(claims=[claim(storageClassName="now")]),
            "pod has unbound immediate PersistentVolumeClaims",
        ),
        (
            storage(claims=[claim(volume="v", phase="Lost")]),
            'persistentvolumeclaim "c" bound to non-existent persistentvolume "v"',
        ),
        (storage(claims=[claim(volume="v")]), 'persistentvolume "v" not found'),
    ],
)
def test_a_pod_that_can_be_nowhere(known, reason):
    decision = decide(user(), known)
    assert decision.message == f"0/2 nodes are available: {reason}. {NOT_HELPFUL}"
    assert decision.plugins <= {"VolumeBinding", "VolumeZone"}


@pytest.mark.parametrize(
    ("version", "rest"),
    [
        ((1, 20), "2 pod has unbound immediate PersistentVolumeClaims."),
        ((1, 30), f"pod has unbound immediate PersistentVolumeClaims. {NOT_HELPFUL}"),
        ((1, 36), "pod has unbound immediate PersistentVolumeClaims. not found"),
    ],
)
def test_what_keeps_a_pod_off_all_nodes_in_the_words_of_a_version(version, rest):
    known = storage(claims=[claim(storageClassName="now")])
    decision = decide(user(), known, words=scheduler_words(version))
    assert decision.message == f"0/2 nodes are available: {rest}"


def test_a_claim_that_is_being_deleted():
    leaving = claim(volume="v")
    leaving["metadata"]["deletionTimestamp"] = "now"
    known = storage(claims=[leaving], volumes=[volume()])
    assert 'persistentvolumeclaim "c" is being deleted' in decide(user(), known).message


def test_ephemeral_claims_are_waited_for_and_must_be_the_pods():
    found = pod(volumes=[{"name": "e", "ephemeral": {}}])
    assert (
        'waiting for ephemeral volume controller to create the persistentvolumeclaim "p-e"'
        in decide(found, storage()).message
    )
    known = storage(claims=[claim("p-e", "v")], volumes=[volume()])
    assert (
        "PVC ns/p-e was not created for pod ns/p (pod is not owner)" in decide(found, known).message
    )


@pytest.mark.parametrize(
    ("version", "reason"),
    [
        ((1, 20), "node(s) had volume node affinity conflict"),
        ((1, 34), "node(s) had volume node affinity conflict"),
        ((1, 35), "node(s) didn't match PersistentVolume's node affinity"),
    ],
)
def test_bound_volumes_decide_on_the_node(version, reason):
    known = storage(claims=[claim(volume="v")], volumes=[volume(hosts=["b"])])
    assert decide(user(), known).node == "b"
    words = scheduler_words(version)
    message = decide(user(), known, node("a"), words=words).message
    assert message.startswith(f"0/1 nodes are available: 1 {reason}.")


@pytest.mark.parametrize(
    ("volumes", "classes", "chosen"),
    [
        ([], None, ""),
        ([volume(hosts=["b"])], None, "b"),
        ([volume(hosts=["b"], size="1Mi")], None, ""),
        ([volume(hosts=["b"], claimRef={"namespace": "ns", "name": "other"})], None, ""),
        ([volume(hosts=["b"], claimRef={"namespace": "ns", "name": "c"})], None, "b"),
        ([volume(hosts=["b"], accessModes=["ReadOnlyMany"])], None, ""),
        ([], {"late": late("disks.example.com")}, "any"),
        (
            [],
            {
                "late": late(
                    "disks.example.com",
                    allowedTopologies=[
                        {
                            "matchLabelExpressions": [
                                {"key": "kubernetes.io/hostname", "values": ["b"]}
                            ]
                        }
                    ],
                )
            },
            "b",
        ),
    ],
)
def test_claims_that_wait_for_the_pod(volumes, classes, chosen):
    decision = decide(user(), storage(claims=[claim()], volumes=volumes, classes=classes))
    if chosen == "any":
        assert decision.node in ("a", "b")
        return
    assert decision.node == chosen
    if not chosen:
        reason = "2 node(s) didn't find available persistent volumes to bind"
        assert decision.message == f"0/2 nodes are available: {reason}. {NOT_HELPFUL}"


def test_a_node_that_was_chosen_before_is_kept():
    known = storage(
        claims=[claim(annotations={SELECTED: "b"})], classes={"late": late("disks.example.com")}
    )
    assert decide(user(), known).node == "b"


def test_two_claims_get_two_volumes():
    known = storage(
        claims=[claim("c"), claim("d")],
        volumes=[volume("one", ["b"], size="5Gi"), volume("two", ["b"]), volume("far", ["a"])],
    )
    assert decide(user("c", "d"), known).node == "b"
    found = PodVolumes(Request(user("c", "d")), known).bindings(node("b"))
    names = [(row["metadata"]["name"], mine["metadata"]["name"]) for row, mine in found.static]
    assert names == [("two", "c"), ("one", "d")]
    assert PodVolumes(Request(user("c", "d")), known).bindings(node("a")).refusal


def test_the_smallest_claim_gets_the_smallest_volume():
    large = claim("c", resources={"requests": {"storage": "3Gi"}})
    known = storage(claims=[large, claim("d")], volumes=[volume("one", ["b"], size="5Gi")])
    found = PodVolumes(Request(user("c", "d")), known).bindings(node("b"))
    assert found.refusal
    known = storage(
        claims=[large, claim("d")],
        volumes=[volume("one", ["b"], size="5Gi"), volume("two", ["b"], size="4Gi")],
    )
    found = PodVolumes(Request(user("c", "d")), known).bindings(node("b"))
    names = [(row["metadata"]["name"], mine["metadata"]["name"]) for row, mine in found.static]
    assert names == [("two", "d"), ("one", "c")]


def room(size=None, *, on="b", of="late", **fields):
    selector = {"matchLabels": {"kubernetes.io/hostname": on}} if on else {}
    row = {"storageClassName": of, "nodeTopology": selector, **fields}
    return {**row, "capacity": size} if size else row


@pytest.mark.parametrize(
    "capacities, chosen",
    [
        ([], ""),
        ([room("1Gi")], "b"),
        ([room("1023Mi"), room("2Gi", on="a")], "a"),
        ([room("1Gi", on="")], "any"),  # a topology of all nodes
        ([room("1Gi", of="other")], ""),
        ([room()], ""),  # nothing is said of how much there is
        ([{"storageClassName": "late", "capacity": "9Gi"}], ""),  # nobody can reach it
        ([room("9Gi", maximumVolumeSize="1Mi")], ""),
        ([room("1Mi", maximumVolumeSize="1Gi")], "b"),
        (None, "any"),  # the driver does not tell
    ],
)
def test_drivers_that_tell_have_room_enough(capacities, chosen):
    known = storage(claims=[claim()], classes={"late": late(DISKS)}, capacities=capacities)
    decision = decide(user(), known)
    assert decision.node == chosen or (chosen == "any" and decision.node in ("a", "b"))
    if not chosen:
        reason = "2 node(s) did not have enough free storage"
        assert decision.message == f"0/2 nodes are available: {reason}. {NOT_HELPFUL}"


def test_what_no_volume_fits_is_provisioned_beside_what_fits():
    known = storage(
        claims=[claim("c"), claim("d", accessModes=["ReadWriteMany"])],
        volumes=[volume("one", ["b"])],
        classes={"late": late("disks.example.com")},
    )
    found = PodVolumes(Request(user("c", "d")), known).bindings(node("b"))
    assert [row["metadata"]["name"] for row, _ in found.static] == ["one"]
    assert [row["metadata"]["name"] for row in found.provision] == ["d"]


ZONE = "topology.kubernetes.io/zone"
OLD_ZONE = "failure-domain.beta.kubernetes.io/zone"


@pytest.mark.parametrize(
    ("label", "value", "there", "fits"),
    [
        (ZONE, "z1", {ZONE: "z1"}, True),
        (ZONE, "z2", {ZONE: "z1"}, False),
        (ZONE, "z1__z2", {ZONE: "z2"}, True),
        (OLD_ZONE, "z1", {ZONE: "z1"}, True),
        (ZONE, "z2", {}, True),
    ],
)
def test_zones_of_volumes(label, value, there, fits):
    known = storage(claims=[claim(volume="v")], volumes=[volume(labels={label: value})])
    decision = decide(user(), known, node("a", labels=there))
    if fits:
        assert decision.node == "a"
    else:
        assert "1 node(s) had no available volume zone" in decision.message


@pytest.mark.parametrize(("limit", "fits"), [(1, False), (2, True), (None, True)])
def test_csi_drivers_limit_their_volumes(limit, fits):
    def disk(name):
        return volume(name, csi={"driver": "d", "volumeHandle": name})

    count = {} if limit is None else {"allocatable": {"count": limit}}
    known = storage(
        claims=[claim("c", "v"), claim("d", "w")],
        volumes=[disk("v"), disk("w")],
        csi_nodes={"a": {"spec": {"drivers": [{"name": "d", "nodeID": "a", **count}]}}},
    )
    decision = decide(user(), known, node("a"), a=[user("d", name="q")])
    assert (decision.node == "a") is fits
    assert decide(user(), known, node("a"), a=[user("c", name="q")]).node == "a"
    if not fits:
        assert "1 node(s) exceed max volume count" in decision.message


@pytest.mark.parametrize(
    ("mine", "other", "fits"),
    [
        ({"gcePersistentDisk": {"pdName": "d"}}, {"gcePersistentDisk": {"pdName": "d"}}, False),
        ({"gcePersistentDisk": {"pdName": "d"}}, {"gcePersistentDisk": {"pdName": "e"}}, True),
        (
            {"gcePersistentDisk": {"pdName": "d", "readOnly": True}},
            {"gcePersistentDisk": {"pdName": "d", "readOnly": True}},
            True,
        ),
        (
            {"awsElasticBlockStore": {"volumeID": "d", "readOnly": True}},
            {"awsElasticBlockStore": {"volumeID": "d", "readOnly": True}},
            False,
        ),
        ({"iscsi": {"iqn": "i"}}, {"iscsi": {"iqn": "i", "readOnly": True}}, False),
        (
            {"rbd": {"monitors": ["m", "n"], "pool": "p", "image": "i"}},
            {"rbd": {"monitors": ["n"], "pool": "p", "image": "i"}},
            False,
        ),
        (
            {"rbd": {"monitors": ["m"], "pool": "p", "image": "i"}},
            {"rbd": {"monitors": ["n"], "pool": "p", "image": "i"}},
            True,
        ),
    ],
)
def test_disks_that_one_pod_alone_may_write(mine, other, fits):
    there = pod("q", volumes=[{"name": "w", **other}])
    decision = decide(pod(volumes=[{"name": "v", **mine}]), storage(), node("a"), a=[there])
    assert (decision.node == "a") is fits
    if not fits:
        assert "1 node(s) had no available disk" in decision.message


def test_claims_of_one_pod_are_taken_wherever_that_pod_is():
    known = storage(
        claims=[claim(volume="v", accessModes=["ReadWriteOncePod"])], volumes=[volume()]
    )
    decision = decide(user(), known, a=[user(name="q")])
    assert (
        "2 node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode "
        "already in-use by another pod" in decision.message
    )
    assert decide(user(), known).node in ("a", "b")


def test_a_more_important_pod_takes_the_claim_of_one_pod():
    known = storage(
        claims=[claim(volume="v", accessModes=["ReadWriteOncePod"])], volumes=[volume()]
    )
    decision = decide(user(priority=10), known, a=[user(name="q", priority=1)])
    assert (decision.nominated, [row["metadata"]["name"] for row in decision.victims]) == (
        "a",
        ["q"],
    )
