"""The check of what a store's users saw: what must not be is found."""

from __future__ import annotations

import pytest
from store_history import Call, History

from muntin.seams.store import Change

A, B = "/k/a", "/k/b"
LOG = [
    Change(A, b"one", 2, 2),
    Change(A, b"two", 2, 3),
    Change(B, b"b", 4, 4),
    Change(A, None, 2, 5),
]


def ok(revision, **more):
    return {"outcome": "ok", "result": {"revision": revision, **more}}


def calls():
    return [
        Call("1", 1.0, "create", A, "one", 0, 2.0, **ok(2)),
        Call("2", 3.0, "update", A, "two", 2, 4.0, **ok(3)),
        Call("3", 3.0, "create", B, "b", 0),  # nobody heard of its end
        Call("4", 5.0, "get", A, None, 0, 6.0, **ok(3, value="two")),
        Call("5", 5.0, "update", A, "never", 2, 6.0, "conflict"),
        Call("6", 7.0, "delete", A, None, 3, 8.0, **ok(5)),
        Call("7", 9.0, "get", A, None, 0, 10.0, "missing"),
        Call("8", 9.0, "list", A, None, 0, 10.0, **ok(5, rows=[[B, "b", 4]])),
        Call("9", 9.0, "create", B, "no", 0, 10.0, "exists"),
    ]


def seen():
    return {
        "/k/": [
            (3, [[A, "one", 2, 2], [A, "two", 2, 3]]),
            (4, [[B, "b", 4, 4]]),
            (5, [[A, None, 2, 5]]),
        ],
        "/k/b": [(3, []), (5, [[B, "b", 4, 4]])],
    }


def check(log=LOG, change=lambda calls, seen: None):
    found, watched = calls(), seen()
    change(found, watched)
    history = History(True, {call.number: call for call in found}, watched)
    history.check(list(log), 1)


def put(number, **values):
    def change(calls, seen):
        for name, value in values.items():
            setattr(calls[number - 1], name, value)

    return change


def test_what_fits_passes():
    check()
    check(change=put(4, begun=7.5, ended=7.6, outcome="missing", result={}))  # while it is deleted


def watched(prefix, number, revision, rows):
    def change(calls, seen):
        seen[prefix][number] = (revision, rows)

    return change


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (put(1, result={"revision": 7}), "acknowledged, and lost"),
        (put(3, outcome="unavailable", ended=4.0), "refused, and written"),
        (put(3, value="other"), "or by nobody"),
        (put(2, expected=1), "expected=1"),
        (put(1, begun=4.5, ended=4.6), "has an earlier revision"),
        (put(4, result={"revision": 2, "value": "one"}), "no state from"),  # a stale read
        (put(7, outcome="exists"), "no state from"),
        (put(5, outcome="missing"), "no state from"),
        (put(8, result={"revision": 4, "rows": []}), "a list of another time"),
        (put(8, result={"revision": 5, "rows": []}), "'/k/b'"),
        (watched("/k/", 1, 4, []), "/k/ at 4"),  # lost
        (watched("/k/", 1, 4, [[B, "b", 4, 4], [B, "b", 4, 4]]), "/k/ at 4"),  # doubled
        (watched("/k/", 1, 2, [[B, "b", 4, 4]]), "ran back"),
        (watched("/k/b", 0, 4, []), "/k/b at 4"),  # progress before the event
    ],
)
def test_what_does_not_fit_is_found(change, why):
    with pytest.raises(AssertionError) as caught:
        check(change=change)
    assert why in str(caught.value)


def test_a_log_that_is_none_is_found():
    with pytest.raises(AssertionError):
        check([LOG[0], LOG[0]])
    with pytest.raises(AssertionError):
        check([Change(A, None, 0, 2)])
