"""How parsers are fuzzed: good inputs with a few nasty changes, and a clock.

`FUZZ_EXAMPLES` and `FUZZ_SEED` in the environment choose for how long, and with what.
"""

import contextlib
import os
import random
import time

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "60"))
SEED = int(os.environ.get("FUZZ_SEED", "1"))
LONGEST_S = 3.0
"""Processor time for one input, without waiting: a parser that takes longer blocks others."""

NASTY = (
    *" \n\t\0²٣é\ud7ff\U0010ffff-+.,;:/\\'\"()[]{}<>*&!|%@#=?~`$0",
    "", "-1", "1e9999", "-1e9999", "0x1", "NaN", "inf", "null", "true", "9" * 20, "9" * 5_000,
    "-" + "9" * 5_000, "0." + "9" * 5_000, "a" * 300, "a" * 70_000, "[" * 500, "(" * 500,
    "- " * 500, "? " * 500, '{"a":' * 500, "!" * 500, "a." * 500, "a/" * 500, "a,b" * 500,
    "%00", "%FF", "..", "../" * 50, "::", "::ffff:1.1.1.1", "%eth0", "+99:99", "Z", "T24:00",
    "2024-02-30", "/129",
)  # fmt: skip


def damaged(text: str, number: int) -> str:
    """``text`` with up to five changes: the same for each number."""
    dice = random.Random(number)
    for _ in range(dice.randint(0, 5)):
        start = dice.randint(0, len(text))
        end = min(len(text), start + dice.choice((0, 0, 1, 2, 5, 20)))
        middle = dice.choice((
            dice.choice(NASTY), dice.choice(NASTY), text[start:end] * dice.choice((2, 50)),
            chr(dice.choice((dice.randrange(128), dice.randrange(0xD800)))),
        ))  # fmt: skip
        text = (text[:start] + middle + text[end:])[:200_000]
    return text


def damaged_bytes(data: bytes, number: int) -> bytes:
    """As `damaged`, of bytes; half of the time only single bits and lengths change."""
    dice = random.Random(number)
    damaged = bytearray(data)
    for _ in range(dice.randint(0, 5)):
        at = dice.randint(0, len(damaged))
        choice = dice.random()
        if choice < 0.4 and at < len(damaged):
            damaged[at] ^= 1 << dice.randrange(8)
        elif choice < 0.6:
            damaged[at:at] = dice.choice(
                (b"\xff" * 9, b"\x80", b"\0\0", b"\x7f\xff\xff\xff", b"\xc0\x0c")
            )
        elif choice < 0.8:
            del damaged[at : at + dice.choice((1, 2, 8, 100))]
        else:
            damaged[at:at] = damaged[at : at + dice.choice((2, 20, 200))] * dice.choice((1, 30))
    return bytes(damaged[:200_000])


NUMBERS = st.integers(min_value=0, max_value=2**32)
_SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(allow_nan=False),
    st.sampled_from(NASTY), st.text(max_size=8),
)  # fmt: skip
JSON = st.recursive(
    _SCALARS,
    lambda inside: st.one_of(
        st.lists(inside, max_size=4),
        st.dictionaries(st.sampled_from(("a", "", "name", "Type")), inside),
    ),
    max_leaves=12,
)


def texts(*good: str) -> st.SearchStrategy[str]:
    """Good texts that were damaged, and some that never were good."""
    near = st.builds(damaged, st.sampled_from(good), NUMBERS)
    return st.one_of(near, near, near, st.text(max_size=60), st.sampled_from(NASTY))


def data(*good: bytes) -> st.SearchStrategy[bytes]:
    near = st.builds(damaged_bytes, st.sampled_from(good), NUMBERS)
    return st.one_of(near, near, near, st.binary(max_size=60))


def documents(*good: object) -> st.SearchStrategy[object]:
    """JSON values like the good ones, with parts replaced by anything."""
    return st.one_of(st.builds(_spoiled, st.sampled_from(good), JSON, NUMBERS), JSON)


def _spoiled(value, other, number):
    dice = random.Random(number)
    places = list(_places(value))
    chosen = set(dice.sample(range(len(places)), min(len(places), dice.choice((0, 1, 1, 2, 3)))))
    replaced = {places[index] for index in chosen}
    return _rebuilt(value, (), replaced, other)


def _places(value, path=()):
    if path:
        yield path
    rows = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, item in rows:
        yield from _places(item, (*path, key))


def _rebuilt(value, path, replaced, other):
    if path in replaced:
        return other
    if isinstance(value, dict):
        return {key: _rebuilt(item, (*path, key), replaced, other) for key, item in value.items()}
    if isinstance(value, list):
        return [_rebuilt(item, (*path, at), replaced, other) for at, item in enumerate(value)]
    return value


def fuzz(parse, values, *refusals):
    """Call ``parse`` with many values: it returns, or raises one of ``refusals``, in time."""

    @seed(SEED)
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        print_blob=False,
        phases=[Phase.explicit, Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(value=values)
    def check(value):
        began = time.thread_time()
        with contextlib.suppress(*refusals):
            parse(value)
        assert time.thread_time() - began < LONGEST_S, "the parser took too long"

    check()
