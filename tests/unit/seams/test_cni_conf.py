"""Network configurations and results, in the versions that are about."""

import pytest

from muntin.kit.errors import Invalid, NotFound, Unavailable
from muntin.seams.cni import conf, errors, result


def test_a_list_and_a_single_plugin():
    network = conf.parse(
        '{"cniVersion": "1.0.0", "name": "n", "plugins": [{"type": "a", "x": 1}, {"type": "b"}]}'
    )
    assert (network.name, network.cni_version) == ("n", "1.0.0")
    assert [plugin.type for plugin in network.plugins] == ["a", "b"]
    single = conf.parse('{"name": "n", "type": "a"}')
    assert (single.cni_version, [plugin.type for plugin in single.plugins]) == ("0.1.0", ["a"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON"),
        ("[]", "not a JSON object"),
        ('{"plugins": [{"type": "a"}]}', "name is missing"),
        ('{"name": "n", "plugins": []}', "not empty"),
        ('{"name": "n", "plugins": [{}]}', "needs a type"),
    ],
)
def test_broken_ones_name_the_file(text, message):
    with pytest.raises(Invalid, match=f"x.conflist: .*{message}"):
        conf.parse(text, source="x.conflist")


def test_the_first_file_counts(tmp_path):
    with pytest.raises(NotFound, match="no networks found"):
        conf.load(tmp_path / "absent")
    (tmp_path / "20-b.conflist").write_text('{"name": "b", "type": "x"}')
    (tmp_path / "10-a.conf").write_text('{"name": "a", "type": "x"}')
    (tmp_path / "00-note.txt").write_text("no")
    assert conf.load(tmp_path).name == "a"


def test_what_a_plugin_reads():
    network = conf.parse(
        '{"cniVersion": "1.0.0", "name": "n", "plugins": '
        '[{"type": "a", "capabilities": {"dns": true, "portMappings": false}, "x": {"y": 1}}]}'
    )
    args = {"dns": {"servers": ["10.96.0.10"]}, "portMappings": [1], "bandwidth": {}}
    given = conf.plugin_input(
        network, network.plugins[0], capability_args=args, previous={"ips": []}
    )
    assert given == {
        "type": "a",
        "x": {"y": 1},
        "name": "n",
        "cniVersion": "1.0.0",
        "runtimeConfig": {"dns": {"servers": ["10.96.0.10"]}},
        "prevResult": {"ips": []},
    }


@pytest.mark.parametrize(
    "document",
    [
        {"cniVersion": "1.0.0", "ips": [{"address": "10.0.0.5/24", "gateway": "10.0.0.1"}]},
        {
            "cniVersion": "0.3.1",
            "ips": [{"version": "4", "address": "10.0.0.5/24", "gateway": "10.0.0.1"}],
        },
        {"cniVersion": "0.2.0", "ip4": {"ip": "10.0.0.5/24", "gateway": "10.0.0.1"}},
    ],
)
def test_results_of_all_versions(document):
    (address,) = result.parse(document).addresses
    assert str(address.interface) == "10.0.0.5/24"
    assert str(address.gateway) == "10.0.0.1"


def test_a_result_that_cannot_be_read():
    with pytest.raises(Invalid, match="CNI result"):
        result.parse({"ips": [{"address": "nonsense"}]})


@pytest.mark.parametrize(
    ("stdout", "error", "text"),
    [
        (b'{"code": 11, "msg": "busy"}', Unavailable, "busy"),
        (b'{"code": 3, "msg": "gone", "details": "c1"}', NotFound, "gone; c1"),
        (b"", errors.CniInternal, "boom"),
        (b"not json", errors.CniInternal, "not json"),
    ],
)
def test_errors_of_plugins(stdout, error, text):
    made = errors.parse_error(stdout, b"boom\n", 1, "win-bridge")
    assert isinstance(made, error)
    assert made.message == f'plugin type="win-bridge" failed: {text}'
