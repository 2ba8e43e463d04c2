from muntin.cluster.liveness import Liveness
from muntin.model.elections import ElectionConfig

ELECTION = ElectionConfig(lease_duration_s=6, renew_deadline_s=5, retry_period_s=2)


def test_who_says_nothing_for_as_long_as_a_lease_lasts_hangs():
    liveness = Liveness(ELECTION)
    assert liveness.period_s == 2
    found = [liveness.hung({"a": "1 1", "b": f"2 {look}"}) for look in range(6)]
    assert found == [[], [], [], [], ["a"], []]


def test_a_word_in_time_begins_the_count_anew():
    liveness = Liveness(ELECTION)
    words = ["1 1", "1 1", "1 1", "1 2", "1 2", "1 2", "1 2", "1 2"]
    found = [liveness.hung({"a": text}) for text in words]
    assert found == [[], [], [], [], [], [], [], ["a"]]


def test_who_has_said_nothing_yet_is_starting():
    liveness = Liveness(ELECTION)
    assert not any(liveness.hung({}) for _ in range(20))
