"""Volumes, claims, storage classes, attachments, CSI drivers."""

from __future__ import annotations

from muntin.model.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, known
from validation_examples.case import DROP, IMMUTABLE, KEY, LABEL, SUBDOMAIN, Examples

API = "storage.k8s.io/v1"
MODES = '"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"'
UNKNOWN_MODE = f'Unsupported value: "X": supported values: {MODES}'
UNKNOWN_VOLUME_MODE = 'Unsupported value: "X": supported values: "Block", "Filesystem"'
ONE_POD = "Forbidden: may not use ReadWriteOncePod with other access modes"
NOT_EMPTY = "Required value: an empty string is disallowed"

VOLUME = Examples(
    PERSISTENT_VOLUMES,
    {"spec": {
        "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"},
        "hostPath": {"path": "/data"},
    }},
    {"s.": "spec."},
)  # fmt: skip
CSI = {"s.hostPath": DROP, "s.csi": {"driver": "d.example", "volumeHandle": "h"}}
TERM = {"matchExpressions": [{"key": "k", "operator": "Exists"}]}
PLACED = {"nodeSelectorTerms": [TERM]}
VOLUME.create(
    "ValidatePersistentVolumeSpec",
    ({"s.accessModes": DROP}, "s.accessModes: Required value"),
    ({"s.accessModes": ["X"]}, f"s.accessModes: {UNKNOWN_MODE}"),
    ({"s.accessModes": ["ReadWriteOnce", "ReadWriteOncePod"]}, f"s.accessModes: {ONE_POD}"),
    ({"s.capacity": DROP}, "s.capacity: Required value", "s.capacity: Unsupported value: …"),
    ({"s.capacity.cpu": "1"}, "s.capacity: Unsupported value: …"),
    ({"s.capacity.storage": "0"},
     's.capacity[storage]: Invalid value: "0": must be greater than zero'),
    ({"s.persistentVolumeReclaimPolicy": "X"},
     's.persistentVolumeReclaimPolicy: Unsupported value: "X": supported values: "Delete", '
     '"Recycle", "Retain"'),
    ({"s.nodeAffinity": {}},
     "s.nodeAffinity.required: Required value: must specify required node constraints"),
    ({"s.nodeAffinity.required.nodeSelectorTerms": []},
     "s.nodeAffinity.required.nodeSelectorTerms: Required value: must have at least one node "
     "selector term"),
    ({"s.hostPath": DROP}, "spec: Required value: must specify a volume type"),
    ({"s.nfs": {"server": "s", "path": "/p"}},
     "s.nfs: Forbidden: may not specify more than 1 volume type"),
    ({"s.hostPath.path": "/", "s.persistentVolumeReclaimPolicy": "Recycle"},
     "s.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of "
     "'/'"),
    ({"s.storageClassName": "_"}, f's.storageClassName: Invalid value: "_": {SUBDOMAIN}'),
    ({"s.volumeMode": "X"}, f"s.volumeMode: {UNKNOWN_VOLUME_MODE}"),
    ({**CSI, "s.volumeAttributesClassName": ""}, f"s.volumeAttributesClassName: {NOT_EMPTY}"),
    ({**CSI, "s.volumeAttributesClassName": "_"},
     f's.volumeAttributesClassName: Invalid value: "_": {SUBDOMAIN}'),
    ({"s.volumeAttributesClassName": "a"},
     "s.csi: Required value: has to be specified when using volumeAttributesClassName"),
)  # fmt: skip
VOLUME.create(
    "validatePersistentVolumeSource",
    *(({"s.hostPath": DROP, f"s.{kind}": {}},
       *(f"s.{kind}.{field}: Required value…" for field in fields))
      for kind, fields in (
          ("glusterfs", ("endpoints", "path")), ("cinder", ("volumeID",)),
          ("iscsi", ("targetPortal", "iqn")), ("azureFile", ("secretName", "shareName")),
          ("storageos", ("volumeName",)))),
)  # fmt: skip
VOLUME.create(
    "validateLocalVolumeSource",
    ({"s.hostPath": DROP, "s.local": {"path": "/x"}},
     "s.nodeAffinity: Required value: Local volume requires node affinity"),
    ({"s.hostPath": DROP, "s.local": {"path": ""}, "s.nodeAffinity.required": PLACED},
     "s.local.path: Required value"),
    ({"s.hostPath": DROP, "s.local": {"path": "/a/.."}, "s.nodeAffinity.required": PLACED},
     's.local.path: Invalid value: "/a/..": must not contain \'..\''),
)  # fmt: skip
VOLUME.create(
    "validateCSIPersistentVolumeSource",
    ({**CSI, "s.csi.driver": ""}, "s.csi.driver: Required value"),
    ({**CSI, "s.csi.driver": "_"}, f's.csi.driver: Invalid value: "_": {SUBDOMAIN}'),
    ({**CSI, "s.csi.volumeHandle": ""}, "s.csi.volumeHandle: Required value"),
    *(
        row
        for field in ("controllerPublish", "controllerExpand", "nodePublish", "nodeExpand")
        for row in (
            ({**CSI, f"s.csi.{field}SecretRef": {"namespace": "n"}},
             f"s.csi.{field}SecretRef.name: Required value"),
            ({**CSI, f"s.csi.{field}SecretRef": {"name": "n"}},
             f"s.csi.{field}SecretRef.namespace: Required value"),
            ({**CSI, f"s.csi.{field}SecretRef": {"name": "n", "namespace": "_"}},
             f's.csi.{field}SecretRef.namespace: Invalid value: "_": {LABEL}'),
        )
    ),
)  # fmt: skip
VOLUME.update(
    "ValidatePersistentVolumeUpdate",
    ({}, {"s.hostPath.path": "/other"},
     "spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after "
     "creation"),
    ({}, {"s.volumeMode": "Block"}, f'volumeMode: Invalid value: "Block": {IMMUTABLE}'),
    ({"s.nodeAffinity.required": PLACED}, {},
     "nodeAffinity: Invalid value: null: field is immutable, except for updating from beta label "
     "to GA"),
    ({**CSI, "s.volumeAttributesClassName": "a"}, CSI,
     "s.volumeAttributesClassName: Forbidden: update from non-nil value to nil is forbidden"),
)  # fmt: skip

