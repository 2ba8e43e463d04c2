"""The objects that a new API server makes for itself."""
