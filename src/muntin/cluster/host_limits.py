"""What this machine refuses to root: containers of some CI systems hold fewer powers."""

from __future__ import annotations

from pathlib import Path


def refuses_lower_oom_scores() -> bool:
    """Whether a process may not lower its OOM score (no CAP_SYS_RESOURCE over the machine)."""
    score = Path("/proc/self/oom_score_adj")
    current = int(score.read_text())
    if current <= -1000:
        return False
    try:
        score.write_text(str(current - 1))
    except PermissionError:
        return True
    score.write_text(str(current))
    return False
