"""The node agent: makes the pods bound to its node run, and says how they are.

It speaks CRI to the runtime and the Kubernetes API to the cluster, nothing else; the operating
system of the node is a value (:class:`muntin.kubelet.platform.Platform`). Begin with ``loop.py``;
``plan.py`` decides, ``worker.py`` does.
"""