CLAIM = Examples(
    PERSISTENT_VOLUME_CLAIMS,
    {"spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}},
    }},
    {"s.": "spec."},
)  # fmt: skip
OTHER = {"kind": "PersistentVolumeClaim", "name": "o"}
CLAIM.create(
    "ValidatePersistentVolumeClaimSpec",
    ({"s.accessModes": DROP},
     "s.accessModes: Required value: at least 1 access mode is required"),
    ({"s.accessModes": ["X"]}, f"s.accessModes: {UNKNOWN_MODE}"),
    ({"s.accessModes": ["ReadWriteOnce", "ReadWriteOncePod"]}, f"s.accessModes: {ONE_POD}"),
    ({"s.selector.matchExpressions": [{"key": "a", "operator": "X"}]},
     's.selector.matchExpressions[0].operator: Invalid value: "X": not a valid selector operator'),
    ({"s.resources": DROP}, "s.resources[storage]: Required value"),
    ({"s.resources.requests.storage": "0"},
     's.resources[storage]: Invalid value: "0": must be greater than zero'),
    ({"s.storageClassName": "_"}, f's.storageClassName: Invalid value: "_": {SUBDOMAIN}'),
    ({"s.volumeMode": "X"}, f"s.volumeMode: {UNKNOWN_VOLUME_MODE}"),
    ({"s.volumeAttributesClassName": "_"},
     f's.volumeAttributesClassName: Invalid value: "_": {SUBDOMAIN}'),
)  # fmt: skip
CLAIM.create(
    "validateDataSource",
    ({"s.dataSourceRef": {"kind": "PersistentVolumeClaim", "name": ""}},
     "s.dataSourceRef.name: Required value"),
    ({"s.dataSourceRef": {"kind": "", "name": "o", "apiGroup": "a.b"}},
     "s.dataSourceRef.kind: Required value"),
    ({"s.dataSourceRef": {"kind": "X", "name": "o"}},
     's.dataSourceRef: Invalid value: "X": must be \'PersistentVolumeClaim\' when referencing the '
     "default apiGroup"),
    ({"s.dataSourceRef": {"kind": "X", "name": "o", "apiGroup": "_"}},
     f's.dataSourceRef.apiGroup: Invalid value: "_": {SUBDOMAIN}'),
    ({"s.dataSourceRef": {**OTHER, "namespace": "_"}},
     f's.dataSourceRef.namespace: Invalid value: "_": {LABEL}'),
    ({"s.dataSource": OTHER, "s.dataSourceRef": {**OTHER, "namespace": "n"}},
     "spec: Invalid value: {}: may not be specified when dataSourceRef.namespace "
     "is specified"),
    ({"s.dataSource": OTHER, "s.dataSourceRef": {**OTHER, "name": "p"}},
     "spec: Invalid value: {}: must match dataSourceRef"),
)  # fmt: skip
SIZE = "spec.resources.requests.storage"
CLAIM.update(
    "ValidatePersistentVolumeClaimUpdate",
    ({}, {SIZE: "2Gi"}, "spec: Forbidden: spec is immutable after creation except …"),
    ({"s.volumeName": "v"}, {"s.volumeName": "w"},
     "spec: Forbidden: spec is immutable after creation except …"),
    ({"status": {"phase": "Bound", "capacity": {"storage": "1Gi"}}, SIZE: "2Gi"},
     {"status": {"phase": "Bound"}, SIZE: "1Gi"},
     f"{SIZE}: Forbidden: field can not be less than status.capacity"),
    ({}, {"s.volumeMode": "Block"},
     "spec: Forbidden: spec is immutable after creation except …",
     f'volumeMode: Invalid value: "Block": {IMMUTABLE}'),
    ({}, {"metadata": {"annotations": {"volume.beta.kubernetes.io/storage-class": "x"}}},
     "metadata.annotations.volume.beta.kubernetes.io/storage-class: Invalid value: "
     f'"x": {IMMUTABLE}'),
    ({"s.volumeAttributesClassName": "a"}, {},
     "spec: Forbidden: spec is immutable after creation except …",
     "s.volumeAttributesClassName: Forbidden: update from non-nil value to nil is forbidden"),
    ({"s.volumeAttributesClassName": "a"},
     {"s.volumeAttributesClassName": "", "status": {"phase": "Bound"}},
     "s.volumeAttributesClassName: Forbidden: update from non-nil value to an empty string is "
     "forbidden"),
)  # fmt: skip
CLAIM.status(
    "ValidatePersistentVolumeClaimStatusUpdate",
    ({}, {"status.capacity": {"storage": "-1"}},
     "status.capacity[storage]: Invalid value: -1: must be a valid resource quantity"),
    ({}, {"status.allocatedResourceStatuses": {"storage": "X"}},
     'status.allocatedResourceStatuses: Unsupported value: "storage": supported values: …'),
    ({}, {"status.allocatedResourceStatuses": {"x": "NodeResizePending"}},
     'status.allocatedResourceStatuses: Unsupported value: "x": supported values: "storage"'),
    ({}, {"status.allocatedResources": {"x": "1"}},
     'status.allocatedResources: Unsupported value: "x": supported values: "storage"'),
    ({}, {"status.allocatedResources": {"storage": "-1"}},
     'status.allocatedResources[storage]: Invalid value: "-1": must be greater than or equal to 0'),
)  # fmt: skip

