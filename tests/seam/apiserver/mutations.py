"""Objects that are a little wrong: a valid one with a few changes, the same for each seed."""

import copy
import random

STRANGE = (
    None, True, False, 0, 1, -1, 80, 65536, 2**31, -(2**31) - 1, 2**63, 2**64, 1.5, 1e300, -0.0,
    "", " ", "a", "A_b", "x" * 300, "é\u0000\n", "10.0.0.1", "::1", "1Gi", "-1", "1e9999", "0x1",
    "%", "2020-01-01T00:00:00Z", "Always", "a/b/c", "../..", "*", "$(X)", "{}", "null",
    "\ud7ff", "\ud800",
    [], [None], [[]], [{}], ["a", 1], {}, {"": ""}, {"a": None}, {"a": {"b": []}},
)  # fmt: skip


def mutated(obj, seed, changes=3):
    """A copy of ``obj`` with up to ``changes`` changes."""
    dice = random.Random(seed)
    result = copy.deepcopy(obj)
    for _ in range(dice.randint(1, changes)):
        holder, key = dice.choice(list(places(result)))
        _CHANGES[dice.randrange(len(_CHANGES))](dice, holder, key)
    return result


def places(value):
    """Each (container, key or index) below ``value``."""
    keys = value.keys() if isinstance(value, dict) else range(len(value))
    for key in keys:
        yield value, key
        if isinstance(value[key], dict | list) and value[key]:
            yield from places(value[key])


def _replace(dice, holder, key):
    holder[key] = copy.deepcopy(dice.choice(STRANGE))


def _remove(dice, holder, key):
    del holder[key]
    if not holder and isinstance(holder, dict):
        holder["left"] = "alone"
    elif not holder:
        holder.append({})


def _wrap(dice, holder, key):
    holder[key] = [holder[key]] if dice.random() < 0.5 else {"a": holder[key]}


def _double(dice, holder, key):
    if isinstance(holder, list):
        holder.append(copy.deepcopy(holder[key]))
    else:
        holder[f"{key}{dice.choice(('s', 'X', ''))}"] = copy.deepcopy(holder[key])


_CHANGES = (_replace, _replace, _replace, _remove, _wrap, _double)
