"""Exec, attach and port-forward streams over SPDY/3.1 and WebSocket."""
