"""Custom resources as the server serves them.

``definitions`` follows the definitions and tells the registry, ``cleanup`` ends them, ``forms``
shows objects in each version, ``reading`` makes objects of request bodies.
"""
