"""The Kubernetes API server over the store."""
