"""Who may do what: RBAC (rbac.py) and what a node may touch (node.py)."""
