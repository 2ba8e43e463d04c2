"""Conditions that many rows share, and the names of network plugins."""

from __future__ import annotations

from muntin.model.gates import Condition, only, since

# Windows nodes of Kubernetes 1.14 and newer, on Windows Server 2019 and newer: what doc20 is about.
STABLE = Condition(kubernetes=since(1, 14), build=since(17763))
# Network plugins (CNI) and services in the kernel came with version 1709.
WITH_CNI = Condition(kubernetes=since(1, 8), build=since(16299))
ALWAYS = Condition()
CONTAINERD = Condition(runtime=frozenset({"containerd"}))
V1_8 = Condition(kubernetes=only(1, 8))

L2BRIDGE = frozenset({"win-bridge", "wincni", "sdnbridge", "azure-cni"})
OVERLAY = frozenset({"win-overlay"})
OVN = frozenset({"ovn-kubernetes"})
# They make their HNS network themselves.
MAKES_NETWORK = frozenset({"wincni", "azure-cni", "calico", "antrea", "ovn-kubernetes"})
ENFORCES_POLICIES = frozenset({"calico", "antrea", "ovn-kubernetes"})
