"""Muntin: a hybrid Linux/Windows Kubernetes on one Linux machine."""
