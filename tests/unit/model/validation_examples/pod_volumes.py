"""Pods: their volumes, and where containers see them."""

from __future__ import annotations

from muntin.model.resources import PODS
from validation_examples.case import DROP, LABEL, SUBDOMAIN, Examples

POD_VOLUMES = Examples(
    PODS,
    {"spec": {"containers": [{"name": "c", "image": "i"}], "serviceAccountName": "s"}},
    {"c.": "spec.containers.0.", "s.": "spec."},
)
V = "spec.volumes[0]"
MODE = "must be a number between 0 and 0777 (octal), both inclusive"


def volume(name: str = "v", **source: object) -> dict[str, object]:
    return {"s.volumes": [{"name": name, **source}]}


POD_VOLUMES.create(
    "ValidateVolumes",
    (volume("", emptyDir={}), f"{V}.name: Required value"),
    (volume("A", emptyDir={}), f'{V}.name: Invalid value: "A": {LABEL}'),
    ({"s.volumes": [{"name": "v"}, {"name": "v"}]},
     'spec.volumes[1].name: Duplicate value: "v"'),
    ({"s.volumes": [
        {"name": "e", "ephemeral": {"volumeClaimTemplate": {"spec": {
            "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1"}}}}}},
        {"name": "v", "persistentVolumeClaim": {"claimName": "a-e"}}]},
     'spec.volumes[1].persistentVolumeClaim.claimName: Invalid value: "a-e": must not reference a '
     "PVC that gets created for an ephemeral volume"),
)  # fmt: skip
MORE = "Forbidden: may not specify more than 1 volume type"
POD_VOLUMES.create(
    "validateVolumeSource",
    ({"s.volumes": [{"name": "v"}], "s.volumes.0": {"name": "v", "emptyDir": {}, "nfs": {
        "server": "s", "path": "/x"}}}, f"{V}.nfs: {MORE}"),
    (volume(emptyDir={}, hostPath={"path": "/x"}), f"{V}.hostPath: {MORE}"),
    (volume(emptyDir={}, configMap={"name": "x"}), f"{V}.configMap: {MORE}"),
    (volume(emptyDir={}, secret={"secretName": "x"}), f"{V}.secret: {MORE}"),
    (volume(emptyDir={}, projected={}), f"{V}.projected: {MORE}"),
    (volume(emptyDir={}, persistentVolumeClaim={"claimName": "x"}),
     f"{V}.persistentVolumeClaim: {MORE}"),
    (volume(emptyDir={}, csi={"driver": "x"}), f"{V}.csi: {MORE}"),
    (volume(emptyDir={"sizeLimit": "-1"}),
     f"{V}.emptyDir.sizeLimit: Forbidden: SizeLimit field must be a valid resource quantity"),
    (volume("v" * 60, iscsi={"targetPortal": "1.2.3.4:3260", "iqn": "iqn.2020-01.com.x:y",
                             "initiatorName": "iqn.2020-01.com.x:y", "lun": 0}),
     f'{V}.name: Invalid value: "{"v" * 60}": Total length of <volume name>:<iscsi.targetPortal> '
     "must be under 64 characters if iscsi.initiatorName is specified."),
)  # fmt: skip
POD_VOLUMES.create(
    "validateHostPathVolumeSource",
    (volume(hostPath={"path": ""}), f"{V}.hostPath.path: Required value"),
    (volume(hostPath={"path": "/a/../b"}),
     f'{V}.hostPath.path: Invalid value: "/a/../b": must not contain \'..\''),
    (volume(hostPath={"path": "/a", "type": "X"}),
     f'{V}.hostPath.type: Unsupported value: "X": supported values: "", "BlockDevice", '
     '"CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"'),
)  # fmt: skip
POD_VOLUMES.create(
    "validateGitRepoVolumeSource",
    (volume(gitRepo={}), f"{V}.gitRepo.repository: Required value"),
    (volume(gitRepo={"repository": "r", "directory": "/x"}),
     f'{V}.gitRepo.directory: Invalid value: "/x": must be a relative path'),
)  # fmt: skip
ISCSI = {"targetPortal": "p", "iqn": "iqn.2020-01.com.x:y", "lun": 0}
POD_VOLUMES.create(
    "validateISCSIVolumeSource",
    (volume(iscsi={**ISCSI, "targetPortal": ""}), f"{V}.iscsi.targetPortal: Required value"),
    (volume(iscsi={**ISCSI, "iqn": ""}), f"{V}.iscsi.iqn: Required value"),
    (volume(iscsi={**ISCSI, "iqn": "x"}),
     f'{V}.iscsi.iqn: Invalid value: "x": must be valid format starting with iqn, eui, or naa'),
    (volume(iscsi={**ISCSI, "iqn": "eui.x"}),
     f'{V}.iscsi.iqn: Invalid value: "eui.x": must be valid format'),
    (volume(iscsi={**ISCSI, "lun": 256}),
     f"{V}.iscsi.lun: Invalid value: 256: must be between 0 and 255, inclusive"),
    (volume(iscsi={**ISCSI, "chapAuthSession": True}), f"{V}.iscsi.secretRef: Required value"),
    (volume(iscsi={**ISCSI, "initiatorName": "x"}),
     f'{V}.iscsi.initiatorname: Invalid value: "x": must be valid format starting with iqn, eui, '
     "or naa"),
)  # fmt: skip
POD_VOLUMES.create(
    "validateFCVolumeSource",
    (volume(fc={}), f"{V}.fc.targetWWNs: Required value: must specify either targetWWNs or wwids, "
     "but not both"),
    (volume(fc={"targetWWNs": ["x"], "wwids": ["y"], "lun": 1}),
     f'{V}.fc.targetWWNs: Invalid value: ["x"]: targetWWNs and wwids can not be specified '
     "simultaneously"),
    (volume(fc={"targetWWNs": ["x"]}),
     f"{V}.fc.lun: Required value: lun is required if targetWWNs is specified"),
    (volume(fc={"targetWWNs": ["x"], "lun": 256}),
     f"{V}.fc.lun: Invalid value: 256: must be between 0 and 255, inclusive"),
)  # fmt: skip


