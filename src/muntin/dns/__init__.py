"""Cluster DNS for services and pods."""
