"""The OCI seam: image references, documents, layers and archives, registries, runtime bundles."""
