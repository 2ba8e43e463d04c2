"""Validation of paths inside volumes and containers.

Source: kubernetes v1.34 pkg/apis/core/validation/validation.go (validateLocalDescendingPath,
validatePathNoBacksteps, ValidateLocalNonReservedPath).
"""

from __future__ import annotations

from muntin.model.validation.findings import Findings


def has_back_steps(value: str) -> bool:
    """Whether one of its elements is ``..``, in either spelling of separators."""
    return ".." in value and ".." in value.replace("\\", "/").split("/")


def no_back_steps(value: str, path: str, found: Findings) -> None:
    """A path without ``..``."""
    if has_back_steps(value):
        found.invalid(path, value, "must not contain '..'")


def local_path(value: str, path: str, found: Findings) -> None:
    """A relative path that stays below where it starts."""
    if value.startswith("/"):
        found.invalid(path, value, "must be a relative path")
    no_back_steps(value, path, found)


def local_unreserved_path(value: str, path: str, found: Findings) -> None:
    """As `local_path`, and its first name does not begin with the dots kubelet keeps for itself."""
    local_path(value, path, found)
    if value.startswith("..") and not value.startswith("../"):
        found.invalid(path, value, "must not start with '..'")
