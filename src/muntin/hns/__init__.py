"""Emulator of the Windows Host Networking Service."""
