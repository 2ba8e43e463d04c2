"""`--fix` leaves nothing that it could mend, changes nothing twice, and leaves the rest alone."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from muntin.lint import lint_text
from muntin.lint.fixing import difference, fixed
from muntin.lint.profiles import named
from muntin.lint.texts import read_text

CORPUS = sorted((Path(__file__).parents[2] / "lint_corpus").glob("*/*.yaml"))
PROFILES = ("1.34/2019", "1.20/2019/docker", "1.35/2025")
CONTEXT = st.fixed_dictionaries({}, optional={
    "runAsUser": st.integers(0, 3), "fsGroup": st.integers(0, 3), "privileged": st.booleans(),
    "readOnlyRootFilesystem": st.booleans(), "procMount": st.just("Default"),
    "capabilities": st.just({"add": ["NET_ADMIN"]}), "seLinuxOptions": st.just({"level": "s0"}),
    "windowsOptions": st.just({"runAsUserName": "ContainerUser"}),
})  # fmt: skip
PATHS = st.sampled_from(["/data", "C:\\data", "C:/data", "data", "\\data", "/var/run/x"])
IMAGES = st.sampled_from([
    "mcr.microsoft.com/windows/nanoserver:1809", "mcr.microsoft.com/windows/servercore:ltsc2022",
    "mcr.microsoft.com/windows/servercore", "team/app:v1"])  # fmt: skip
AMOUNTS = st.fixed_dictionaries(
    {},
    optional={"cpu": st.sampled_from(["1", "500m"]), "memory": st.sampled_from(["1Gi", "256Mi"])},
)
CONTAINER = st.fixed_dictionaries(
    {"name": st.just("a"), "image": IMAGES},
    optional={
        "securityContext": CONTEXT,
        "resources": st.fixed_dictionaries({}, optional={"limits": AMOUNTS, "requests": AMOUNTS}),
        "volumeMounts": st.lists(st.fixed_dictionaries(
            {"name": st.just("v"), "mountPath": PATHS},
            optional={"mountPropagation": st.sampled_from(["None", "Bidirectional"]),
                      "subPath": st.just("x")}), min_size=1, max_size=2),
    },
)  # fmt: skip
VOLUME = st.sampled_from([
    {"emptyDir": {}}, {"emptyDir": {"medium": "Memory"}}, {"hostPath": {"path": "/var/lib"}},
    {"configMap": {"name": "c", "defaultMode": 256}}])  # fmt: skip
SPEC = st.fixed_dictionaries(
    {"containers": st.lists(CONTAINER, min_size=1, max_size=2)},
    optional={
        "securityContext": CONTEXT,
        "nodeSelector": st.sampled_from([{"kubernetes.io/os": "windows"},
                                         {"beta.kubernetes.io/os": "windows"}]),
        "os": st.just({"name": "windows"}),
        "hostPID": st.booleans(), "hostIPC": st.booleans(), "hostNetwork": st.booleans(),
        "hostUsers": st.booleans(), "shareProcessNamespace": st.booleans(),
        "hostAliases": st.just([{"ip": "1.2.3.4", "hostnames": ["a"]}]),
        "dnsPolicy": st.sampled_from(["ClusterFirst", "ClusterFirstWithHostNet"]),
        "volumes": st.lists(VOLUME.map(lambda one: {"name": "v", **one}), min_size=1, max_size=1),
    },
)  # fmt: skip


def mend(text, profile, unsafe):
    return fixed({"x.yaml": text}, [named(profile)], unsafe=unsafe)["x.yaml"]


@settings(max_examples=120)
@given(SPEC, st.sampled_from(PROFILES), st.booleans(), st.booleans())
def test_what_is_mended_has_nothing_to_mend(spec, profile, unsafe, flow):
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": spec}
    text = yaml.safe_dump(pod, sort_keys=False, default_flow_style=flow)
    new = mend(text, profile, unsafe)
    left = [one for one in lint_text(new, profiles=[named(profile)]) if one.fix]
    assert [one.rule for one in left if one.fix.safe or unsafe] == []
    assert mend(new, profile, unsafe) == new
    before = {one.rule for one in lint_text(text, profiles=[named(profile)])}
    severe = {one.rule for one in lint_text(new, profiles=[named(profile)])
              if one.severity == "error"}  # fmt: skip
    assert severe <= before, "a fix brought an error that was not there"


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: f"{path.parent.name}/{path.name}")
@pytest.mark.parametrize("unsafe", [False, True])
def test_the_corpus_is_mended_and_keeps_its_comments(path, unsafe):
    text = path.read_text(encoding="utf-8")
    new = mend(text, PROFILES[0], unsafe)
    assert mend(new, PROFILES[0], unsafe) == new
    assert len(read_text(new, "x")[0]) == len(read_text(text, "x")[0])
    gone = [line for line in difference(text, new, "x").splitlines()[2:] if line[:1] == "-"]
    kept = [line for line in text.splitlines() if line.lstrip().startswith("#")]
    assert [line for line in kept if line not in new.splitlines() and f"-{line}" not in gone] == []


def test_what_is_ignored_is_not_mended():
    bad = (Path(__file__).parents[2] / "lint_corpus/empty-dir-memory/bad.yaml").read_text()
    assert mend(bad, PROFILES[0], True) != bad
    let = bad.replace("# here", "# muntin: ignore empty-dir-memory of a test")
    assert mend(let, PROFILES[0], True).count("Memory") == 1
    new = fixed({"x.yaml": bad}, [], unsafe=True, without=frozenset({"empty-dir-memory"}))
    assert new["x.yaml"].count("Memory") == 1


def test_a_difference_is_one_that_patch_takes(tmp_path):
    import subprocess

    before, after = "a: 1\nb: 2", "a: 1\nb: 2\nc: 3\n"
    (tmp_path / "x").write_text(before)
    text = difference(before, after, "x")
    subprocess.run(["git", "apply", "-p0", "-"], input=text, text=True, cwd=tmp_path, check=True)
    assert (tmp_path / "x").read_text() == after
