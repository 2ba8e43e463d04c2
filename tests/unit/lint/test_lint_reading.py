"""Whatever a file holds: its documents, or one clear finding with the place."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muntin.lint import lint_text
from muntin.lint.texts import MAX_BYTES, read_bytes, read_text

BOMB = "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{new}: &{new} [{','.join(f'*{old}' for _ in range(10))}]\n"
    for old, new in zip("abcdefg", "bcdefgh", strict=True)
)


@pytest.mark.parametrize(
    ("text", "rule", "line", "column"),
    [
        ("a: [1\n", "yaml-syntax", 1, 4),
        ("a:\n\t- b\n", "yaml-syntax", 2, 1),
        ("a: 1\n  b: 2\n", "yaml-syntax", 2, 4),
        ("a: *x\n", "yaml-syntax", 1, 4),
        ("a: \x01\n", "yaml-syntax", 1, 4),
        ("a: 1\nb: 2\na: 3\n", "duplicate-key", 3, 1),
        ("? [a]\n: 1\n", "yaml-key", 1, 3),
        ("a: &x\n  b: *x\n", "yaml-anchors", 1, 4),
        (BOMB, "yaml-anchors", 7, 4),
        ("[" * 300 + "]" * 300, "yaml-syntax", 1, 201),
        ("a: b\nimage: {{ .Values.image }}\n", "not-rendered", 2, 8),
        ("{{- if .Values.x }}\na: 1\n{{- end }}\n", "not-rendered", 1, 1),
        ("name: {{ include \"x\" . }}-web\n", "not-rendered", 1, 7),
        ("a: x-{{ .Release.Name }}\n", "not-rendered", 1, 6),
        ('{"a": 1, // why\n "b": 2}\n', "json-comment", 1, 10),
        ('{"a": 1, /* why */ "b": 2}\n', "json-comment", 1, 10),
    ],
)  # fmt: skip
def test_one_finding_with_the_place(text, rule, line, column):
    found = lint_text(text)
    assert [(one.rule, one.line, one.column) for one in found] == [(rule, line, column)]
    assert found[0].summary


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("", []),
        ("---\n---\na: 1\n", [None, {"a": 1}]),
        ('{\n\t"a": "//", "b": ["#", "/* */"]}', [{"a": "//", "b": ["#", "/* */"]}]),
        ("summary: up {{ $labels.x }}\n", [{"summary": "up {{ $labels.x }}"}]),
        ('a: "{{ .x }}"\n', [{"a": "{{ .x }}"}]),
        ("a: |\n  {{ .Values.x }}\n", [{"a": "{{ .Values.x }}\n"}]),
        ("# {{ .Values.x }}\na: 1\n", [{"a": 1}]),
        ("a: &x {b: 1}\nc:\n  <<: *x\n  d: 2\n", [{"a": {"b": 1}, "c": {"b": 1, "d": 2}}]),
        ("a: yes\nb: 'yes'\nc: 0o17\n", [{"a": True, "b": "yes", "c": 15}]),
    ],
)
def test_documents(text, data):
    documents, problems = read_text(text, "x.yaml")
    assert problems == []
    assert [document.data for document in documents] == data


@pytest.mark.parametrize(
    ("name", "found"),
    [("x.json", ["json-syntax"]), ("x.conflist", ["json-syntax"]), ("x.yaml", [])],
)
def test_what_json_refuses_and_yaml_takes(name, found):
    problems = read_text('{"a": [1,]}', name)[1]
    assert [problem.rule for problem in problems] == found


def test_encodings():
    text = "kind: Pod\nname: é\n"
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        documents, problems = read_bytes(text.encode(encoding), "x")
        assert problems == []
        assert documents[0].data == {"kind": "Pod", "name": "é"}
    (problem,) = read_bytes("kind: Pod\nname: é\n".encode("latin-1"), "x")[1]
    assert (problem.rule, problem.line, problem.column) == ("encoding", 2, 7)
    (problem,) = read_bytes(b" " * (MAX_BYTES + 1), "x")[1]
    assert problem.rule == "too-large"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)
_NAMES = (
    "spec metadata template containers initContainers volumes nodeSelector securityContext "
    "windowsOptions resources limits requests env name image ports labels annotations affinity "
    "nodeAffinity selector sessionAffinity data items volumeMounts emptyDir hostPath path "
    "jobTemplate os dnsConfig searches tolerations command args plugins ipam type policies "
    "AdditionalArgs Name Value Network Backend cniVersion delegate rules limits"
)
NAMES = st.sampled_from(_NAMES.split())
SHAPES = st.recursive(VALUES, lambda inner: st.dictionaries(NAMES, inner, max_size=4)
                      | st.lists(inner, max_size=2), max_leaves=20)  # fmt: skip
KINDS = (
    "Pod Deployment CronJob Service List ConfigMap Node RuntimeClass NetworkPolicy DaemonSet "
    "StatefulSet HorizontalPodAutoscaler PersistentVolume StorageClass JoinConfiguration"
)


@settings(max_examples=150)
@given(kind=st.sampled_from(KINDS.split()), body=st.dictionaries(NAMES, SHAPES, max_size=5))
def test_values_of_any_shape_are_no_accident(kind, body):
    import json

    groups = {"Deployment": "apps/v1", "DaemonSet": "apps/v1", "StatefulSet": "apps/v1"}
    groups |= {"CronJob": "batch/v1", "JoinConfiguration": "kubeadm.k8s.io/v1beta3"}
    windows = {"os": {"name": "windows"}}
    body = {"apiVersion": groups.get(kind, "v1"), "kind": kind, **body}
    for where in (body, body.get("spec"), body.get("template")):
        if isinstance(where, dict) and isinstance(where.get("spec"), dict):
            where["spec"] |= windows
    for one in lint_text(json.dumps(body)):
        assert one.line > 0


@settings(max_examples=150)
@given(st.text(alphabet=" \n-:[]{}#&*|>!'\"ab1,\t%@`?{}", max_size=60))
def test_texts_of_any_kind_are_no_accident(text):
    for one in lint_text(text):
        assert one.line > 0
