"""Startup, liveness and readiness probes: what they do, and one task for each."""
