"""ListImages, ImageStatus, PullImage, RemoveImage, ImageFsInfo."""

from __future__ import annotations

import asyncio
import base64
import logging
from typing import Any

from muntin.kit.errors import Invalid, MuntinError, TimedOut, Unavailable
from muntin.kit.http.client import HttpClient
from muntin.kit.log import fields
from muntin.kit.trees import tree_usage
from muntin.seams.cri import Message
from muntin.seams.oci import reference as references
from muntin.seams.oci.reference import Reference
from muntin.seams.oci.registry import Credentials, base_url
from muntin.winruntime.image_load import keep_known, pull
from muntin.winruntime.image_store import ImageRecord
from muntin.winruntime.known_images import known_image
from muntin.winruntime.node import Node

log = logging.getLogger(__name__)


class ImageRpcs:
    """The images of this node."""

    def __init__(self, node: Node, http: HttpClient) -> None:
        self._node = node
        self._http = http

    async def ListImages(self, request: Message) -> Message:
        name = ((request.get("filter") or {}).get("image") or {}).get("image", "")
        if name:
            found = self._node.images.find(name)
            return {"images": [_image(found)] if found else []}
        return {"images": [_image(record) for record in self._node.images.all()]}

    async def ImageStatus(self, request: Message) -> Message:
        found = self._node.images.find((request.get("image") or {}).get("image", ""))
        return {"image": _image(found)} if found else {}

    async def PullImage(self, request: Message) -> Message:
        name = (request.get("image") or {}).get("image", "")
        try:
            reference = references.parse(name)
        except Invalid as err:
            raise Invalid(f"failed to parse image reference {name!r}: {err.message}") from err
        try:
            record = await self._pull(reference, _credentials(request.get("auth") or {}))
        except MuntinError as err:
            text = _pull_error(reference, err)
            raise type(err)(f'failed to pull and unpack image "{reference}": {text}') from err
        log.info("image pulled", **fields(image=str(reference), id=record.id))
        return {"image_ref": record.id}

    async def _pull(self, reference: Reference, credentials: Credentials) -> ImageRecord:
        node = self._node
        if known := known_image(reference, node.config.profile):
            return keep_known(node.images, known)
        return await pull(node.images, self._http, reference, node.config.profile, credentials)

    async def RemoveImage(self, request: Message) -> Message:
        found = self._node.images.find((request.get("image") or {}).get("image", ""))
        if found:
            await asyncio.to_thread(self._node.images.remove, found)
        return {}

    async def ImageFsInfo(self, _request: Message) -> Message:
        node = self._node
        now = node.now_ns()
        size, count = await asyncio.to_thread(tree_usage, node.images.root)
        images = _filesystem(now, str(node.images.root), size, count)
        containers = _filesystem(now, str(node.config.state_dir / "containers"), 0, 0)
        return {"image_filesystems": [images], "container_filesystems": [containers]}


def _pull_error(reference: Reference, err: MuntinError) -> str:
    """The error as containerd words it."""
    if err.message.startswith(f"{reference}"):  # the registry does not have it
        return f'failed to resolve reference "{reference}": {err.message}'
    if isinstance(err, Unavailable | TimedOut):
        url = f"{base_url(reference.registry)}/v2/{reference.repository}/manifests/"
        return (
            f'failed to resolve reference "{reference}": failed to do request: '
            f'Head "{url}{reference.wanted}": {err.message}'
        )
    return err.message


def _filesystem(now: int, mountpoint: str, size: int, count: int) -> dict[str, Any]:
    return {
        "timestamp": now,
        "fs_id": {"mountpoint": mountpoint},
        "used_bytes": {"value": size},
        "inodes_used": {"value": count},
    }


def _image(record: ImageRecord) -> dict[str, Any]:
    return {
        "id": record.id,
        "repo_tags": record.tags,
        "repo_digests": record.digests,
        "size": record.size_bytes,
        "username": record.user,
        "spec": {"image": record.id},
        "pinned": record.is_pause,
    }


def _credentials(auth: dict[str, Any]) -> Credentials:
    username, password = auth.get("username", ""), auth.get("password", "")
    if not username and auth.get("auth"):
        try:
            username, _, password = base64.b64decode(auth["auth"]).decode().partition(":")
        except ValueError as err:
            raise Invalid("auth is not base64 of USER:PASSWORD") from err
    return Credentials(username, password, auth.get("registry_token", ""))
