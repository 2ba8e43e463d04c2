"""What becomes of the two fields in which a new claim names its data source.

Source: kubernetes v1.36 pkg/api/persistentvolumeclaim/util.go; KEP 1495.
"""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]

_SNAPSHOTS = ("VolumeSnapshot", "snapshot.storage.k8s.io")
_CLAIMS = ("PersistentVolumeClaim", "")


def settle_sources(spec: Object) -> None:
    """Drop a source that the older field cannot name; make both fields say the same."""
    old, new = spec.get("dataSource"), spec.get("dataSourceRef")
    if old is not None and new is None:
        if (old.get("kind"), old.get("apiGroup") or "") not in (_CLAIMS, _SNAPSHOTS):
            del spec["dataSource"]
        else:
            spec["dataSourceRef"] = dict(old)
    elif new is not None and old is None and not new.get("namespace"):
        spec["dataSource"] = {key: item for key, item in new.items() if key != "namespace"}
