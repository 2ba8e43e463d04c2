"""Edits of the text: what is asked for changes, and not one character besides."""

import pytest

from muntin.lint.documents import read
from muntin.lint.edits import applied, changes, edited
from muntin.lint.places import Fix, Put, Remove

POD = """\
# é above 😀
kind: Pod
spec:
  hostAliases: # first
  - ip: 1.2.3.4
    # inner
    hostnames: [a, b]
  # of the next
  securityContext:
    runAsUser: 1 # ü 😀
  containers:
  - readOnly: true
    name: web   # name
    image: 'x:1'
    securityContext: {privileged: true, runAsUser: 1}
    command:
    - |
      hello
      there
  volumes:
  - name: a
    emptyDir:
      medium: Memory # fast
  - name: b
    emptyDir: {}
  nodeName:
"""
JSON = '{\n  "kind": "Pod",\n  "spec": {\n    "hostPID": true\n  }\n}\n'
WEB = ("spec", "containers", 0)


def edit(text, *edits):
    """The lines that go, marked with -, and those that come, with +."""
    document = read(text, "x")[0][0]
    fix = Fix(edits)
    found = changes(document, fix)
    if found is None:
        return None
    new = applied(text, found)
    assert read(new, "x")[0][0].data == edited(document.data, fix)
    before, after = text.splitlines(), new.splitlines()
    gone = [f"-{line}" for line in before if line not in after]
    return gone + [f"+{line}" for line in after if line not in before]


@pytest.mark.parametrize(
    ("path", "lines"),
    [
        (("spec", "hostAliases"), 4),
        (("spec", "securityContext", "runAsUser"), 2),  # an empty securityContext says nothing
        ((*WEB, "command"), 4),
    ],
)
def test_a_field_goes_with_its_lines(path, lines):
    found = edit(POD, Remove(path))
    assert len(found) == lines
    assert all(line[0] == "-" for line in found)


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ([Remove((*WEB, "readOnly"))], ["-  - readOnly: true", "-    name: web   # name",
                                        "+  - name: web   # name"]),
        ([Remove((*WEB, "securityContext", "privileged"))],
         ["-    securityContext: {privileged: true, runAsUser: 1}",
          "+    securityContext: {runAsUser: 1}"]),
        ([Remove((*WEB, "securityContext", "runAsUser"))],
         ["-    securityContext: {privileged: true, runAsUser: 1}",
          "+    securityContext: {privileged: true}"]),
        ([Remove(("spec", "volumes", 0, "emptyDir", "medium"))],
         ["-    emptyDir:", "-      medium: Memory # fast"]),  # and {} as the other volume has
        ([Put(("spec", "os", "name"), "windows")], ["+  os:", "+    name: windows"]),
        ([Put((*WEB, "image"), "y:2")], ["-    image: 'x:1'", "+    image: 'y:2'"]),
        ([Put(("spec", "securityContext", "runAsUser"), 2)],
         ["-    runAsUser: 1 # ü 😀", "+    runAsUser: 2 # ü 😀"]),
        ([Put((*WEB, "securityContext", "x"), True)],
         ["-    securityContext: {privileged: true, runAsUser: 1}",
          '+    securityContext: {privileged: true, runAsUser: 1, "x": true}']),
        ([Put(("spec", "tolerations", 0), {"key": "os", "value": "windows"})],
         ["+  tolerations:", "+  - key: os", "+    value: windows"]),
        ([Put(("spec", "volumes", 2), {"name": "c"})], ["+  - name: c"]),
        ([Put(("spec", "nodeName", "x"), "C:\\data")], ["+    x: C:\\data"]),
        ([Put((*WEB, "env", 0), {"name": "yes", "value": "1"})],
         ["+    env:", '+    - name: "yes"', '+      value: "1"']),
        ([Remove((*WEB, "name")), Put(("spec", "nodeSelector", "kubernetes.io/os"), "windows")],
         ["-    name: web   # name", "+  nodeSelector:", "+    kubernetes.io/os: windows"]),
    ],
)  # fmt: skip
def test_yaml(edits, expected):
    assert edit(POD, *edits) == expected


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ([Put(("spec", "os", "name"), "windows")],
         ['-    "hostPID": true', '+    "hostPID": true,', '+    "os": {"name": "windows"}']),
        ([Put(("spec", "hostPID"), False)], ['-    "hostPID": true', '+    "hostPID": false']),
    ],
)  # fmt: skip
def test_json(edits, expected):
    assert edit(JSON, *edits) == expected


def test_lines_of_windows_keep_their_ends():
    text = "kind: Pod\r\nspec:\r\n  hostPID: true\r\n  nodeName: a\r\n"
    found = changes(read(text, "x")[0][0], Fix((Remove(("spec", "hostPID")),)))
    assert applied(text, found) == "kind: Pod\r\nspec:\r\n  nodeName: a\r\n"
    found = changes(read(text, "x")[0][0], Fix((Put(("spec", "os", "name"), "windows"),)))
    assert applied(text, found) == text + "  os:\r\n    name: windows\r\n"


def test_a_last_line_without_an_end():
    document = read("a: 1\nb:\n  c: 2", "x")[0][0]
    found = changes(document, Fix((Put(("b", "d"), 3),)))
    assert applied(document.text, found) == "a: 1\nb:\n  c: 2\n  d: 3\n"


@pytest.mark.parametrize(
    "path", [("spec", "a", "b"), ("spec", "c", "b"), ("spec", "c")], ids=["anchor", "alias", "both"]
)
def test_what_an_anchor_shares_is_left_alone(path):
    assert edit("spec:\n  a: &x {b: 1, d: 2}\n  c: *x\n", Remove(path)) is None


def test_what_is_not_there_is_not_removed():
    assert edit(POD, Remove(("spec", "hostPID"))) is None
    assert edit(POD, Remove(("spec", "containers", 3))) is None


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("a: &x [1]\nb: *x\n", "c: 2\na: &x [1]\nb: *x\n"),
        ("- &x [1]\n- d: 1\n  b: *x\n", "- &x [1]\n- c: 2\n  d: 1\n  b: *x\n"),
        ("- &x [1]\n- {d: 1, b: *x}\n", '- &x [1]\n- {"c": 2, d: 1, b: *x}\n'),
    ],
)
def test_behind_an_alias_nothing_is_put(text, new):
    document = read(text, "x")[0][0]
    path = ("c",) if text[0] == "a" else (1, "c")
    found = changes(document, Fix((Put(path, 2),)))
    assert applied(text, found) == new
