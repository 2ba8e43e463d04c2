"""Events combined, counted and left out; what kube-controller-manager 1.36 did is recorded."""

import pytest

from muntin.model.event_correlation import BURST, COMBINED, Correlator, Series


def event(message="m", reason="R", kind="Normal", name="web", field="", number=0):
    about = {"apiVersion": "apps/v1", "kind": "StatefulSet", "namespace": "ns", "name": name}
    return {
        "metadata": {"name": f"{name}.{number:x}", "namespace": "ns"},
        "involvedObject": {**about, **({"fieldPath": field} if field else {})},
        "type": kind,
        "reason": reason,
        "message": message,
        "firstTimestamp": f"t{number}",
        "lastTimestamp": f"t{number}",
        "count": 1,
        "reportingComponent": "c",
        "reportingInstance": "h",
    }


def written(*rows):
    """The message and count of what is created, and of what is patched with a ``+``."""
    correlator, found = Correlator(), []
    for number, (at, fields) in enumerate(rows):
        result = correlator.correlate(event(number=number, **fields), at)
        if result is None:
            found.append(None)
        elif result.patch is None:
            found.append(f"{result.event['message']} {result.event['count']}")
        else:
            found.append(f"+{result.patch['message']} {result.patch['count']}")
    return found


def texts(first, last):
    return [(0, {"message": str(number)}) for number in range(first, last)]


NINE = [f"{n} 1" for n in range(9)]


@pytest.mark.parametrize(
    "rows, expected",
    [
        # recorded: a StatefulSet of five with a claim each told of nine creations, and of the tenth
        (texts(0, 10), [*NINE, f"{COMBINED}9 1"]),
        (texts(0, 12)[9:], ["9 1", "10 1", "11 1"]),
        (texts(0, 12), [*NINE, f"{COMBINED}9 1",
                        f"+{COMBINED}10 2", f"+{COMBINED}11 3"]),
        # equal ones are counted, and make no tenth kind
        ([(0, {})] * 3, ["m 1", "+m 2", "+m 3"]),
        ([*texts(0, 9), *texts(0, 2)], [*NINE, "+0 2", "+1 2"]),
        # each part of an object, each type and each reason is told of by itself
        (
            [(0, {}), (0, {"field": "spec.containers{c}"}), (0, {"kind": "Warning"}),
             (0, {"reason": "S"}), (0, {"name": "db"})],
            ["m 1"] * 5,
        ),
        # ten minutes without one of its kind, and it is not alike any more
        ([*texts(0, 9), (600, {"message": "9"})], [*NINE, f"{COMBINED}9 1"]),
        ([*texts(0, 9), (601, {"message": "9"})], [*NINE, "9 1"]),
    ],
)  # fmt: skip
def test_what_is_written(rows, expected):
    assert written(*rows) == expected


def test_a_flood_is_cut_and_comes_back_one_in_five_minutes():
    found = written(*[(0, {})] * (BURST + 3), (300, {}), (301, {}), (301, {"kind": "Warning"}))
    assert found[BURST - 1 :] == [f"+m {BURST}", None, None, None, f"+m {BURST + 4}", None, "m 1"]


def test_what_is_combined_keeps_its_name_and_its_first_time():
    correlator = Correlator()
    found = [correlator.correlate(event(str(n), number=n), 0) for n in range(12)]
    first, last = found[9].event, found[11].event
    assert (last["metadata"], last["firstTimestamp"]) == (first["metadata"], "t9")
    assert found[11].patch == {"count": 3, "lastTimestamp": "t11", "message": f"{COMBINED}11"}
    assert (first["reportingComponent"], first["reportingInstance"]) == ("", "")


def test_a_name_that_had_to_be_changed_is_counted_on():
    correlator = Correlator()
    first = correlator.correlate(event(), 0)
    correlator.written(first.key, {**first.event, "metadata": {"name": "other", "namespace": "ns"}})
    assert correlator.correlate(event(), 0).event["metadata"]["name"] == "other"


def scheduling(number, note="no", version="1"):
    return {
        "regarding": {"kind": "Pod", "name": "p", "resourceVersion": version},
        "eventTime": f"t{number}",
        "type": "Warning",
        "reason": "FailedScheduling",
        "action": "Scheduling",
        "note": note,
    }


def test_a_series_is_told_of_when_it_begins_and_when_it_ends():
    series = Series()
    assert series.observe(scheduling(1), 0) == scheduling(1)
    assert series.finish(360) == []
    second = series.observe(scheduling(2, "other"), 100)
    assert second == {**scheduling(1), "series": {"count": 2, "lastObservedTime": "t2"}}
    assert series.observe(scheduling(3), 200) is None
    assert series.open() == [{**second, "series": {"count": 3, "lastObservedTime": "t3"}}]
    assert series.observe(scheduling(4, version="2"), 200) == scheduling(4, version="2")
    assert series.finish(560) == []
    ended = series.finish(561)
    assert [row["series"]["count"] for row in ended] == [3]
    assert series.observe(scheduling(5), 562) == scheduling(5)
