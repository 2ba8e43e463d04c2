"""The shim: one small process per container that outlives the node process.

It is the container's parent on Linux: it starts runc, holds stdio, writes the CRI log, keeps
terminals and attached users, and leaves the exit code on disk. Shims are forked from one
short-lived starter process that imports only the standard library, so that they share its memory;
a shim and the node process meet on a Unix socket (:mod:`.frames`) and in the container's folder.
Everything here runs on the system's Python and may import nothing of Muntin but this package.
"""
