"""The Container Network Interface: configuration, results, errors and the runner of plugins.

``conf.py`` reads network configuration lists, ``result.py`` the answers of plugins in any version,
``runner.py`` executes plugins. Source: CNI specification 1.1.0.
"""
