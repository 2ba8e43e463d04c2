"""Runs containerd's own command for images, where CRI has no call for what is needed."""

from __future__ import annotations

import asyncio
from pathlib import Path

from muntin.kit.errors import Unavailable


async def images(socket: Path, *words: str) -> str:
    """What ``ctr images WORDS`` prints, of the containerd at ``socket``.

    Raises:
        Unavailable: containerd refused it or does not answer; the message is ctr's own.
    """
    process = await asyncio.create_subprocess_exec(
        *("ctr", "--address", str(socket), "--namespace", "k8s.io", "images", *words),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    output, problem = await process.communicate()
    if process.returncode:
        raise Unavailable(problem.decode("utf-8", "replace").strip())
    return output.decode("utf-8", "replace")