def missing(source: str, kind: str, good: dict[str, object], shown: str = "") -> None:
    """Each field of ``good`` is needed."""
    for key in good:
        rest = {name: value for name, value in good.items() if name != key}
        path = f"{V}.{shown or kind}.{key}"
        POD_VOLUMES.create(source, (volume(**{kind: rest}), f"{path}: Required value"))


missing("validateGCEPersistentDiskVolumeSource", "gcePersistentDisk", {"pdName": "x"},
        "persistentDisk")  # fmt: skip
missing("validateAWSElasticBlockStoreVolumeSource", "awsElasticBlockStore", {"volumeID": "x"})
missing("validateSecretVolumeSource", "secret", {"secretName": "x"})
missing("validateConfigMapVolumeSource", "configMap", {"name": "x"})
missing("validatePersistentClaimVolumeSource", "persistentVolumeClaim", {"claimName": "x"})
missing("validateGlusterfsVolumeSource", "glusterfs", {"endpoints": "x", "path": "y"})
missing("validateRBDVolumeSource", "rbd", {"monitors": ["x"], "image": "y"})
missing("validateCinderVolumeSource", "cinder", {"volumeID": "x"})
missing("validateCephFSVolumeSource", "cephfs", {"monitors": ["x"]})
missing("validateFlexVolumeSource", "flexVolume", {"driver": "x"})
missing("validateAzureFile", "azureFile", {"secretName": "x", "shareName": "y"})
missing("validateAzureDisk", "azureDisk", {"diskName": "x"})
missing("validateVsphereVolumeSource", "vsphereVolume", {"volumePath": "x"})
missing("validatePhotonPersistentDiskVolumeSource", "photonPersistentDisk", {"pdID": "x"})
missing("validatePortworxVolumeSource", "portworxVolume", {"volumeID": "x"})
missing("validateScaleIOVolumeSource", "scaleIO",
        {"gateway": "x", "system": "y", "volumeName": "z"})  # fmt: skip
