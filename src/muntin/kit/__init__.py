"""Small tools that know nothing of Kubernetes."""
