"""Subresources that reach into nodes and pods: log, exec, attach, portforward, proxy."""
