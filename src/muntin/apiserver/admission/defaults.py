"""The object that an annotation makes the default of its kind."""

from __future__ import annotations

from muntin.apiserver.cache import ResourceCache


def newest_default(objects: ResourceCache, *annotations: str) -> str | None:
    """The name of the default: the newest, and of those of the same age the first by name."""
    names: dict[str, str] = {}
    for item in objects.select():
        metadata = item.object()["metadata"]
        marks = metadata.get("annotations") or {}
        if any(marks.get(key) == "true" for key in annotations):
            names[metadata["name"]] = metadata.get("creationTimestamp") or ""
    if not names:
        return None
    newest = max(names.values())
    return min(name for name, created in names.items() if created == newest)
