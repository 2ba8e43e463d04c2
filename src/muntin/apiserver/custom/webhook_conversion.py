"""Conversion of custom objects by a webhook: what is asked, and what an answer may say.

Source: apiextensions-apiserver pkg/apiserver/conversion/webhook_converter.go.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

import orjson

from muntin.apiserver.status import ApiError
from muntin.apiserver.webhooks import WebhookClient
from muntin.kit import depth, errors
from muntin.model.custom.definition import Definition
from muntin.model.validation.findings import Findings
from muntin.model.validation.metadata import annotation_map, label_map

Object = dict[str, Any]

TIMEOUT_S = 30.0
_REVIEW = "ConversionReview"
_SAME_METADATA = (("name", "name"), ("namespace", "namespace"), ("uid", "UID"))


# What a review that is sent holds already of its answer, as upstream's does.
_UNANSWERED: Object = {"uid": "", "convertedObjects": None, "result": {"metadata": {}}}


class Failed(ApiError):
    """A conversion that is not to be had: 500 without a reason."""

    def __init__(self, message: str) -> None:
        super().__init__(500, "", message)


async def convert(
    client: WebhookClient, definition: Definition, objects: Sequence[Object], version: str
) -> list[Object]:
    """``objects`` (of other versions) in the form of ``version``, in the same order.

    Raises:
        Failed: the webhook failed or gave what it may not; the message says what.
    """
    desired = f"{definition.group}/{version}"
    about = f"{objects[0]['apiVersion']}, Kind={objects[0]['kind']}"
    webhook = definition.conversion.get("webhook") or {}
    uid = str(uuid.uuid4())
    try:
        review = _review(webhook.get("conversionReviewVersions") or (), objects, desired, uid)
        config = webhook.get("clientConfig") or {}
        answer = await client.post(config, orjson.dumps(review), timeout_s=TIMEOUT_S)
        converted = _converted(_parsed(answer), review["apiVersion"], uid)
    except errors.MuntinError as err:
        raise Failed(f"conversion webhook for {about} failed: {err.message}") from err
    if len(converted) != len(objects):
        raise Failed(
            f"conversion webhook for {about} returned {len(converted)} objects, "
            f"expected {len(objects)}"
        )
    return [
        _checked(before, after, desired, about)
        for before, after in zip(objects, converted, strict=True)
    ]


def _parsed(answer: bytes) -> Any:
    try:
        return depth.loads(answer)
    except orjson.JSONDecodeError as err:
        raise errors.Invalid(f"the answer is no JSON: {err}") from err


def _review(versions: Sequence[str], objects: Sequence[Object], desired: str, uid: str) -> Object:
    known = next((version for version in versions if version in ("v1", "v1beta1")), None)
    if known is None:
        raise errors.Invalid("no supported conversion review versions")
    request = {"uid": uid, "desiredAPIVersion": desired, "objects": list(objects)}
    version = f"apiextensions.k8s.io/{known}"
    answer = {"request": request, "response": _UNANSWERED}
    return {"kind": _REVIEW, "apiVersion": version, **answer}


def _converted(answer: Any, api_version: str, uid: str) -> list[Any]:
    if not isinstance(answer, Mapping):
        raise errors.Invalid("the answer is no object")
    is_old = api_version.endswith("v1beta1")
    found = f"{answer.get('apiVersion', '')}, Kind={answer.get('kind', '')}"
    if not is_old and found != f"{api_version}, Kind={_REVIEW}":
        raise errors.Invalid(
            f"expected webhook response of {api_version}, Kind={_REVIEW}, got {found}"
        )
    response = answer.get("response")
    if not isinstance(response, Mapping):
        raise errors.Invalid("no response provided")
    if not is_old and response.get("uid") != uid:
        raise errors.Invalid(f'expected response.uid="{uid}", got "{response.get("uid", "")}"')
    result = response.get("result") or {}
    if result.get("status") != "Success":
        text = f"response.result.status was '{result.get('status', '')}', not 'Success'"
        raise errors.Invalid(result.get("message") or text)
    return list(response.get("convertedObjects") or ())


def _checked(before: Object, after: Any, desired: str, about: str) -> Object:
    """An object from the webhook, with the metadata that it cannot change."""
    whole = f"conversion webhook for {about} returned invalid object"
    prefix = f"{whole} at index 0"  # objects are converted one by one, as far as users know
    if not isinstance(after, dict):
        raise Failed(f"{prefix}: it is no object")
    if after.get("apiVersion") != desired:
        got = after.get("apiVersion", "")
        raise Failed(f"{prefix}: invalid groupVersion (expected {desired}, received {got})")
    if after.get("kind") != before["kind"]:
        got = after.get("kind", "")
        raise Failed(f"{prefix}: invalid kind (expected {before['kind']}, received {got})")
    metadata = after.get("metadata")
    invalid = f"conversion webhook for {about} returned invalid metadata"
    if not isinstance(metadata, dict):
        raise Failed(f"{invalid}: missing metadata in converted object")
    for key, name in _SAME_METADATA:
        old, new = before["metadata"].get(key, ""), metadata.get(key, "")
        if old != new:
            raise Failed(f"{whole}: must have the same {name}: {old} != {new}")
    return {**after, "metadata": _metadata(before["metadata"], metadata, invalid)}


def _metadata(before: Object, after: Object, prefix: str) -> Object:
    """The old metadata with the new labels and annotations."""
    result = deepcopy(before)
    found = Findings()
    for key, check in (("labels", label_map), ("annotations", annotation_map)):
        values = after.get(key)
        if not values:
            result.pop(key, None)
            continue
        if not isinstance(values, dict) or not all(isinstance(v, str) for v in values.values()):
            raise Failed(f"{prefix}: invalid metadata.{key} in converted object")
        if values != before.get(key):
            check(values, f"metadata.{key}", found)
        result[key] = values
    if found.causes:
        first = found.causes[0]
        raise Failed(f"{prefix}: {first.field}: {first.message}")
    return result
