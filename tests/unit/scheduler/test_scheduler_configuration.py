"""KubeSchedulerConfiguration: which plugins decide, how much each counts, and what is refused."""

import base64

import pytest
from cluster_of import cluster, node, pod, schedule

from muntin.kit.errors import Invalid
from muntin.scheduler.configuration import read

SSD = {"disk": "ssd"}


def only(**fields):
    return read({"profiles": [fields]}).profiles[0]


def args(name, **found):
    return only(pluginConfig=[{"name": name, "args": found}])


def weights(profile):
    return {plugin.name: weight for plugin, weight in profile.scores}


def names(profile):
    return [plugin.name for plugin in profile.filters]


def test_the_defaults():
    config = read({"apiVersion": "kubescheduler.config.k8s.io/v1"})
    (profile,) = config.profiles
    assert profile.scheduler_name == "default-scheduler"
    assert profile.preempts
    found = weights(profile)
    assert found["TaintToleration"] == 3
    assert found["PodTopologySpread"] == found["InterPodAffinity"] == found["NodeAffinity"] == 2
    assert found["NodeResourcesFit"] == found["ImageLocality"] == 1
    assert (config.initial_backoff_s, config.max_backoff_s) == (1.0, 10.0)


def test_enable_disable_and_weights():
    plugins = {
        "score": {
            "disabled": [{"name": "*"}],
            "enabled": [{"name": "NodeResourcesFit", "weight": 7}, {"name": "ImageLocality"}],
        },
        "filter": {"disabled": [{"name": "NodePorts"}]},
        "postFilter": {"disabled": [{"name": "DefaultPreemption"}]},
    }
    profile = only(plugins=plugins)
    assert weights(profile) == {"NodeResourcesFit": 7, "ImageLocality": 1}
    assert "NodePorts" not in names(profile)
    assert "NodeResourcesFit" in names(profile)
    assert not profile.preempts


def test_multi_point_speaks_for_all_points():
    plugins = {
        "multiPoint": {
            "disabled": [{"name": "NodeAffinity"}],
            "enabled": [{"name": "TaintToleration", "weight": 9}],
        },
        "score": {"enabled": [{"name": "NodeAffinity", "weight": 4}]},
    }
    profile = only(plugins=plugins)
    assert "NodeAffinity" not in names(profile)
    assert weights(profile)["NodeAffinity"] == 4
    assert weights(profile)["TaintToleration"] == 9


def test_a_disabled_filter_lets_pods_pass_and_preempt_nobody():
    profile = only(
        plugins={
            "filter": {"disabled": [{"name": "NodeResourcesFit"}]},
            "multiPoint": {"disabled": [{"name": "DefaultPreemption"}]},
        }
    )
    state = cluster(node("n"), n=[pod("a", cpu="4")])
    assert schedule(pod(cpu="2"), state, profile=profile).node == "n"


def test_several_profiles_and_percentages():
    config = read(
        {
            "percentageOfNodesToScore": 30,
            "profiles": [
                {"schedulerName": "a"},
                {"schedulerName": "b", "percentageOfNodesToScore": 100},
            ],
        }
    )
    assert [(p.scheduler_name, p.percentage) for p in config.profiles] == [("a", 30), ("b", 100)]


def test_most_allocated_fills_nodes():
    profile = args("NodeResourcesFit", scoringStrategy={"type": "MostAllocated"})
    state = cluster(node("a"), node("b"), b=[pod("x", cpu="1", memory="2Gi")])
    assert schedule(pod(cpu="1", memory="2Gi"), state, profile=profile).node == "b"
    assert schedule(pod(cpu="1", memory="2Gi"), state).node == "a"


def test_a_shape_of_ones_own():
    shape = [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]
    strategy = {
        "type": "RequestedToCapacityRatio",
        "resources": [{"name": "example.com/gpu", "weight": 3}],
        "requestedToCapacityRatio": {"shape": shape},
    }
    profile = args("NodeResourcesFit", scoringStrategy=strategy)
    gpu = {"limits": {"example.com/gpu": "1"}, "requests": {"example.com/gpu": "1"}}
    nodes = [node("a"), node("b")]
    for found in nodes:
        found["status"]["allocatable"]["example.com/gpu"] = "4"
    taken, wanted = pod("x"), pod("p")
    for found in (taken, wanted):
        found["spec"]["containers"][0]["resources"] = gpu
    state = cluster(*nodes, b=[taken])
    assert schedule(wanted, state, profile=profile).node == "b"


def test_ignored_resources_are_left_to_others():
    wanted = pod("p")
    requests = {"requests": {"example.com/foo": "1"}}
    wanted["spec"]["containers"][0]["resources"] = requests
    assert schedule(wanted, cluster(node("n"))).node == ""
    for found in (
        {"ignoredResources": ["example.com/foo"]},
        {"ignoredResourceGroups": ["example.com"]},
    ):
        profile = args("NodeResourcesFit", **found)
        assert schedule(wanted, cluster(node("n")), profile=profile).node == "n"


