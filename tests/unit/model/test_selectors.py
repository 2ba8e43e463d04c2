"""Label and field selectors, after apimachinery pkg/labels and pkg/fields."""

from __future__ import annotations

import pytest

from muntin.kit.errors import Invalid
from muntin.model import selectors
from muntin.model.resources import DEPLOYMENTS, EVENTS, EVENTS_V1, NODES, PODS

LABELS = {"app": "web", "tier": "front", "n": "5", "empty": ""}

MATCHES = [
    ("", True),
    ("app=web", True),
    ("app==web", True),
    ("app!=web", False),
    ("missing!=web", True),
    ("app in (web, api)", True),
    ("app notin (web,api)", False),
    ("missing notin (a)", True),
    ("missing in (a)", False),
    ("app", True),
    ("!app", False),
    ("! missing", True),
    ("n>4", True),
    ("n<5", False),
    ("app>4", False),
    ("empty=", True),
    ("empty in (,x)", True),
    ("app=web,tier=front", True),
    ("app=web,tier=back", False),
    ("example.com/x notin (y),app", True),
]


@pytest.mark.parametrize(("text", "expected"), MATCHES)
def test_text_selectors(text: str, expected: bool) -> None:
    assert selectors.parse_labels(text).matches(LABELS) is expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("=a", "found '=', expected: identifier"),
        ("a=b=c", "found '=', expected: ',' or 'end of string'"),
        ("a b", "found 'b', expected: in, notin, =, ==, !=, gt, lt"),
        ("a in", "found '' expected: '('"),
        ("a in (b", "found '', expected: ',' or ')'"),
        ("a=b,,c", "found ',', expected: identifier"),
        ("a=b,", "found '', expected: identifier"),
        ("-a=b", "name part must consist of"),
        ("a=-b", "a valid label must be"),
        ("a>b", "the value must be an integer"),
    ],
)
def test_bad_text_is_refused_in_upstreams_words(text: str, message: str) -> None:
    with pytest.raises(Invalid) as caught:
        selectors.parse_labels(text)
    assert caught.value.message.startswith("unable to parse requirement: ")
    assert message in caught.value.message


def test_text_form_is_sorted_and_reads_back() -> None:
    text = str(selectors.parse_labels("z!=1,b in (y,x),!a,c"))
    assert text == "!a,b in (x,y),c,z!=1"
    assert str(selectors.parse_labels(text)) == text


def test_label_selector_objects() -> None:
    expressions = [
        {"key": "tier", "operator": "In", "values": ["front", "back"]},
        {"key": "x", "operator": "DoesNotExist"},
    ]
    chosen = selectors.labels_of({"matchLabels": {"app": "web"}, "matchExpressions": expressions})
    assert chosen.matches(LABELS)
    assert not chosen.matches({**LABELS, "x": "1"})
    assert not chosen.matches({"app": "web"})
    assert chosen.exact() == {"app": "web"}


def test_null_selects_nothing_and_empty_everything() -> None:
    assert not selectors.labels_of(None).matches({})
    assert selectors.labels_of({}).is_everything
    assert not selectors.labels_equal({}).matches({})  # a Service without a selector


def test_unknown_operator_of_an_object_is_refused() -> None:
    with pytest.raises(Invalid, match="not a valid label selector operator"):
        selectors.labels_of({"matchExpressions": [{"key": "a", "operator": "Like"}]})


POD = {
    "metadata": {"name": "web", "namespace": "default"},
    "spec": {"nodeName": "win01"},
    "status": {"phase": "Running", "podIPs": [{"ip": "10.0.0.1"}, {"ip": "fd00::1"}]},
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", True),
        ("metadata.name=web,metadata.namespace==default", True),
        ("spec.nodeName!=win01", False),
        ("status.phase=Running,spec.nodeName=win01", True),
        ("spec.hostNetwork=false", True),
        ("status.podIPs=10.0.0.1\\,fd00::1", True),
        ("status.nominatedNodeName=", True),
    ],
)
def test_field_selectors(text: str, expected: bool) -> None:
    chosen = selectors.parse_fields(text, PODS)
    assert chosen.matches(selectors.object_fields(PODS, POD)) is expected


def test_exact_field() -> None:
    chosen = selectors.parse_fields("spec.nodeName=win01,status.phase!=Failed", PODS)
    assert chosen.exact("spec.nodeName") == "win01"
    assert chosen.exact("status.phase") is None


def test_fields_that_a_kind_does_not_offer() -> None:
    with pytest.raises(Invalid, match=r"field label not supported: spec\.image"):
        selectors.parse_fields("spec.image=x", PODS)
    with pytest.raises(Invalid, match=r"only \"metadata.name\", \"metadata.namespace\""):
        selectors.parse_fields("spec.replicas=1", DEPLOYMENTS)
    with pytest.raises(Invalid, match="can't understand 'a'"):
        selectors.parse_fields("a", PODS)


@pytest.mark.parametrize(
    "text, expected",
    [
        ("regarding.uid=u,regarding.kind=Pod", True),
        ("reportingController=kubelet,type=Warning", True),
        ("reportingController!=kubelet", False),
        ("regarding.name=other", False),
    ],
)
def test_events_of_the_newer_group_are_selected_by_its_field_names(
    text: str, expected: bool
) -> None:
    event = {
        "metadata": {"name": "e", "namespace": "default"},
        "involvedObject": {"kind": "Pod", "uid": "u", "name": "one"},
        "reportingComponent": "kubelet",
        "type": "Warning",
    }
    chosen = selectors.parse_fields(text, EVENTS_V1)
    assert chosen.matches(selectors.object_fields(EVENTS, event)) is expected
    with pytest.raises(Invalid, match=r"field label not supported: involvedObject\.uid"):
        selectors.parse_fields("involvedObject.uid=u", EVENTS_V1)


def test_fields_of_events_and_nodes() -> None:
    event = {
        "metadata": {"name": "e", "namespace": "default"},
        "involvedObject": {"kind": "Pod", "uid": "u"},
        "source": {"component": "kubelet"},
        "type": "Warning",
    }
    fields = selectors.object_fields(EVENTS, event)
    assert (fields["involvedObject.uid"], fields["source"]) == ("u", "kubelet")
    node = {"metadata": {"name": "n"}, "spec": {"unschedulable": True}}
    assert selectors.object_fields(NODES, node)["spec.unschedulable"] == "true"
