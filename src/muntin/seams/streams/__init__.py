"""Exec, attach and port-forward streams: SPDY/3.1 and WebSocket, servers and a client.

``spdy`` and ``websocket`` are the carriers, ``remotecommand`` and ``portforward`` what Kubernetes
says over them. A server hands its upgraded connection in as a :class:`~.duplex.Duplex`.
Source: kubernetes v1.34 staging/src/k8s.io/kubelet/pkg/cri/streaming, KEP-4006.
"""
