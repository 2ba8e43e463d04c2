"""The file ``.muntin-lint.yaml``: profiles, rules that are ignored with the reason, paths."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from muntin.kit.errors import Invalid, NotFound
from muntin.lint.documents import read
from muntin.model.gates import Severity

NAME = ".muntin-lint.yaml"


@dataclass(frozen=True, slots=True)
class Ignored:
    """A rule that is not reported; ``paths`` are patterns of files, empty for all."""

    rule: str
    reason: str
    paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the file says; flags say otherwise. ``paths`` are linted where none are given."""

    profiles: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    ignore: tuple[Ignored, ...] = ()
    level: Severity | None = None
    fail_on: Severity | None = None


_LISTS = {"profiles": "profiles", "paths": "paths", "exclude": "exclude"}
_SEVERITIES = {"level": "level", "failOn": "fail_on"}


def load(path: str | None) -> Settings:
    """The settings of the file at ``path``, or of the one in this directory, if there is one.

    Raises:
        NotFound: no such file.
        Invalid: it says what it cannot say; the message names file and field.
    """
    file = Path(path or NAME)
    if path is None and not file.is_file():
        return Settings()
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as err:
        raise NotFound(f"{file}: {getattr(err, 'strerror', None) or 'not UTF-8 text'}") from err
    return decode(text, str(file))


def decode(text: str, file: str) -> Settings:
    """The settings of a text.

    Raises:
        Invalid: it says what it cannot say; the message names file and field.
    """
    documents, problems = read(text, file)
    if problems:
        first = problems[0]
        raise Invalid(f"{file}:{first.line}:{first.column}: {first.message}")
    data = documents[0].data if documents else {}
    if data is None:
        return Settings()
    if not isinstance(data, dict):
        raise Invalid(f"{file}: a map is wanted: {', '.join(_known())}")
    found: dict[str, Any] = {}
    for key, value in data.items():
        if key in _LISTS:
            found[_LISTS[key]] = _texts(value, f"{file}: {key}")
        elif key in _SEVERITIES:
            found[_SEVERITIES[key]] = _severity(value, f"{file}: {key}")
        elif key == "ignore":
            found["ignore"] = tuple(_ignored(value, file))
        else:
            raise Invalid(f"{file}: unknown field {key!r}\nuse {', '.join(_known())}")
    return Settings(**found)


def _known() -> Iterable[str]:
    return (*_LISTS, *_SEVERITIES, "ignore")


def _texts(value: Any, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise Invalid(f"{where}: a list of texts is wanted, not {value!r}")
    return tuple(value)


def _severity(value: Any, where: str) -> Severity:
    if value not in tuple(Severity):
        raise Invalid(f"{where}: {value!r} is unknown: {', '.join(Severity)}")
    return Severity(value)


def _ignored(value: Any, file: str) -> Iterable[Ignored]:
    if not isinstance(value, list):
        raise Invalid(f"{file}: ignore: a list is wanted, each with rule and reason")
    for index, item in enumerate(value):
        where = f"{file}: ignore[{index}]"
        entry: Mapping[str, Any] = item if isinstance(item, dict) else {}
        rule, reason = entry.get("rule"), entry.get("reason")
        if not isinstance(rule, str) or not isinstance(reason, str) or not reason.strip():
            raise Invalid(f"{where}: rule and reason are wanted, as texts")
        if unknown := set(entry) - {"rule", "reason", "paths"}:
            raise Invalid(f"{where}: unknown field {sorted(unknown)[0]!r}")
        yield Ignored(rule, reason, _texts(entry.get("paths", []), f"{where}.paths"))