missing("validateStorageOSVolumeSource", "storageos", {"volumeName": "x"})
POD_VOLUMES.cases = [case for case in POD_VOLUMES.cases if case.source != "validateAzureDisk"]
POD_VOLUMES.create(
    "validateAWSElasticBlockStoreVolumeSource",
    (volume(awsElasticBlockStore={"volumeID": "x", "partition": 256}),
     f"{V}.awsElasticBlockStore.partition: Invalid value: 256: must be between 1 and 255, "
     "inclusive"),
)  # fmt: skip
POD_VOLUMES.create(
    "validateNFSVolumeSource",
    (volume(nfs={"path": "/x"}), f"{V}.nfs.server: Required value"),
    (volume(nfs={"server": "x"}), f"{V}.nfs.path: Required value",
     f'{V}.nfs.path: Invalid value: "": must be an absolute path'),
)  # fmt: skip
PAIR = "must be a host:port pair or multiple pairs separated by commas"
POD_VOLUMES.create(
    "validateQuobyteVolumeSource",
    (volume(quobyte={"volume": "x"}), f"{V}.quobyte.registry: Required value: {PAIR}"),
    (volume(quobyte={"volume": "x", "registry": "a:1", "tenant": "t" * 65}),
     f"{V}.quobyte.tenant: Required value: must be a UUID and may not exceed a length of 64 "
     "characters"),
    (volume(quobyte={"volume": "x", "registry": "a"}),
     f'{V}.quobyte.registry: Invalid value: "a": {PAIR}'),
    (volume(quobyte={"registry": "a:1"}), f"{V}.quobyte.volume: Required value"),
)  # fmt: skip
POD_VOLUMES.create(
    "validateFlockerVolumeSource",
    (volume(flocker={}),
     f"{V}.flocker: Required value: one of datasetName and datasetUUID is required"),
    (volume(flocker={"datasetName": "x", "datasetUUID": "y"}),
     f'{V}.flocker: Invalid value: "resource": datasetName and datasetUUID can not be specified '
     "simultaneously"),
    (volume(flocker={"datasetName": "x/y"}),
     f'{V}.flocker.datasetName: Invalid value: "x/y": must not contain \'/\''),
)  # fmt: skip
POD_VOLUMES.create(
    "validateFlexVolumeSource",
    (volume(flexVolume={"driver": "x", "options": {"kubernetes.io/x": "y"}}),
     f'{V}.flexVolume.options[kubernetes.io/x]: Invalid value: "kubernetes.io/x": kubernetes.io '
     "and k8s.io namespaces are reserved"),
)  # fmt: skip
DISK = {"diskName": "x", "diskURI": "https://x"}
POD_VOLUMES.create(
    "validateAzureDisk",
    (volume(azureDisk={"diskURI": "https://x"}), f"{V}.azureDisk.diskName: Required value"),
    (volume(azureDisk={"diskName": "x", "kind": "Managed"}),
     f"{V}.azureDisk.diskURI: Required value",
     f'{V}.azureDisk.diskURI: Unsupported value: "": supported values: "/subscriptions/…'),
    (volume(azureDisk={**DISK, "cachingMode": "X"}),
     f'{V}.azureDisk.cachingMode: Unsupported value: "X": supported values: "None", "ReadOnly", '
     '"ReadWrite"'),
    (volume(azureDisk={**DISK, "kind": "X"}),
     f'{V}.azureDisk.kind: Unsupported value: "X": supported values: "Dedicated", "Managed", '
     '"Shared"'),
    (volume(azureDisk={"diskName": "x", "diskURI": "y"}),
     f'{V}.azureDisk.diskURI: Unsupported value: "y": supported values: "https://…'),
)  # fmt: skip
POD_VOLUMES.create(
    "validateStorageOSVolumeSource",
    (volume(storageos={"volumeName": "A"}),
     f'{V}.storageos.volumeName: Invalid value: "A": {LABEL}'),
    (volume(storageos={"volumeName": "a", "volumeNamespace": "A"}),
     f'{V}.storageos.volumeNamespace: Invalid value: "A": {LABEL}'),
    (volume(storageos={"volumeName": "a", "secretRef": {}}),
     f"{V}.storageos.secretRef.name: Required value"),
)  # fmt: skip
POD_VOLUMES.create(
    "validateCinderVolumeSource",
    (volume(cinder={"volumeID": "x", "secretRef": {}}),
     f"{V}.cinder.secretRef.name: Required value"),
)  # fmt: skip
POD_VOLUMES.create(
    "validateCSIVolumeSource",
    (volume(csi={"driver": ""}), f"{V}.csi.driver: Required value"),
    (volume(csi={"driver": "x" * 64}),
     f"{V}.csi.driver: Too long: may not be more than 63 bytes"),
    (volume(csi={"driver": "x", "nodePublishSecretRef": {}}),
     f"{V}.csi.nodePublishSecretRef.name: Required value"),
    (volume(csi={"driver": "x", "nodePublishSecretRef": {"name": "A"}}),
     f'{V}.csi.name: Invalid value: "A": {SUBDOMAIN}'),
)  # fmt: skip
CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1"}}}
POD_VOLUMES.create(
    "validateEphemeralVolumeSource",
    (volume(ephemeral={}), f"{V}.ephemeral.volumeClaimTemplate: Required value"),
    (volume(ephemeral={"volumeClaimTemplate": {"spec": CLAIM, "metadata": {"name": "x"}}}),
     f"{V}.ephemeral.volumeClaimTemplate.metadata.name: Forbidden: cannot be set"),
    (volume(ephemeral={"volumeClaimTemplate": {"spec": {**CLAIM, "accessModes": []}}}),
     f"{V}.ephemeral.volumeClaimTemplate.spec.accessModes: Required value: at least 1 access mode "
     "is required"),
)  # fmt: skip
POD_VOLUMES.create(
    "validateImageVolumeSource",
    (volume(image={"pullPolicy": "Always"}), f"{V}.image.reference: Required value"),
    (volume(image={"reference": "x", "pullPolicy": "X"}),
     f'{V}.image.pullPolicy: Unsupported value: "X": supported values: "Always", "IfNotPresent", '
     '"Never"'),
)  # fmt: skip


