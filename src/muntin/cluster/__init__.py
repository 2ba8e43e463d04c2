"""A whole cluster on one machine: config, fabric, supervisor, certificates, images."""
