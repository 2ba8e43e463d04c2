"""User namespaces of Windows containers: how a pod's users map to users of the host.

Each pod has its own range of 65,536 user ids; the container's root is the first. A process that
escapes has no rights on the host. Layers and volumes keep their owners on disk, and idmapped mounts
shift them into the range. The shim stages these mounts in a mount namespace that exists while runc
starts, so that no mount stays on the host.
Sources: user_namespaces(7), mount_setattr(2); the range is one that systemd's list of user ids
(systemd.io/UIDS-GIDS) leaves free.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from muntin.kit.errors import Unavailable
from muntin.seams.oci.bundle import Bundle, bind
from muntin.winruntime.shim import kernel
from muntin.winruntime.shim.stage import FOLDER

SIZE = 65_536
_FIRST, _LAST = 0x7001, 0x7FFC
"""Upper halves of the ids: 1,879,113,728 to 2,147,287,039."""
_OLDEST_KERNEL = (5, 19)
"""The first whose overlay takes idmapped layers."""
_TRY = ("unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc", "true")


@dataclass(frozen=True, slots=True)
class IdRange:
    """The host's ids of one pod: ``first`` is the container's root."""

    first: int

    def document(self) -> list[dict[str, int]]:
        """What OCI calls a mapping."""
        return [{"containerID": 0, "hostID": self.first, "size": SIZE}]


def choose(sandbox_id: str, taken: Iterable[int]) -> IdRange:
    """A range for a new pod; ``taken`` are those of the node's other pods.

    It follows from the pod's id, so that nodes that know nothing of each other rarely meet.

    Raises:
        Unavailable: all are taken.
    """
    used, count = set(taken), _LAST - _FIRST + 1
    start = int(sandbox_id[:8], 16) % count
    for step in range(count):
        first = (_FIRST + (start + step) % count) * SIZE
        if first not in used:
            return IdRange(first)
    raise Unavailable(f"all {count} ranges of user ids are taken by pods of this node")


def why_not(folders: Sequence[Path]) -> str:
    """Why containers with files in ``folders`` cannot have user namespaces; empty if they can."""
    release = os.uname().release
    if _version(release) < _OLDEST_KERNEL:
        return f"Linux {release} is older than 5.19"
    done = subprocess.run(_TRY, capture_output=True, text=True, check=False)
    if done.returncode:
        return f"the host refuses them: {done.stderr.strip() or done.returncode}"
    try:
        with kernel.user_namespace(_FIRST * SIZE, SIZE) as fd:
            for folder in folders:
                os.close(kernel.mapped_tree(str(folder), fd))
    except OSError as err:
        return f"the file system has no idmapped mounts: {err}"
    return ""


def _version(release: str) -> tuple[int, int]:
    match = re.match(r"([0-9]{1,4})\.([0-9]{1,4})", release)
    return (int(match[1]), int(match[2])) if match is not None else (0, 0)


def isolate(
    bundle: Bundle, ids: IdRange, folder: Path, mapped: Sequence[Mapping[str, Any]]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The bundle's document in a user namespace, and the mounts that its shim stages first. Pure.

    The overlay and the mounts in ``mapped`` are staged below ``folder`` with shifted owners. Other
    mounts stay unmapped: their files belong to ``nobody`` in the container.
    """
    document = bundle.document()
    stage, plan = folder / FOLDER, []
    for number, mount in enumerate(document["mounts"]):
        target = str(stage / str(number))
        if mount["type"] == "overlay":
            plan.append({"target": target, "overlay": mount["options"]})
        elif mount in mapped and mount["type"] == "bind":
            plan.append({"target": target, "source": mount["source"]})
        else:
            continue
        readonly = "ro" in mount["options"]
        document["mounts"][number] = bind(target, mount["destination"], readonly=readonly)
    document["linux"]["namespaces"].append({"type": "user"})
    document["linux"]["uidMappings"] = document["linux"]["gidMappings"] = ids.document()
    return document, {"first": ids.first, "size": SIZE, "mounts": plan}