def item(**fields: object) -> dict[str, object]:
    return volume(configMap={"name": "x", "items": [{"key": "k", "path": "p", **fields}]})


I = f"{V}.configMap.items[0]"  # noqa: E741 - as the field is called
POD_VOLUMES.create(
    "validateKeyToPath",
    (item(key=""), f"{I}.key: Required value"),
    (item(path=""), f"{I}.path: Required value"),
    (item(path="/x"), f'{I}.path: Invalid value: "/x": must be a relative path'),
    (item(path="a/.."), f'{I}.path: Invalid value: "a/..": must not contain \'..\''),
    (item(path="..x"), f'{I}.path: Invalid value: "..x": must not start with \'..\''),
    (item(mode=512), f"{I}.mode: Invalid value: 512: {MODE}"),
)  # fmt: skip
for kind, good in (("configMap", {"name": "x"}), ("secret", {"secretName": "x"}),
                   ("projected", {}), ("downwardAPI", {})):  # fmt: skip
    POD_VOLUMES.create(
        f"validate{kind[0].upper()}{kind[1:]}VolumeSource",
        (volume(**{kind: {**good, "defaultMode": 512}}),
         f"{V}.{kind}.defaultMode: Invalid value: 512: {MODE}"),
    )  # fmt: skip


def file(**fields: object) -> dict[str, object]:
    return volume(downwardAPI={"items": [{"path": "p", **fields}]})


NAME = {"fieldRef": {"fieldPath": "metadata.name"}}
D = f"{V}.downwardAPI"
POD_VOLUMES.create(
    "validateDownwardAPIVolumeFile",
    (file(path="", **NAME), f"{D}.path: Required value"),
    (file(path="/x", **NAME), f'{D}.path: Invalid value: "/x": must be a relative path'),
    (file(), f"{D}: Required value: one of fieldRef and resourceFieldRef is required"),
    (file(**NAME, resourceFieldRef={"containerName": "c", "resource": "limits.cpu"}),
     f'{D}: Invalid value: "resource": fieldRef and resourceFieldRef can not be specified '
     "simultaneously"),
    (file(fieldRef={"fieldPath": "spec.nodeName"}),
     f'{D}.fieldRef.fieldPath: Unsupported value: "spec.nodeName": supported values: '
     '"metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", '
     '"metadata.uid"'),
    (file(**NAME, mode=512), f"{D}.mode: Invalid value: 512: {MODE}"),
)  # fmt: skip


