"""Objects that break one rule each, and the words in which upstream refuses them."""

from validation_examples import (
    batch,
    cluster,
    devices,
    networking,
    pod_changes,
    pod_volumes,
    pods,
    storage,
    workloads,
)
from validation_examples.case import Case, Examples


def every_case() -> list[Case]:
    """The cases of every kind."""
    modules = (
        pods,
        pod_volumes,
        pod_changes,
        workloads,
        batch,
        networking,
        cluster,
        storage,
        devices,
    )
    kinds = {
        id(value): value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, Examples)
    }
    return [case for kind in kinds.values() for case in kind.cases]
