"""The Container Runtime Interface, v1: codec, client and server helper."""
