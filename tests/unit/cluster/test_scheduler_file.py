"""The scheduler's configuration and simulated nodes, as the Cluster file says them."""

import re

import pytest

from muntin.cluster import certificates, config_store
from muntin.cluster.overrides import Overrides, apply
from muntin.cluster.settings import Draft, resolve
from muntin.cluster.settings_file import decode
from muntin.kit.errors import Invalid
from muntin.scheduler.configuration import read

HEAD = "apiVersion: muntin.dev/v1alpha1\nkind: Cluster\n"
PROFILE = """scheduler:
  apiVersion: kubescheduler.config.k8s.io/v1
  kind: KubeSchedulerConfiguration
  percentageOfNodesToScore: 40
  profiles:
  - schedulerName: packer
    pluginConfig:
    - name: NodeResourcesFit
      args: {scoringStrategy: {type: MostAllocated}}
"""


def test_it_is_read_and_kept_as_it_stands():
    config = resolve(decode(HEAD + PROFILE + "simulatedNodes: 100\n", "f"))
    kept = config_store.decode(config_store.encode(config))
    assert kept == config
    assert kept.simulated_nodes == 100
    (profile,) = read(kept.scheduler).profiles
    assert (profile.scheduler_name, profile.percentage) == ("packer", 40)


def test_without_it_the_scheduler_has_its_defaults():
    config = resolve(decode(HEAD, "f"))
    assert (config.scheduler, config.simulated_nodes) == ({}, 0)
    assert not any(row.file == "simulated-nodes" for row in certificates.requests(config))


def test_the_flag_wins_and_gives_the_nodes_an_identity():
    config = resolve(apply(Draft(simulated_nodes=5), Overrides(simulated_nodes=7)))
    assert config.simulated_nodes == 7
    (row,) = [row for row in certificates.requests(config) if row.file == "simulated-nodes"]
    assert row.common_name == "muntin:simulated-nodes"
    with pytest.raises(Invalid, match="--simulated-nodes: -1 must be 0 to 10000"):
        resolve(apply(Draft(), Overrides(simulated_nodes=-1)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("scheduler: x\n", "f:3:12: scheduler: must be a mapping"),
        ("scheduler:\n  profile: []\n", "f:4:3: scheduler: profile: unknown field; known:"),
        (
            "scheduler:\n  profiles:\n  - plugins: {score: {enabled: [{name: Nope}]}}\n",
            "f:4:3: scheduler: profiles[0].plugins.score.enabled: 'Nope' is no plugin",
        ),
        ("simulatedNodes: many\n", "f:3:17: simulatedNodes: must be a whole number"),
        ("simulatedNodes: 10001\n", "f:3:17: simulatedNodes: 10001 must be 0 to 10000"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(text, message):
    with pytest.raises(Invalid, match=re.escape(message)):
        resolve(decode(HEAD + text, "f"))
