"""What all unit tests share."""

from __future__ import annotations

from hypothesis import settings

# A machine that does other work takes longer for one example than Hypothesis's 200 ms.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
