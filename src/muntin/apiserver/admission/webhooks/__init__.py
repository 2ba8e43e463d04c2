"""Admission webhooks: which are asked about an operation, how, and what their answers do."""
