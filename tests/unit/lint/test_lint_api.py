"""What the API itself says of objects, found where it stands in the text."""

import pytest

from muntin.lint import lint_text
from muntin.lint.api import path_of
from muntin.lint.profiles import named

DEPLOYMENT = """apiVersion: apps/v1
kind: Deployment
metadata:
  name: {name}
spec:
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec:
      nodeSelector: {{kubernetes.io/os: linux}}
      containers:
      - name: web
        image: nginx:1.27
        {more}
"""


def found(text, *profiles):
    rules = ("api-refuses", "unknown-field", "api-unserved")
    some = lint_text(text, profiles=[named(name) for name in profiles or ("1.34/2022",)])
    return [(one.line, one.rule, one.field) for one in some if one.rule in rules]


def test_what_is_right_is_let_be():
    assert found(DEPLOYMENT.format(name="web", more="ports: [{containerPort: 80}]")) == []


@pytest.mark.parametrize(
    ("name", "more", "expected"),
    [
        ("my-Web", "", (4, "api-refuses", "metadata.name")),
        ("web", "imagePullPolicy: Sometimes",
         (14, "api-refuses", "spec.template.spec.containers[0].imagePullPolicy")),
        ("web", "imagePolicy: Always",
         (14, "unknown-field", "spec.template.spec.containers[0].imagePolicy")),
        ("web", "ports: [{containerPort: http}]", (1, "api-refuses", "")),
    ],
)  # fmt: skip
def test_what_the_api_says_stands_where_it_is_written(name, more, expected):
    assert found(DEPLOYMENT.format(name=name, more=more)) == [expected]


def test_a_kind_is_served_by_some_versions():
    text = DEPLOYMENT.format(name="web", more="").replace("apps/v1", "extensions/v1beta1")
    assert found(text, "1.15/2019") == []
    assert found(text, "1.34/2022") == [(1, "api-unserved", "apiVersion")]
    some = lint_text(text, profiles=[named("1.15/2019"), named("1.34/2022")])
    (unserved,) = [one for one in some if one.rule == "api-unserved"]
    assert unserved.profiles == ("1.34/2022",)
    assert unserved.message.endswith("use apps/v1 Deployment")


def test_what_several_versions_say_is_said_once():
    text = DEPLOYMENT.format(name="my-Web", more="")
    some = lint_text(text, profiles=[named("v1.20"), named("1.34/2022")])
    (refused,) = [one for one in some if one.rule == "api-refuses"]
    assert refused.profiles == ("v1.20", "1.34/2022")


def test_what_the_server_makes_itself_is_not_missed():
    job = (
        "apiVersion: batch/v1\nkind: Job\nmetadata: {generateName: once-}\nspec:\n  template:\n"
        "    spec:\n      restartPolicy: Never\n      nodeSelector: {kubernetes.io/os: linux}\n"
        "      containers: [{name: c, image: busybox:1}]\n"
    )
    assert found(job) == []


def test_what_a_row_says_more_of_is_said_once():
    pod = (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n  os: {name: windows}\n"
        "  hostPID: true\n  containers:\n  - {name: c, image: "
        "mcr.microsoft.com/windows/nanoserver:ltsc2022}\n"
    )
    some = lint_text(pod, profiles=[named("1.34/2022")])
    assert len([one for one in some if one.field == "spec.hostPID"]) == 1


def test_other_kinds_are_not_judged():
    assert found("apiVersion: example.org/v1\nkind: Web\nmetadata: {name: A_B}\n") == []


@pytest.mark.parametrize("value", ["[]", "7", "text", "{spec: []}", "{containers: 3}"])
def test_any_shape_is_told_not_thrown(value):
    assert found(f"apiVersion: v1\nkind: Pod\nmetadata: {{name: web}}\nspec: {value}\n")


@pytest.mark.parametrize(
    ("field", "path"),
    [
        ("spec.containers[0].image", ("spec", "containers", 0, "image")),
        ("metadata.annotations[a.b/c]", ("metadata", "annotations", "a.b/c")),
        ("spec.nodeSelector[x]", ("spec", "nodeSelector", "x")),
        ("", ()),
    ],
)
def test_paths(field, path):
    assert path_of(field) == path


def test_an_object_whose_indentation_is_lost_is_one_finding():
    text = "apiVersion: v1\nkind: Pod\nmetadata:\nname: web\nspec:\ncontainers:\n- name: c\n"
    some = lint_text(text, profiles=[named("1.34/2022")])
    assert [(one.line, one.rule) for one in some] == [(3, "indentation")]
