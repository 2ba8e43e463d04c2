"""What a Job's pod failure policy says of a failed pod, and its success policy of its indexes.

Source: kubernetes v1.36 api/batch/v1/types.go, PodFailurePolicy and SuccessPolicy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from muntin.controllers.rules import job_indexes
from muntin.controllers.rules.actions import Object
from muntin.controllers.rules.job_indexes import Spans


@dataclass(frozen=True, slots=True)
class Judgement:
    """``action`` of the first rule that fits, empty if none does.

    ``counts``: the failure counts towards the back-off limit. ``message``: why the Job fails.
    """

    action: str = ""
    counts: bool = True
    message: str = ""


def judge(policy: Mapping[str, Any] | None, pod: Object) -> Judgement:
    """What the rules say of a pod that failed."""
    for number, rule in enumerate((policy or {}).get("rules") or ()):
        why = _fitting(rule, pod)
        if not why:
            continue
        action = rule["action"]
        if action != "FailJob":
            return Judgement(action, counts=action != "Ignore")
        meta = pod["metadata"]
        subject = f"{meta['namespace']}/{meta['name']}"
        return Judgement(
            action, message=f"{why.format(subject)} matching FailJob rule at index {number}"
        )
    return Judgement()


def _fitting(rule: Mapping[str, Any], pod: Object) -> str:
    """In what the rule fits the pod, whose name goes into the braces; empty if it does not."""
    status = pod.get("status") or {}
    if rule.get("onExitCodes") is not None:
        for field in ("containerStatuses", "initContainerStatuses"):
            for row in status.get(field) or ():
                code = _matching_code(rule["onExitCodes"], row)
                if code:
                    return f"Container {row['name']} for pod {{}} failed with exit code {code}"
        return ""
    patterns = {(row["type"], row.get("status")) for row in rule.get("onPodConditions") or ()}
    for row in status.get("conditions") or ():
        if (row.get("type"), row.get("status")) in patterns:
            return f"Pod {{}} has condition {row['type']}"
    return ""


def _matching_code(wanted: Mapping[str, Any], status: Mapping[str, Any]) -> int:
    """The exit code that is meant, 0 if none: a container that ended well never is."""
    code = int(((status.get("state") or {}).get("terminated") or {}).get("exitCode") or 0)
    if not code or wanted.get("containerName") not in (None, status["name"]):
        return 0
    listed = code in (wanted.get("values") or ())
    return code if listed == (wanted.get("operator") == "In") else 0


def success(rules: Iterable[Mapping[str, Any]], completions: int, succeeded: Spans) -> str:
    """The message of the first rule of a success policy that is met; empty if none is."""
    for number, rule in enumerate(rules if succeeded else ()):
        count = rule.get("succeededCount")
        if rule.get("succeededIndexes") is None:
            met = count is not None and job_indexes.total(succeeded) >= count
        else:
            wanted = job_indexes.parse(rule["succeededIndexes"], completions)
            have = job_indexes.overlap(wanted, succeeded)
            enough = have == job_indexes.total(wanted) or (count is not None and have >= count)
            met = bool(wanted) and enough
        if met:
            return f"Matched rules at index {number}"
    return ""
