"""Resource metrics: asks kubelets what pods and nodes use, and serves it as metrics.k8s.io."""
