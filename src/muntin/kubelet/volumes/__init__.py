"""Volumes of pods: what each source puts into a directory, and how it gets there."""
