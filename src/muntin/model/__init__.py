"""Pure knowledge, no I/O: API objects, patches, validation, the Windows gates."""
