"""The control loops: pure rules in rules/, run by loop.py."""
