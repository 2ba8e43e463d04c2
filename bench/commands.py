"""How long the command line takes by itself."""

from __future__ import annotations

import page
from clusters import NAME, muntin
from measure import Samples, milliseconds, table

from muntin.cluster.config import ClusterConfig

RUNS = 10
COMMANDS = (
    ("the help text", ("--help",)),
    ("`muntin status`", ("status", "--name", NAME)),
)


def measure(config: ClusterConfig) -> None:
    rows = []
    for text, words in COMMANDS:
        samples = Samples()
        for _ in range(RUNS):
            with samples.timed():
                muntin(*words)
        rows.append((text, milliseconds(samples.median), milliseconds(samples.worst)))
    page.write("commands", table(("command", "median", "worst"), rows))
