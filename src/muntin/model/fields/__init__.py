"""Who manages which fields: field sets, their algebra, merging and comparing by type.

`types` says how places merge, `sets` holds the sets and their algebra, `elements` the path
elements, `tree` makes the set of a value, `naming` that of a configuration which fits, `compare`
compares two values, `merge` applies one onto another or takes fields away, `managers` keeps the
managers of an object, `ownership` decides what one request does to them.
"""
