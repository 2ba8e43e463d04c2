"""Where texts come from: files, directories, stdin."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from muntin.lint.commands import WINDOWS_SCRIPTS
from muntin.lint.documents import Document, Problem
from muntin.lint.texts import MAX_BYTES, encoding_of, read_bytes
from muntin.lint.views import listing, mapping

MANIFESTS = (".yaml", ".yml", ".json", ".conf", ".conflist")
STDIN = "<stdin>"


@dataclass(slots=True)
class Source:
    """One file, or a live object: its documents, and what is wrong with it."""

    name: str
    documents: list[Document]
    problems: list[Problem]
    path: Path | None = None
    encoding: str = "utf-8"
    live: bool = False


def collect(
    paths: Iterable[str], stdin: Callable[[], bytes], exclude: Iterable[str] = ()
) -> Iterator[Source]:
    """What the paths name, each file once; ``exclude`` are patterns of files in directories."""
    seen: set[str] = set()
    patterns = tuple(exclude)
    for name in paths:
        if name == "-":
            yield Source(STDIN, *read_bytes(stdin(), STDIN))
            continue
        path = Path(name)
        patches = _patches(path) if path.is_dir() else frozenset[Path]()
        for file in _walk(path) if path.is_dir() else [path]:
            shown = file.as_posix()
            if shown in seen or any(fnmatch.fnmatch(shown, pattern) for pattern in patterns):
                continue
            seen.add(shown)
            found = _chart(file) if file.name == "Chart.yaml" and path.is_dir() else _file(file)
            for document in found.documents if file.resolve() in patches else ():
                document.partial = True
            yield found


def _patches(folder: Path) -> frozenset[Path]:
    """Files that kustomizations below take for patches: parts of objects."""
    found: set[Path] = set()
    for file in folder.rglob("kustomization.y*ml"):
        for document in _file(file).documents:
            data = mapping(document.data)
            names = [mapping(one).get("path") for one in listing(data.get("patches"))]
            for one in (*names, *listing(data.get("patchesStrategicMerge"))):
                if isinstance(one, str) and "\n" not in one:
                    found.add((file.parent / one).resolve())
    return frozenset(found)


def _file(path: Path) -> Source:
    name = path.as_posix()
    try:
        size = path.stat().st_size
        raw = path.read_bytes() if size <= MAX_BYTES else b" " * (MAX_BYTES + 1)
    except OSError as err:
        why = (err.strerror or "cannot be read").lower()
        return Source(name, [], [Problem("unreadable", why)])
    return Source(name, *read_bytes(raw, name), path, encoding_of(raw))


def _chart(path: Path) -> Source:
    """A chart in a directory: its templates are no manifests until Helm has rendered them."""
    if not (path.parent / "templates").is_dir():
        return _file(path)
    what = f"a Helm chart: lint what `helm template {path.parent.as_posix()}` prints"
    return Source(path.as_posix(), [], [Problem("not-rendered", what, fatal=False)])


def _walk(folder: Path) -> Iterator[Path]:
    """Manifests and scripts below, in order; not what is hidden, nor templates of charts."""
    chart = (folder / "Chart.yaml").is_file()
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path.name == "node_modules":
            continue
        if path.is_dir():
            if not (chart and path.name in ("templates", "charts")):
                yield from _walk(path)
        elif chart and path.name.startswith("values"):
            continue
        elif path.suffix.lower() in (*MANIFESTS, *WINDOWS_SCRIPTS) and _is_json_if_conf(path):
            yield path


def _is_json_if_conf(path: Path) -> bool:
    """Many programs have ``.conf`` files; those of CNI are JSON."""
    if path.suffix != ".conf":
        return True
    with path.open("rb") as file:
        return file.read(512).lstrip().startswith((b"{", b"//", b"/*"))
