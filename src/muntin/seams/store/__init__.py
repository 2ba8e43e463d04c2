"""The store seam: etcd semantics over memory, SQLite or etcd."""
