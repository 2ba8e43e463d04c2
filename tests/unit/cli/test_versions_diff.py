"""`muntin versions` and `muntin diff`: what they print, for people and for programs."""

from __future__ import annotations

import json

import pytest
import yaml
from click.testing import CliRunner

from muntin.cli.diff import command as diff
from muntin.cli.versions import command as versions
from muntin.kit.errors import Invalid, NotFound

MANIFEST = """\
apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: web}}
spec:
  nodeSelector: {kubernetes.io/os: windows}
  containers: [{name: web, image: "registry.test/web:1"}]
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, sessionAffinity: ClientIP, ports: [{port: 80}]}
---
apiVersion: policy/v1beta1
kind: PodDisruptionBudget
metadata: {name: web}
"""


def printed(command, *args: str) -> str:
    done = CliRunner().invoke(command, args, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def test_the_matrix_for_people():
    lines = printed(versions, "--kubernetes-version", "1.9").splitlines()
    assert lines[0].split() == ["KUBERNETES", "API", "WINDOWS", "BUILD", "RUNTIMES",
                                "NETWORK-PLUGINS"]  # fmt: skip
    assert lines[1].split()[:5] == ["1.9", "1.20", "1709", "10.0.16299", "docker"]
    assert len(printed(versions).splitlines()) > 50


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_the_matrix_for_programs(form):
    text = printed(versions, "--kubernetes-version", "1.20", "-o", form)
    found = json.loads(text) if form == "json" else yaml.safe_load(text)
    first = found["versions"][0]
    assert (first["kubernetes"], first["apiServed"]) == ("1.20", True)
    assert first["windows"]["build"] == 17763
    assert first["runtimes"] == ["docker", "containerd"]


def test_changes_for_people():
    text = printed(diff, "--from", "1.20/2019", "--to", "1.20/1903")
    assert text.startswith("From 1.20/2019 to 1.20/1903:\n\nworks no longer (")
    assert "  dsr: Load balancers can use direct server return." in text
    assert printed(diff, "--from", "v1.34", "--to", "v1.34").startswith("Nothing")


def test_changes_for_programs():
    found = json.loads(printed(diff, "--from", "v1.20", "--to", "v1.34", "-o", "json"))
    by_name = {item["feature"]: item for item in found["changes"]}
    assert by_name["host-process"]["before"] == "shut"
    assert by_name["host-process"]["after"] == "open"


def test_changes_of_given_manifests(tmp_path):
    (tmp_path / "web.yaml").write_text(MANIFEST)
    (tmp_path / "notes.txt").write_text("no manifest")
    args = ("--from", "v1.20", "--to", "v1.34", "-f", str(tmp_path))
    text = printed(diff, *args)
    assert text.startswith("From v1.20 to v1.34, of these manifests:")
    assert f"{tmp_path}/web.yaml:13: PodDisruptionBudget web: policy/v1beta1 is served" in text
    found = json.loads(printed(diff, *args, "-o", "json"))
    assert len(found["apiVersions"]) == 1
    gone = {item["rule"] for item in found["worksNow"]}
    assert any("session-affinity" in rule for rule in gone)
    assert not gone & {item["rule"] for item in found["worksNoLonger"]}
    back = json.loads(
        printed(diff, "--from", "v1.34", "--to", "v1.20", "-f", str(tmp_path), "-o", "json")
    )
    assert {item["rule"] for item in back["worksNoLonger"]} == gone
    same = printed(diff, "--from", "v1.34", "--to", "v1.34", "-f", str(tmp_path))
    assert "nothing changes" in same


def test_bad_words(tmp_path):
    with pytest.raises(Invalid, match="is unknown"):
        printed(diff, "--from", "v0", "--to", "v1.34")
    broken = tmp_path / "broken.yaml"
    broken.write_text("kind: Pod\na: [\n")
    with pytest.raises(Invalid, match=r"broken\.yaml:\d+:\d+: "):
        printed(diff, "--from", "v1.20", "--to", "v1.34", "-f", str(broken))
    with pytest.raises(NotFound, match="No such file"):
        printed(diff, "--from", "v1.20", "--to", "v1.34", "-f", "/nonexistent.yaml")