def projected(*sources: dict[str, object]) -> dict[str, object]:
    return volume(projected={"sources": list(sources)})


PS = f"{V}.projected.sources[0]"
KEYS = {"name": "n", "items": [{"key": "k", "path": "p"}]}
BUNDLE = {"name": "b", "path": "p"}
POD_VOLUMES.create(
    "validateProjectionSources",
    (projected({"secret": {}}), f"{PS}.secret.name: Required value"),
    (projected({"configMap": {}}), f"{PS}.configMap.name: Required value"),
    (projected({"secret": {"name": "n", "items": [{"path": "p"}]}}),
     f"{PS}.secret.items[0].key: Required value"),
    (projected({"secret": KEYS}, {"configMap": KEYS}),
     f'{V}.projected: Invalid value: "n": conflicting duplicate paths'),
    (projected({"downwardAPI": {"items": [{"path": "p"}]}}),
     f"{PS}.downwardAPI: Required value: one of fieldRef and resourceFieldRef is required"),
    (projected({"serviceAccountToken": {"path": "p", "expirationSeconds": 599}}),
     f"{PS}.serviceAccountToken.expirationSeconds: Invalid value: 599: may not specify a duration "
     "less than 10 minutes"),
    (projected({"serviceAccountToken": {"path": "p", "expirationSeconds": 2**32 + 1}}),
     f"{PS}.serviceAccountToken.expirationSeconds: Invalid value: 4294967297: may not specify a "
     "duration larger than 2^32 seconds"),
    (projected({"serviceAccountToken": {}}), f"{V}.projected.path: Required value"),
    (projected({"serviceAccountToken": {"path": "/x"}}),
     f'{V}.projected.path: Invalid value: "/x": must be a relative path'),
    (projected({"clusterTrustBundle": {"path": "p"}}),
     f"{PS}.clusterTrustBundle: Required value: either name or signerName must be specified"),
    (projected({"clusterTrustBundle": {**BUNDLE, "signerName": "a.b/c"}}),
     f"{PS}.clusterTrustBundle: Invalid value: "
     '{"name":"b","path":"p","signerName":"a.b/c"}: only one of name and signerName may be used'),
    (projected({"clusterTrustBundle": {**BUNDLE, "name": "A"}}),
     f'{PS}.clusterTrustBundle.name: Invalid value: "A": not a valid clustertrustbundlename: a '
     "lowercase…"),
    (projected({"clusterTrustBundle": {**BUNDLE, "labelSelector": {}}}),
     f"{PS}.clusterTrustBundle.labelSelector: Invalid value: {{}}: labelSelector must be unset if "
     "name is specified"),
    (projected({"clusterTrustBundle": {"signerName": "x", "path": "p"}}),
     f'{PS}.clusterTrustBundle.signerName: Invalid value: "x": must be a fully qualified domain '
     "and path of the form 'example.com/signer-name'"),
    (projected({"clusterTrustBundle": {"name": "b"}}),
     f"{PS}.clusterTrustBundle.path: Required value"),
    (projected({"secret": {"name": "n"}, "configMap": {"name": "n"}}),
     f"{PS}: Forbidden: may not specify more than 1 volume type per source"),
)  # fmt: skip
POD_VOLUMES.create(
    "validatePodMetadataAndSpec",
    ({**projected({"serviceAccountToken": {"path": "p"}}), "s.serviceAccountName": DROP,
      "s.serviceAccount": DROP},
     f"{PS}.serviceAccountToken: Forbidden: must not be specified when serviceAccountName is not "
     "set"),
)  # fmt: skip


def mounted(*mounts: object, **volume_fields: object) -> dict[str, object]:
    return {**volume(**(volume_fields or {"emptyDir": {}})), "c.volumeMounts": list(mounts)}