def test_affinity_that_the_profile_adds():
    term = {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    profile = args("NodeAffinity", addedAffinity=required)
    state = cluster(node("a"), node("b", labels=SSD))
    assert schedule(pod(), state, profile=profile).node == "b"
    message = schedule(pod(), cluster(node("a")), profile=profile).message
    assert "1 node(s) didn't match scheduler-enforced node affinity" in message


def test_constraints_that_the_profile_adds():
    rows = [{"topologyKey": "zone", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}]
    profile = args("PodTopologySpread", defaultingType="List", defaultConstraints=rows)
    from muntin.model.selectors import labels_of

    web = {"app": "web"}
    state = cluster(
        node("a", labels={"zone": "x"}),
        node("b", labels={"zone": "y"}, unschedulable=True),
        a=[pod("w", labels=web)],
    )
    new = pod("new", labels=web)
    options = {"profile": profile, "default_spread": labels_of({"matchLabels": web})}
    assert "topology spread" in schedule(new, state, **options).message


def test_extenders():
    row = {
        "urlPrefix": "http://127.0.0.1:8888/scheduler/",
        "filterVerb": "filter",
        "weight": 2,
        "httpTimeout": "5s",
        "managedResources": [{"name": "example.com/foo", "ignoredByScheduler": True}],
    }
    config = read({"extenders": [row]})
    (found,) = config.extenders
    assert found.url_prefix == "http://127.0.0.1:8888/scheduler"
    assert (found.filter_verb, found.weight, found.timeout_s) == ("filter", 2, 5.0)
    assert config.profiles[0].args["NodeResourcesFit"]["ignoredResources"] == ["example.com/foo"]
    pem = "-----BEGIN CERTIFICATE-----"
    tls = {"caData": base64.b64encode(pem.encode()).decode()}
    (found,) = read({"extenders": [{"urlPrefix": "https://x", "tlsConfig": tls}]}).extenders
    assert found.ca == pem


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"apiVersion": "v1"}, "apiVersion: 'v1' is unknown; use kubescheduler.config.k8s.io/v1"),
        ({"profile": []}, "profile: unknown field; known: apiVersion"),
        ({"percentageOfNodesToScore": 101}, "percentageOfNodesToScore: 101 must be a whole number"),
        ({"podInitialBackoffSeconds": 20}, "podMaxBackoffSeconds: must not be less"),
        ({"profiles": [{}, {}]}, "profiles: two of them have one schedulerName"),
        ({"profiles": {}}, "profiles: must be a list of mappings"),
        (
            {"profiles": [{"plugins": {"scores": {}}}]},
            "profiles[0].plugins.scores: unknown field; known: multiPoint",
        ),
        (
            {"profiles": [{"plugins": {"score": {"enabled": [{"name": "Nope"}]}}}]},
            "profiles[0].plugins.score.enabled: 'Nope' is no plugin; there are SchedulingGates",
        ),
        (
            {"profiles": [{"pluginConfig": [{"name": "InterPodAffinity", "args": {"x": 1}}]}]},
            "profiles[0].pluginConfig.InterPodAffinity.x: unknown field; known: hardPodAffinity",
        ),
        (
            {
                "profiles": [
                    {
                        "pluginConfig": [
                            {"name": "InterPodAffinity", "args": {"hardPodAffinityWeight": 101}}
                        ]
                    }
                ]
            },
            "hardPodAffinityWeight: 101 must be a whole number of 0 to 100",
        ),
        ({"extenders": [{"urlPrefix": "x"}]}, "extenders[0].urlPrefix: 'x' must begin with http"),
        (
            {"extenders": [{"urlPrefix": "http://x", "bindVerb": "b"}] * 2},
            "extenders: only one extender can implement bind",
        ),
        (
            {"extenders": [{"urlPrefix": "http://x", "httpTimeout": "soon"}]},
            "extenders[0].httpTimeout: 'soon' is no duration",
        ),
    ],
)
def test_what_is_refused(document, message):
    with pytest.raises(Invalid) as found:
        read(document)
    assert message in found.value.message


@pytest.mark.parametrize(
    ("plugin", "found", "message"),
    [
        ("NodeResourcesFit", {"scoringStrategy": {"type": "Best"}}, "'Best' is unknown"),
        (
            "NodeResourcesFit",
            {"scoringStrategy": {"type": "RequestedToCapacityRatio"}},
            "at least one point must be specified",
        ),
        (
            "NodeResourcesFit",
            {
                "scoringStrategy": {
                    "type": "RequestedToCapacityRatio",
                    "requestedToCapacityRatio": {
                        "shape": [{"utilization": 5, "score": 1}, {"utilization": 5, "score": 2}]
                    },
                }
            },
            "utilization must rise from point to point, 5 does not",
        ),
        (
            "PodTopologySpread",
            {"defaultConstraints": [{"topologyKey": "zone"}], "defaultingType": "System"},
            "only with defaultingType: List",
        ),
        (
            "PodTopologySpread",
            {"defaultConstraints": [{"topologyKey": "zone", "labelSelector": {}}]},
            "must not have a labelSelector",
        ),
        ("DefaultPreemption", {"minCandidateNodesPercentage": 200}, "200 must be a whole number"),
        ("NodeResourcesBalancedAllocation", {"resources": [{}]}, "a resource without a name"),
    ],
)
def test_arguments_that_are_refused(plugin, found, message):
    with pytest.raises(Invalid) as err:
        args(plugin, **found)
    assert message in err.value.message
