"""Query parameters of the API's operations, by name, with their types.

Source: apimachinery v1.34 meta/v1 ListOptions, DeleteOptions, CreateOptions, PatchOptions; core/v1
PodLogOptions and the options of connections.
"""

from __future__ import annotations

from collections.abc import Mapping

LIST = (
    "allowWatchBookmarks", "continue", "fieldSelector", "labelSelector", "limit", "pretty",
    "resourceVersion", "resourceVersionMatch", "sendInitialEvents", "timeoutSeconds", "watch",
)  # fmt: skip
WRITE = ("dryRun", "fieldManager", "fieldValidation", "pretty")
PATCH = ("dryRun", "fieldManager", "fieldValidation", "force", "pretty")
DELETE = ("dryRun", "gracePeriodSeconds", "orphanDependents", "pretty", "propagationPolicy")
# Of a deletion, if the version of the API has it.
BREAK_GLASS = "ignoreStoreReadErrorWithClusterBreakingPotential"
DELETE_COLLECTION = tuple(
    sorted({*DELETE, *LIST} - {"allowWatchBookmarks", "watch"}, key=lambda name: name)
)
PRETTY = ("pretty",)
LOG = (
    "container", "follow", "insecureSkipTLSVerifyBackend", "limitBytes", "pretty", "previous",
    "sinceSeconds", "tailLines", "timestamps",
)  # fmt: skip
# Of a log, if the version of the API has it.
LOG_STREAM = "stream"
_STREAMS = ("container", "stderr", "stdin", "stdout", "tty")
# Of a connection, by the subresource's name.
CONNECT: Mapping[str, tuple[str, ...]] = {
    "attach": _STREAMS,
    "exec": ("command", *_STREAMS),
    "portforward": ("ports",),
    "proxy": ("path",),
}

_BOOLEANS = frozenset(
    {
        "allowWatchBookmarks", "follow", "force", BREAK_GLASS, "insecureSkipTLSVerifyBackend",
        "orphanDependents", "previous", "sendInitialEvents", "stderr", "stdin", "stdout",
        "timestamps", "tty", "watch",
    }
)  # fmt: skip
_INTEGERS = frozenset(
    {"gracePeriodSeconds", "limit", "limitBytes", "ports", "sinceSeconds", "tailLines",
     "timeoutSeconds"}
)  # fmt: skip


def type_of(name: str) -> str:
    """``string``, ``integer`` or ``boolean``."""
    if name in _BOOLEANS:
        return "boolean"
    return "integer" if name in _INTEGERS else "string"
