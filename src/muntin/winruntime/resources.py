"""Limits of a Windows container as Linux control groups have them. Pure.

Source: hcsshim internal/hcsoci/resources.go (count, maximum, shares); a maximum is in 1/100 percent
of the whole machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from muntin.kit.errors import Invalid
from muntin.model.windows import Feature, gate
from muntin.seams.oci.bundle import Limits

PERIOD_US = 100_000
MAXIMUM_WHOLE = 10_000
_LEAST_QUOTA_US = 1_000  # the kernel's
_LEAST_SHARES = 2
MAX_PIDS = 2048
"""Threads and processes per container. Windows has no such setting, so all containers get it."""


def limits(resources: Mapping[str, Any], cpus: int) -> Limits:
    """What ``WindowsContainerResources`` asks for on a machine with ``cpus``.

    Raises:
        Invalid: more than one way to limit the CPU, with hcsshim's words.
    """
    count = resources.get("cpu_count", 0)
    maximum = resources.get("cpu_maximum", 0)
    shares = resources.get("cpu_shares", 0)
    if sum(value > 0 for value in (count, maximum, shares)) > 1:
        told = gate(Feature.CPU_MAXIMUM_EXCLUSIVE).message
        raise Invalid(told.format(count=count, maximum=maximum, shares=shares))
    quota = 0
    if count:
        quota = count * PERIOD_US
    elif maximum:
        quota = max(_LEAST_QUOTA_US, maximum * cpus * PERIOD_US // MAXIMUM_WHOLE)
    return Limits(
        memory_bytes=resources.get("memory_limit_in_bytes", 0),
        cpu_quota_us=quota,
        cpu_period_us=PERIOD_US if quota else 0,
        cpu_shares=max(_LEAST_SHARES, shares * 1024 // MAXIMUM_WHOLE * 2) if shares else 0,
        pids=MAX_PIDS,
    )
