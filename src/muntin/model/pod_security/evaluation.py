"""What a level finds in a pod.

Source: pod-security-admission v1.34 policy/registry.go, checks.go.
"""

from __future__ import annotations

from dataclasses import dataclass

from muntin.model.pod_security.checks import checks
from muntin.model.pod_security.findings import Finding, Object
from muntin.model.pod_security.levels import PRIVILEGED, LevelVersion


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What one level finds in one pod; nothing when the pod is allowed."""

    findings: tuple[Finding, ...] = ()

    @property
    def allowed(self) -> bool:
        """Whether the pod is as the level asks."""
        return not self.findings

    @property
    def reason(self) -> str:
        """The findings in short."""
        return ", ".join(finding.reason for finding in self.findings)

    @property
    def detail(self) -> str:
        """The findings with the names and values that are wrong."""
        return ", ".join(
            f"{finding.reason} ({finding.detail})" if finding.detail else finding.reason
            for finding in self.findings
        )


def evaluate(asked: LevelVersion, newest: int, metadata: Object, spec: Object) -> Evaluation:
    """What ``asked`` says of a pod (or of a template); ``newest`` is the server's minor release,
    which ``latest`` and any later version stand for."""
    if asked.level == PRIVILEGED:
        return Evaluation()
    minor = newest if asked.minor is None else min(asked.minor, newest)
    found = (check(metadata, spec) for check in checks(asked.level, minor))
    return Evaluation(tuple(finding for finding in found if finding is not None))
