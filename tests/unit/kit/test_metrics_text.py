"""Metrics in Prometheus' text form."""

from muntin.kit.metrics import Collected, Counter, Families, Gauge, Histogram, process


def test_families_in_order_of_their_names():
    families = Families()
    gauge = families.add(Gauge("b_gauge", "Up and down.", ("kind",)))
    counter = families.add(Counter("a_total", "Only up."))
    families.add(Collected("c_read", "When asked.", ("x", "y"), lambda: [(("1", "2"), 0.5)]))
    gauge.set(('say "hi"\n',), 3)
    gauge.add(("n",), -1)
    counter.add()
    assert families.text() == (
        "# HELP a_total Only up.\n# TYPE a_total counter\na_total 1\n"
        "# HELP b_gauge Up and down.\n# TYPE b_gauge gauge\n"
        'b_gauge{kind="n"} -1\nb_gauge{kind="say \\"hi\\"\\n"} 3\n'
        '# HELP c_read When asked.\n# TYPE c_read gauge\nc_read{x="1",y="2"} 0.5\n'
    )


def test_a_histogram_counts_up_to_each_bound():
    histogram = Histogram("h", "Sizes.", ("k",), (1, 2.5))
    for number in (0.5, 1, 2, 9):
        histogram.observe(("a",), number)
    assert list(histogram.lines())[2:] == [
        'h_bucket{k="a",le="1"} 2',
        'h_bucket{k="a",le="2.5"} 3',
        'h_bucket{k="a",le="+Inf"} 4',
        'h_sum{k="a"} 12.5',
        'h_count{k="a"} 4',
    ]


def test_a_process_tells_of_itself():
    families = Families()
    process(families)
    text = families.text()
    values = dict(line.split() for line in text.splitlines() if not line.startswith("#"))
    assert float(values["process_resident_memory_bytes"]) > 1e6
    assert float(values["process_open_fds"]) >= 3
    assert float(values["process_start_time_seconds"]) > 1.6e9
