"""What the administrator's client makes of the API server's answers."""

from muntin.cluster.admin import is_ready


def node(status, said_at):
    row = {"type": "Ready", "status": status, "lastHeartbeatTime": said_at}
    return {"status": {"conditions": [{"type": "DiskPressure", "status": "False"}, row]}}


def test_a_node_is_ready_when_it_says_so():
    assert is_ready(node("True", "2026-01-02T03:04:05Z"))
    assert not is_ready(node("False", "2026-01-02T03:04:05Z"))
    assert not is_ready({"status": {}})


def test_what_a_node_said_in_the_clusters_former_life_does_not_count():
    assert not is_ready(node("True", "2026-01-02T03:04:05Z"), since="2026-01-02T03:04:06Z")
    assert is_ready(node("True", "2026-01-02T03:04:06Z"), since="2026-01-02T03:04:06Z")