MOUNT = {"name": "v", "mountPath": "/x"}
DEVICE = {"name": "v", "devicePath": "/d"}
OWN = {"persistentVolumeClaim": {"claimName": "p"}}
M = "c.volumeMounts"
POD_VOLUMES.create(
    "ValidateVolumeMounts",
    (mounted({"mountPath": "/x"}), f"{M}[0].name: Required value", f'{M}[0].name: Not found: ""'),
    (mounted({"name": "y", "mountPath": "/x"}), f'{M}[0].name: Not found: "y"'),
    (mounted({"name": "v"}), f"{M}[0].mountPath: Required value"),
    (mounted(MOUNT, MOUNT), f'{M}[1].mountPath: Invalid value: "/x": must be unique'),
    ({**mounted(MOUNT, **OWN), "c.volumeDevices": [DEVICE]},
     f'{M}[0].name: Invalid value: "v": must not already exist in volumeDevices',
     'c.volumeDevices[0].name: Invalid value: "v": must not already exist in volumeMounts'),
    ({"s.volumes": [{"name": "v", **OWN}, {"name": "w", **OWN}], "c.volumeMounts": [MOUNT],
      "c.volumeDevices": [{"name": "w", "devicePath": "/x"}]},
     f'{M}[0].mountPath: Invalid value: "/x": must not already exist as a path in volumeDevices',
     'c.volumeDevices[0].devicePath: Invalid value: "/x": must not already exist as a path in '
     "volumeMounts"),
    *((mounted({**MOUNT, name: "/y"}),
       f'{M}.{name}: Invalid value: "/y": must be a relative path')
      for name in ("subPath", "subPathExpr")),
    *((mounted({**MOUNT, name: "../y"}),
       f'{M}.{name}: Invalid value: "../y": must not contain \'..\'')
      for name in ("subPath", "subPathExpr")),
    (mounted({**MOUNT, "subPath": "y", "subPathExpr": "z"}),
     f'{M}[0].subPathExpr: Invalid value: "z": subPathExpr and subPath are mutually exclusive'),
)  # fmt: skip
POD_VOLUMES.create(
    "validateMountPropagation",
    (mounted({**MOUNT, "mountPropagation": "X"}),
     f'{M}.mountPropagation: Unsupported value: "X": supported values: "Bidirectional", '
     '"HostToContainer", "None"'),
    (mounted({**MOUNT, "mountPropagation": "Bidirectional"}),
     f"{M}.mountPropagation: Forbidden: Bidirectional mount propagation is available only to "
     "privileged containers"),
)  # fmt: skip
POD_VOLUMES.create(
    "validateMountRecursiveReadOnly",
    (mounted({**MOUNT, "recursiveReadOnly": "X"}),
     f'{M}.recursiveReadOnly: Unsupported value: "X": supported values: "Disabled", "Enabled", '
     '"IfPossible"'),
    (mounted({**MOUNT, "recursiveReadOnly": "Enabled"}),
     f"{M}.recursiveReadOnly: Forbidden: may only be specified when readOnly is true"),
    (mounted({**MOUNT, "recursiveReadOnly": "Enabled", "readOnly": True,
              "mountPropagation": "HostToContainer"}),
     f"{M}.recursiveReadOnly: Forbidden: may only be specified when mountPropagation is None or "
     "not specified"),
)  # fmt: skip


def devices(*rows: object, **source: object) -> dict[str, object]:
    return {**volume(**(source or OWN)), "c.volumeDevices": list(rows)}


W = "c.volumeDevices"
POD_VOLUMES.create(
    "ValidateVolumeDevices",
    (devices({"devicePath": "/d"}), f"{W}[0].name: Required value", f'{W}[0].name: Not found: ""'),
    (devices(DEVICE, {"name": "v", "devicePath": "/e"}),
     f'{W}[1].name: Invalid value: "v": must be unique'),
    (devices(DEVICE, emptyDir={}),
     f'{W}[0].name: Invalid value: "v": can only use volume source type of PersistentVolumeClaim '
     "or Ephemeral for block mode"),
    (devices({"name": "v"}), f"{W}[0].devicePath: Required value"),
    ({"s.volumes": [{"name": "v", **OWN}, {"name": "w", **OWN}],
      "c.volumeDevices": [DEVICE, {"name": "w", "devicePath": "/d"}]},
     f'{W}[1].devicePath: Invalid value: "/d": must be unique'),
    (devices({"name": "v", "devicePath": "/a/../b"}),
     f'{W}[0].devicePath: Invalid value: "/a/../b": can not contain backsteps (\'..\')'),
)  # fmt: skip
