"""The node agent: pods to containers over CRI."""
