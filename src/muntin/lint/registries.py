"""For which Windows builds images are, asked of their registries as far as these answer."""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import Iterable, Sequence

from muntin.kit.errors import MuntinError
from muntin.kit.http.client import HttpClient
from muntin.kit.log import fields
from muntin.lint import binding
from muntin.lint.documents import Document
from muntin.lint.run import gather
from muntin.seams.oci import manifest as documents
from muntin.seams.oci.reference import Reference, parse
from muntin.seams.oci.registry import RegistryClient

log = logging.getLogger(__name__)

_AT_ONCE = 8
_ANSWER_S = 15.0


def ask(sources: Iterable[Sequence[Document]]) -> None:
    """Tell each document what registries say of the images of its pods for Windows.

    One that does not answer leaves its images to what their names say.
    """
    every = [document for source in sources for document in source]
    images = {
        container.image
        for pod in gather(every).pods
        if pod.os == binding.WINDOWS
        for container in pod.containers
        if container.image
    }
    found = asyncio.run(builds(images)) if images else {}
    for document in every:
        document.builds = found


async def builds(images: Iterable[str]) -> dict[str, frozenset[int]]:
    """The Windows builds of each image; empty for one that is for Linux alone."""
    turns = asyncio.Semaphore(_AT_ONCE)
    http = HttpClient(tls=ssl.create_default_context(), connect_timeout_s=_ANSWER_S)
    found: dict[str, frozenset[int]] = {}

    async def one(image: str) -> None:
        try:
            async with turns, asyncio.timeout(_ANSWER_S):
                found[image] = await _of_image(http, parse(image))
        except (MuntinError, TimeoutError, OSError) as err:
            log.info("registry not asked", **fields(image=image, error=str(err)))

    try:
        async with asyncio.TaskGroup() as group:
            for image in sorted(images):
                group.create_task(one(image))
    finally:
        await http.close()
    return found


async def _of_image(http: HttpClient, reference: Reference) -> frozenset[int]:
    registry = RegistryClient(http, reference)
    told = await registry.document(reference.wanted)
    document = documents.parse_document(told.data)
    if documents.is_index(document, told.media_type):
        platforms = [entry.platform for entry in documents.parse_index(document)]
        return frozenset(one.build for one in platforms if one and one.os == "windows")
    image = documents.parse_manifest(document)
    platform = documents.parse_config(await registry.blob(image.config.digest)).platform
    return frozenset({platform.build}) if platform.os == "windows" else frozenset()
