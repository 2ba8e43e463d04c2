"""How findings are written: one file per form, each a function from findings to text."""
