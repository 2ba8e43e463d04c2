"""How a Job finds its pods, unless it says so itself."""

from __future__ import annotations

from typing import Any


def select_own_pods(job: dict[str, Any]) -> None:
    """A job, which has a uid, selects its pods by that.

    Source: kubernetes pkg/registry/batch/job/strategy.go.
    """
    spec, metadata = job.setdefault("spec", {}), job["metadata"]
    if spec.get("manualSelector") or "template" not in spec:
        return
    uid, prefix = metadata["uid"], "batch.kubernetes.io/"
    own = {
        "controller-uid": uid,
        "job-name": metadata.get("name", ""),
        f"{prefix}controller-uid": uid,
        f"{prefix}job-name": metadata.get("name", ""),
    }
    template = spec["template"].setdefault("metadata", {})
    template["labels"] = {**own, **(template.get("labels") or {})}
    selector = spec.get("selector") or {}
    mine = {f"{prefix}controller-uid": uid}
    spec["selector"] = {**selector, "matchLabels": {**mine, **(selector.get("matchLabels") or {})}}
