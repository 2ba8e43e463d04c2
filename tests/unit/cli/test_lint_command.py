"""`muntin lint` and `muntin explain` at the command line."""

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

from muntin.cli.main import cli
from muntin.model.gates import Severity
from muntin.model.windows import GATES, Feature

BAD = """\
apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  os: {name: windows}
  containers:
  - name: a
    image: mcr.microsoft.com/windows/nanoserver:1809
  volumes:
  - name: v
    emptyDir: {medium: Memory} # fast
"""
MENDED = BAD.replace("{medium: Memory}", "{}")
GOOD = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: b}\n"


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def call(*args, stdin=None):
        code = 0
        try:
            result = CliRunner().invoke(cli, ["lint", *args], input=stdin, standalone_mode=False)
        except SystemExit as err:  # pragma: no cover - depends on click
            return err.code, "", ""
        if isinstance(result.exception, SystemExit):
            code = result.exception.code
        elif result.exception is not None:
            raise result.exception
        else:
            code = result.return_value
        return code, result.stdout, result.stderr

    return call


def test_exit_codes(run, tmp_path):
    (tmp_path / "bad.yaml").write_text(BAD)
    (tmp_path / "good.yaml").write_text(GOOD)
    (tmp_path / "broken.yaml").write_text("a: [")
    assert run("good.yaml")[0] == 0
    assert run("bad.yaml")[0] == 1
    assert run("bad.yaml", "broken.yaml")[0] == 2
    assert run("missing.yaml")[0] == 2
    assert run("--profile", "nonsense", "bad.yaml")[0] == 2
    assert run(".")[0] == 2
    (tmp_path / "broken.yaml").unlink()
    assert run(".")[0] == 1


def test_severities(run, tmp_path):
    assert GATES[Feature.MOUNT_PROPAGATION].calls_it() is Severity.WARNING
    warned = BAD.replace("{medium: Memory}", "{}").replace(
        "1809\n", "1809\n    volumeMounts:\n    - {name: v, mountPath: 'C:\\v', "
        "mountPropagation: Bidirectional}\n"
    )  # fmt: skip
    (tmp_path / "warned.yaml").write_text(warned)
    code, out, _ = run("warned.yaml")
    assert (code, "warning  mount-propagation" in out) == (1, True)
    everything = json.loads(run("--level", "info", "--output", "json", "warned.yaml")[1])
    errors = any(one["severity"] == "error" for one in everything["findings"])
    assert run("--fail-on", "error", "warned.yaml")[0] == int(errors)
    code, out, _ = run("--level", "error", "warned.yaml")
    assert ("not shown" in out, "mount-propagation" in out) == (True, False)


def test_what_cannot_be_written(run, tmp_path, monkeypatch):
    (tmp_path / "bad.yaml").write_text(BAD)

    def refuse(path, data):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("muntin.kit.files.change", refuse)
    assert run("--fix", "bad.yaml")[0] == 2
    assert run("--fix", "--diff", "bad.yaml")[0] == 1


def test_what_comes_on_stdin(run):
    code, out, _ = run("-", stdin=BAD)
    assert code == 1
    assert out.startswith("<stdin>: Pod a\n")


def test_directories(run, tmp_path):
    for name in ("a/b/bad.yaml", "chart/templates/x.yaml", ".hidden/bad.yaml", "a/nginx.conf",
                 "chart/Chart.yaml", "chart/values.yaml", "a/net.conf", "start.ps1"):  # fmt: skip
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("a: {{ .Values.x }}\n")
    (tmp_path / "a/b/bad.yaml").write_text(BAD)
    (tmp_path / "a/nginx.conf").write_text("server { }")
    (tmp_path / "a/net.conf").write_text("{\n // no\n}")
    code, out, _ = run("--output", "json", ".")
    found = {(one["file"], one["rule"]) for one in json.loads(out)["findings"]}
    assert {("a/b/bad.yaml", "empty-dir-memory"), ("a/net.conf", "json-comment"),
            ("chart/Chart.yaml", "not-rendered")} <= found  # fmt: skip
    assert {file for file, _ in found} <= {"a/b/bad.yaml", "a/net.conf", "chart/Chart.yaml"}
    assert code == 1