CLASS = Examples(known(API, "StorageClass"), {"provisioner": "d.example"})
CLASS.create(
    "ValidateStorageClass",
    ({"provisioner": ""}, "provisioner: Required value"),
    ({"provisioner": "_"}, 'provisioner: Invalid value: "_": name part must consist of…'),
    ({"parameters": {"": "x"}}, 'parameters: Invalid value: "": field can not be empty.'),
    ({"parameters": {f"k{n}": "" for n in range(513)}},
     "parameters: Too long: may not be more than 512 bytes"),
    ({"parameters": {"k": "x" * 262144}},
     "parameters: Too long: may not be more than 262144 bytes"),
    ({"reclaimPolicy": "X"},
     'reclaimPolicy: Unsupported value: "X": supported values: "Delete", "Retain"'),
    ({"volumeBindingMode": DROP}, "volumeBindingMode: Required value"),
    ({"volumeBindingMode": "X"}, 'volumeBindingMode: Unsupported value: "X": …'),
)  # fmt: skip
CLASS.update(
    "ValidateStorageClassUpdate",
    ({}, {"parameters": {"a": "b"}}, f'parameters: Invalid value: {{"a":"b"}}: {IMMUTABLE}'),
    ({}, {"provisioner": "e"}, f'provisioner: Invalid value: "e": {IMMUTABLE}'),
    ({}, {"reclaimPolicy": "Retain"},
     f'reclaimPolicy: Invalid value: "Retain": {IMMUTABLE}'),
    ({}, {"volumeBindingMode": "WaitForFirstConsumer"},
     f'volumeBindingMode: Invalid value: "WaitForFirstConsumer": {IMMUTABLE}'),
)  # fmt: skip

