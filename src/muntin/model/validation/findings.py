"""What was found wrong with an object: upstream's field errors, as causes of a Status.

Paths are plain text (``spec.ports[0].port``). Source: apimachinery pkg/util/validation/field v1.34.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from muntin.kit.errors import Cause
from muntin.model.resources.lifecycle import Version, has_rule
from muntin.model.windows_releases import API_VERSIONS

Object = Mapping[str, Any]

IMMUTABLE = "field is immutable"
_IN_BYTES = "must be no more than 63 bytes"
NOT_NEGATIVE = "must be greater than or equal to 0"


_OF_HTML = {ord(character): f"\\u{ord(character):04x}" for character in "<>&"}


def shown(value: Any) -> str:
    """``value`` as messages show it: text in quotes, the rest as JSON that HTML may hold."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text if isinstance(value, str) else text.translate(_OF_HTML)


class Findings:
    """A growing list of causes; each method adds one.

    ``asked`` is the version through which a client speaks of an object, where that makes a
    difference: objects themselves are in the form in which they are stored. ``server`` is the
    API version whose rules hold; empty means the newest. ``spec_key`` is that of a pod's spec,
    where it is known already.
    """

    def __init__(self, asked: str = "", server: Version = (), spec_key: int | None = None) -> None:
        self.causes: list[Cause] = []
        self.asked = asked
        self.spec_key = spec_key
        self._server = server

    @property
    def circumstances(self) -> tuple[str, Version]:
        """What is found depends on, beside the object."""
        return self.asked, self._server

    @property
    def kubernetes(self) -> Version:
        """The version of the API whose rules hold."""
        return self._server or API_VERSIONS[-1]

    def has(self, rule: str) -> bool:
        """Whether a rule of `resources.lifecycle` holds already in the API version at hand."""
        return not self._server or has_rule(rule, self._server)

    def _add(self, reason: str, path: str, message: str) -> None:
        self.causes.append(Cause(f"FieldValue{reason}", path, message))

    def omitted(self, path: str, detail: str) -> None:
        """A value that cannot be and is not worth showing."""
        self._add("Invalid", path, f"Invalid value: {detail}")

    def add(self, reason: str, path: str, message: str) -> None:
        """A cause that is complete already."""
        self.causes.append(Cause(reason, path, message))

    def required(self, path: str, detail: str = "") -> None:
        """A field that must be there is not."""
        self._add("Required", path, f"Required value: {detail}" if detail else "Required value")

    def invalid(self, path: str, value: Any, detail: str) -> None:
        """A value that cannot be."""
        self._add("Invalid", path, f"Invalid value: {shown(value)}: {detail}")

    def type_invalid(self, path: str, value: Any, detail: str) -> None:
        """A value of another type than the schema of a custom resource has."""
        self._add("TypeInvalid", path, f"Invalid value: {shown(value)}: {detail}")

    def each_invalid(self, path: str, value: Any, details: Iterable[str]) -> None:
        """One `invalid` for each message that a function of `names` gave."""
        for detail in details:
            if _IN_BYTES in detail and not self.has("lengths-in-bytes"):
                detail = detail.replace(" bytes", " characters")
            self.invalid(path, value, detail)

    def not_supported(self, path: str, value: Any, supported: Iterable[str]) -> None:
        """A value that is none of those there are."""
        known = ", ".join(shown(item) for item in supported)
        self._add(
            "NotSupported", path, f"Unsupported value: {shown(value)}: supported values: {known}"
        )

    def forbidden(self, path: str, detail: str) -> None:
        """A field that may not be set, or not changed, here."""
        self._add("Forbidden", path, f"Forbidden: {detail}")

    def duplicate(self, path: str, value: Any, detail: str = "") -> None:
        """A value that another element has."""
        self._add("Duplicate", path, f"Duplicate value: {shown(value)}{detail and ': '}{detail}")

    def not_found(self, path: str, value: Any, detail: str = "") -> None:
        """A reference to something that is not there."""
        self._add("NotFound", path, f"Not found: {shown(value)}{detail and ': '}{detail}")

    def too_long(self, path: str, limit_bytes: int) -> None:
        """More bytes than are allowed."""
        self._add("TooLong", path, f"Too long: may not be more than {limit_bytes} bytes")

    def too_many(self, path: str, count: int, limit: int) -> None:
        """More elements than are allowed."""
        self._add(
            "TooMany",
            path,
            f"Too many: {count}: must have at most {limit} item{'s' if limit != 1 else ''}",
        )

    def not_negative(self, path: str, value: int | None) -> None:
        """Check that a number, if there is one, is not below zero."""
        if value is not None and value < 0:
            self.invalid(path, value, NOT_NEGATIVE)

    def one_of(self, path: str, value: Any, supported: Iterable[str], detail: str = "") -> None:
        """Check that a value is there and is one of those there are."""
        if not value:
            self.required(path, detail)
        elif value not in (known := tuple(supported)):
            self.not_supported(path, value, known)

    def immutable(self, path: str, new: Any, old: Any) -> None:
        """Check that a field has not changed."""
        if new != old:
            self.invalid(path, new, IMMUTABLE)

    def unique(self, path: str, value: Any, seen: set[Any]) -> bool:
        """Check that ``value`` is not in ``seen``, and put it there; True if it was new."""
        if value in seen:
            self.duplicate(path, value)
            return False
        seen.add(value)
        return True
