"""The Host Networking Service's JSON calls."""
