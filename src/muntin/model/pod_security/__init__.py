"""Pod Security Standards: what the levels ``baseline`` and ``restricted`` say of a pod.

``levels`` reads a namespace's labels, ``checks`` is the table of controls, ``baseline`` and
``restricted`` hold them, ``evaluation`` asks them.
"""
