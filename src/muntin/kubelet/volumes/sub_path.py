"""subPath: a part of a volume, kept inside it whatever links the volume holds.

Source: kubernetes v1.34 pkg/volume/util/subpath/subpath_linux.go (the rule, not the mechanism).
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from muntin.kit.errors import Invalid


def prepare_sub_path(volume: Path, sub_path: str, *, create: bool) -> Path:
    """Where ``sub_path`` of the volume is; a missing directory is made if ``create``.

    Raises:
        Invalid: it leads out of the volume, or is not there.
    """
    pure = PurePosixPath(sub_path.replace("\\", "/"))
    if pure.is_absolute() or ".." in pure.parts:
        raise Invalid(f"failed to prepare subPath for volumeMount: {sub_path} must be relative")
    root = volume.resolve()
    target = (root / pure).resolve()
    if target != root and root not in target.parents:
        raise Invalid(f"subpath {sub_path!r} evaluated outside the volume")
    if not target.exists():
        if not create:
            raise Invalid(f"subPath {sub_path!r} does not exist in the volume")
        target.mkdir(mode=0o750, parents=True)
    return target
