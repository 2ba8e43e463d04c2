"""Admission policies: expressions that the server itself evaluates."""
