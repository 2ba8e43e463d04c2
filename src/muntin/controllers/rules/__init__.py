"""What each controller decides: a snapshot in, actions out; no I/O, no clock, no state."""