def test_patches_of_a_kustomization_are_parts_of_objects(run, tmp_path):
    part = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {replicas: 2}\n"
    for name in ("new.yaml", "old.yaml", "whole.yaml"):
        (tmp_path / name).write_text(part)
    (tmp_path / "kustomization.yaml").write_text(
        "kind: Kustomization\npatches: [{path: new.yaml}, {patch: '- op: add'}]\n"
        "patchesStrategicMerge: [./old.yaml]\n"
    )
    found = json.loads(run("--output", "json", ".")[1])["findings"]
    assert {one["file"] for one in found if one["rule"] == "api-refuses"} == {"whole.yaml"}


@pytest.mark.parametrize("form", ["human", "json", "sarif", "junit", "github"])
def test_forms(run, form):
    code, out, _ = run("--output", form, "-", stdin=BAD)
    assert code == 1
    assert "empty-dir-memory" in out


def test_fixes(run, tmp_path):
    path = tmp_path / "bad.yaml"
    path.write_bytes(BAD.encode("utf-8-sig"))
    _, out, _ = run("--fix", "--diff", "bad.yaml")
    assert "-    emptyDir: {medium: Memory} # fast\n" in out
    assert "+    emptyDir: {} # fast\n" in out
    assert path.read_bytes() == BAD.encode("utf-8-sig")
    _, out, _ = run("--fix", "bad.yaml")
    assert "empty-dir-memory" not in out
    assert path.read_bytes()[:3] == b"\xef\xbb\xbf"
    assert "    emptyDir: {} # fast" in path.read_text("utf-8-sig")
    _, out, err = run("--fix", "-", stdin=BAD)
    assert out == path.read_text("utf-8-sig")
    assert "1 file" in err


def test_settings_of_the_directory(run, tmp_path):
    (tmp_path / "m").mkdir()
    (tmp_path / "m/bad.yaml").write_text(BAD)
    (tmp_path / ".muntin-lint.yaml").write_text(
        "paths: [m]\nignore: [{rule: empty-dir-memory, reason: of a test}]\n"
    )
    _, out, _ = run()
    assert "1 ignored" in out
    assert "empty-dir-memory" not in out
    (tmp_path / "other.yaml").write_text("profiles: [v1.20]\n")
    code, out, _ = run("--config", "other.yaml", "m")
    assert (code, "on v1.20" in out) == (1, True)
    (tmp_path / "other.yaml").write_text("profile: v1.20\n")
    assert run("--config", "other.yaml", "m")[0] == 2


def test_explain():
    result = CliRunner().invoke(cli, ["explain", "empty-dir-memory"])
    assert result.exit_code == 0
    row = GATES[Feature.EMPTY_DIR_MEMORY]
    assert result.stdout.startswith(f"empty-dir-memory: {row.summary}\n")
    assert f"severity:  {row.calls_it()}" in result.stdout
    assert row.source in result.stdout
    assert CliRunner().invoke(cli, ["explain", "yaml-syntax"]).exit_code == 0
    assert CliRunner().invoke(cli, ["explain", "no-such-rule"]).exit_code != 0


def test_what_starts_with_the_command_is_little():
    """The components that a cluster needs are not imported to lint a file."""
    code = (
        "import sys; from muntin.cli.main import cli; "
        "cli.main(['lint', '-'], standalone_mode=False); "
        "print(*(n for n in sys.modules if n.startswith(('muntin.', 'asyncio', 'ssl', 'grpclib'))))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], input=GOOD, capture_output=True, text=True, check=True
    )
    loaded = result.stdout.splitlines()[-1].split()
    assert "muntin.lint.run" in loaded
    wrong = ("muntin.apiserver", "muntin.cluster", "muntin.seams", "asyncio", "ssl", "grpclib")
    assert [name for name in loaded if name.startswith(wrong)] == []
