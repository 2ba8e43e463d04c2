"""The part apiServer.admission of the Cluster file."""

import pytest

from muntin.apiserver.admission_config import (
    AdmissionConfig,
    EventRateLimit,
    LimitedResource,
    PodSecurityConfig,
)
from muntin.cluster import config_store
from muntin.cluster.settings import resolve
from muntin.cluster.settings_file import read
from muntin.kit.errors import Invalid

HEAD = "apiVersion: muntin.dev/v1alpha1\nkind: Cluster\napiServer:\n  admission:\n"


def written(folder, text):
    path = folder / "cluster.yaml"
    path.write_text(HEAD + "".join(f"    {line}\n" for line in text.strip().splitlines()))
    return resolve(read(path))


def test_all_of_it(tmp_path):
    config = written(
        tmp_path,
        """
enable: [AlwaysPullImages, EventRateLimit]
disable: [DefaultStorageClass]
podSecurity: {enforce: baseline, warn: "restricted:v1.2", exemptNamespaces: [kube-system]}
limited: [{resource: pods, matchContains: [gpu]}]
eventRateLimits: [{type: Namespace, qps: 50, burst: 100}]
nodeSelectors: {clusterDefaultNodeSelector: env=test}
""",
    )
    assert config.admission == AdmissionConfig(
        enable=("AlwaysPullImages", "EventRateLimit"),
        disable=("DefaultStorageClass",),
        pod_security=PodSecurityConfig(
            enforce="baseline:latest",
            warn="restricted:v1.2",
            exempt_namespaces=("kube-system",),
        ),
        limited_resources=(LimitedResource(resource="pods", match_contains=("gpu",)),),
        event_rate_limits=(EventRateLimit(type="Namespace", qps=50, burst=100),),
        node_selectors=(("clusterDefaultNodeSelector", "env=test"),),
    )
    assert config_store.decode(config_store.encode(config)) == config


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("enable: [AlwaysPull]", "AlwaysPull is no admission plugin; there are AlwaysPullImages"),
        ("{enable: [LimitRanger], disable: [LimitRanger]}", "LimitRanger is enabled too"),
        ("podSecurity: {enforce: tight}", "must be one of privileged, baseline, restricted"),
        ("podSecurity: {audit: 'baseline:1.2'}", 'must be "latest" or "v1.x"'),
        ("eventRateLimits: [{type: Pod, qps: 1, burst: 1}]", "Pod must be one of Server"),
        ("eventRateLimits: [{type: User, qps: 0, burst: 1}]", "0 must be 1 or more"),
        ("plugins: []", "plugins"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(tmp_path, text, why):
    with pytest.raises(Invalid, match=why) as caught:
        written(tmp_path, text)
    assert "cluster.yaml" in caught.value.message
