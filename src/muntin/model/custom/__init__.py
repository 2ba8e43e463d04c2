"""Custom resources: what a CustomResourceDefinition says, and what it means for objects.

``structural`` reads a schema, ``pruning`` drops unknown fields and fills in defaults, ``values``
validates, ``lists`` and ``embedded`` check what a JSON schema cannot say, ``rules`` are the CEL
ones; ``definition`` is a whole definition, ready to be served; ``definition_rules`` judges one.
"""
