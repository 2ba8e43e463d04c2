"""Emulated Windows container runtime: a CRI server over runc and Wine."""
