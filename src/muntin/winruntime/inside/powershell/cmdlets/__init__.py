"""Cmdlets, by subject. ``table.py`` names them all; each module is imported when first used."""
