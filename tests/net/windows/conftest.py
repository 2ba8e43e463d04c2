from netlab import lab, windows_node

__all__ = ["lab", "windows_node"]
