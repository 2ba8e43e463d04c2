"""A subset of the PowerShell language, parsed properly and honest about its limits.

``command.py`` reads the command line, ``parser.py`` (on ``lexer.py`` and ``expressions.py``) makes
the tree of ``nodes.py``, ``evaluator.py`` and ``pipeline.py`` run it against a ``host.py``.
``constructs.py`` and ``cmdlets/table.py`` say what is supported and what is refused by name.
It is no product of Microsoft and does not report itself as one.
"""