ATTRIBUTES = Examples(
    known(API, "VolumeAttributesClass"), {"driverName": "d", "parameters": {"a": "b"}}
)
ATTRIBUTES.create(
    "ValidateVolumeAttributesClass",
    ({"driverName": ""}, "driverName: Required value"),
    ({"parameters": DROP},
     "parameters: Required value: must contain at least one key/value pair"),
)  # fmt: skip
ATTRIBUTES.update(
    "ValidateVolumeAttributesClassUpdate",
    ({}, {"driverName": "e"}, "driverName: Forbidden: updates to driverName are forbidden."),
    ({}, {"parameters.a": "c"}, "parameters: Forbidden: updates to parameters are forbidden."),
)  # fmt: skip

ATTACHMENT = Examples(
    known(API, "VolumeAttachment"),
    {"spec": {"attacher": "d", "nodeName": "n", "source": {"persistentVolumeName": "v"}}},
    {"s.": "spec."},
)
ATTACHMENT.create(
    "ValidateVolumeAttachment",
    ({"s.nodeName": "_"}, f's.nodeName: Invalid value: "_": {SUBDOMAIN}'),
    ({"s.source": {}},
     "s.source: Required value: must specify exactly one of inlineVolumeSpec and "
     "persistentVolumeName"),
    ({"s.source.inlineVolumeSpec": {}},
     "s.source: Forbidden: must specify exactly one of inlineVolumeSpec and persistentVolumeName"),
    ({"s.source.persistentVolumeName": "_"},
     f's.source.persistentVolumeName: Invalid value: "_": {SUBDOMAIN}'),
)  # fmt: skip
INLINE = {"accessModes": ["ReadWriteOnce"], "csi": {"driver": "d", "volumeHandle": "h"}}
INLINED = "s.source.inlineVolumeSpec"


def _inline(**changes: object) -> dict[str, object]:
    """An attachment of a volume that is described in it."""
    return {"s.source": {"inlineVolumeSpec": {**INLINE, **changes}}}


ATTACHMENT.create(
    "ValidatePersistentVolumeSpec",
    (_inline(accessModes=[]), f"{INLINED}.accessModes: Required value"),
    (_inline(csi=None), f"{INLINED}.csi: Required value…", f"{INLINED}: Required value…"),
    *((_inline(**{field: value}), f"{INLINED}.{field}: Forbidden: …")
      for field, value in (
          ("claimRef", {"name": "c"}), ("capacity", {"storage": "1Gi"}),
          ("persistentVolumeReclaimPolicy", "Delete"), ("storageClassName", "c"),
          ("volumeMode", "Block"), ("nodeAffinity", {"required": {}}))),
)  # fmt: skip
ATTACHMENT.create(
    "ValidateVolumeAttachment",
    ({"s.attacher": ""}, "s.attacher: Required value"),
    ({"s.source.persistentVolumeName": ""},
     "s.source.persistentVolumeName: Required value: must specify non empty persistentVolumeName",
     f's.source.persistentVolumeName: Invalid value: "": {SUBDOMAIN}'),
    ({"status.attachmentMetadata": {"a": "x" * 2**19}}, "status.attachmentMetadata: Too long: …"),
    ({"status.attachError": {"message": "x" * 2**20}}, "status.attachError.message: Too long: …"),
    ({"status.detachError": {"message": "x" * 2**20}}, "status.detachError.message: Too long: …"),
    ({"status.attachError": {"errorCode": -1}},
     "status.attachError.errorCode: Invalid value: -1: …"),
)  # fmt: skip
ATTACHMENT.update(
    "ValidateVolumeAttachmentUpdate",
    ({}, {"s.nodeName": "o"}, "spec: Invalid value: {…"),
)  # fmt: skip

