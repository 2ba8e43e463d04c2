"""OCI images and runtime bundles."""
