"""The Container Network Interface: configuration, results, runner."""