DRIVER = Examples(known(API, "CSIDriver"), {"spec": {}}, {"s.": "spec."})
DRIVER.create(
    "ValidateCSIDriver",
    ({"s.attachRequired": DROP}, "s.attachedRequired: Required value"),
    ({"s.podInfoOnMount": DROP}, "s.podInfoOnMount: Required value"),
    ({"s.storageCapacity": DROP}, "s.storageCapacity: Required value"),
    ({"s.fsGroupPolicy": "X"}, 's.fsGroupPolicy: Unsupported value: "X": …'),
    ({"s.volumeLifecycleModes": ["X"]}, 's.volumeLifecycleModes: Unsupported value: "X": …'),
    ({"s.tokenRequests": [{"audience": "a"}, {"audience": "a"}]},
     's.tokenRequests[1].audience: Duplicate value: "a"'),
    ({"s.tokenRequests": [{"audience": "a", "expirationSeconds": 1}]},
     "s.tokenRequests[0].expirationSeconds: Invalid value: 1: may not specify a duration less "
     "than 10 minutes"),
    ({"s.tokenRequests": [{"audience": "a", "expirationSeconds": 2**33}]},
     "s.tokenRequests[0].expirationSeconds: Invalid value: 8589934592: may not specify a duration "
     "larger than 2^32 seconds"),
    ({"s.nodeAllocatableUpdatePeriodSeconds": 1},
     "s.nodeAllocatableUpdatePeriodSeconds: Invalid value: 1: must be greater than or equal to 10 "
     "seconds"),
)  # fmt: skip
DRIVER.update(
    "ValidateCSIDriverUpdate",
    ({}, {"s.attachRequired": False},
     f"s.attachedRequired: Invalid value: false: {IMMUTABLE}"),
    ({}, {"s.volumeLifecycleModes": ["Ephemeral"]},
     f's.volumeLifecycleModes: Invalid value: ["Ephemeral"]: {IMMUTABLE}'),
)  # fmt: skip

NODE = Examples(
    known(API, "CSINode"), {"spec": {"drivers": [{"name": "d", "nodeID": "n"}]}},
    {"d.": "spec.drivers.0."},
)  # fmt: skip
NODE.create(
    "ValidateCSINode",
    ({"d.name": ""}, "d.name: Required value"),
    ({"d.nodeID": ""}, "d.nodeID: Required value"),
    ({"d.topologyKeys": [""]}, "spec.drivers[0]: Required value",
     'spec.drivers[0]: Invalid value: "": name part must be non-empty',
     f'spec.drivers[0]: Invalid value: "": {KEY}'),
    ({"d.nodeID": "n" * 193}, f'd.nodeID: Invalid value: "{"n" * 193}": must be 192 …'),
    ({"d.allocatable.count": -1},
     "d.allocatable.count: Invalid value: -1: must be greater than or equal to 0"),
    ({"spec.drivers.1": {"name": "d", "nodeID": "n"}},
     'spec.drivers[1].name: Duplicate value: "d"'),
    ({"d.topologyKeys": ["a", "a"]}, 'spec.drivers[0]: Duplicate value: "a"'),
)  # fmt: skip
NODE.update(
    "ValidateCSINodeUpdate",
    ({}, {"d.nodeID": "o"}, "spec.drivers: Invalid value: {…"),
)

CAPACITY = Examples(known(API, "CSIStorageCapacity"), {"storageClassName": "a"})
CAPACITY.create(
    "ValidateCSIStorageCapacity",
    ({"storageClassName": "_"}, f'storageClassName: Invalid value: "_": {SUBDOMAIN}'),
    ({"capacity": "-1"},
     'capacity: Invalid value: "-1": must be greater than or equal to 0'),
)  # fmt: skip
CAPACITY.update(
    "ValidateCSIStorageCapacityUpdate",
    ({}, {"storageClassName": "b"}, f'storageClassName: Invalid value: "b": {IMMUTABLE}'),
    ({}, {"nodeTopology": {}}, f"nodeTopology: Invalid value: {{}}: {IMMUTABLE}"),
)
