"""Kubelets without containers: nodes that are there for load only, many in one process.

Pods bound to them are said to be Running and Ready at once, and are gone when their deletion is
asked for; leases and heartbeats are kept as a kubelet keeps them. Nothing runs, nothing listens.
"""
