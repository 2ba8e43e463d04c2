"""A cluster that asks the linter: kubectl, the API server and `muntin webhook`, as users run it."""

import signal
import socket
import ssl
import subprocess
import sys
import urllib.error
import urllib.request

import pytest
import yaml

POD = """
apiVersion: v1
kind: Pod
metadata: {{name: {name}}}
spec:
  nodeSelector: {{kubernetes.io/os: windows}}
  containers:
  - name: c
    image: mcr.microsoft.com/windows/nanoserver:ltsc2022
    volumeMounts: [{{name: v, mountPath: '{path}'}}]
  volumes: [{{name: v, emptyDir: {{}}}}]
"""
MUNTIN = (sys.executable, "-m", "muntin", "webhook")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def run_webhook(folder, *flags):
    port = free_port()
    url = f"https://127.0.0.1:{port}"
    words = ("--tls-dir", str(folder / "tls"), "--url", url, "--profile", "1.34/2022", *flags)
    command = (*MUNTIN, *words, "--address", "127.0.0.1", "--port", str(port))
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == f"Reviews are answered on {url}/validate\n"
    manifest = subprocess.run((*MUNTIN, *words, "--manifest"), capture_output=True, text=True)
    assert manifest.returncode == 0, manifest.stderr
    return process, manifest.stdout


def ended(process):
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=20) == 0


@pytest.fixture
def webhook(request, admin, tmp_path):
    """`muntin webhook` with the flags of the test's parameter; its manifest is applied."""
    process, manifest = run_webhook(tmp_path, *request.param)
    try:
        admin("apply", "-f", "-", stdin=manifest)
        yield yaml.safe_load(manifest)["webhooks"][0]["clientConfig"]["url"]
    finally:
        admin("delete", "validatingwebhookconfiguration", "muntin-lint", "--ignore-not-found")
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=20) == 0
        process.stdout.close()


@pytest.mark.parametrize("webhook", [()], indirect=True)
def test_kubectl_shows_what_is_found(admin, namespace, webhook):
    bad = POD.format(name="bad", path="C:\\")
    made = admin.run("create", "-n", namespace, "-f", "-", stdin=bad)
    assert made.returncode == 0, made.stderr
    assert "Warning: spec.containers[0].volumeMounts[0].mountPath: " in made.stderr
    good = POD.format(name="good", path="C:\\data")
    assert "Warning" not in admin.run("create", "-n", namespace, "-f", "-", stdin=good).stderr


@pytest.mark.parametrize("webhook", [("--enforce",)], indirect=True)
def test_what_will_not_run_is_refused(admin, namespace, webhook):
    bad = POD.format(name="bad", path="C:\\")
    refused = admin.fails("create", "-n", namespace, "-f", "-", stdin=bad)
    assert (
        'admission webhook "lint.muntin.dev" denied the request: spec.containers[0].volumeMounts[0]'
        in refused
    )
    admin("create", "-n", namespace, "-f", "-", stdin=POD.format(name="good", path="C:\\data"))


@pytest.mark.parametrize("webhook", [()], indirect=True)
def test_what_is_no_review_gets_a_clear_answer(webhook):
    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE

    def answer(path, body=None):
        request = urllib.request.Request(webhook.removesuffix("/validate") + path, data=body)
        try:
            with urllib.request.urlopen(request, context=trusting, timeout=20) as found:
                return found.status, found.read()
        except urllib.error.HTTPError as err:
            with err:
                return err.code, err.read()

    assert answer("/healthz") == (200, b"ok")
    assert answer("/nowhere")[0] == 404
    assert answer("/validate")[0] == 405
    status, text = answer("/validate", b"{")
    assert (status, text[:20]) == (400, b"the body is not JSON")
    assert answer("/validate", b"[" * 100_000)[0] == 400
    assert answer("/validate", b"{}") == (
        400,
        b"the body must be an AdmissionReview of admission.k8s.io/v1 or admission.k8s.io/v1beta1\n",
    )


def test_the_manifest_of_one_in_the_cluster_is_admitted(admin, namespace, tmp_path):
    words = ("--tls-dir", str(tmp_path), "--in-cluster", "registry.example/muntin:1", "--manifest")
    name = f"{namespace}-lint"
    done = subprocess.run((*MUNTIN, *words, "--namespace", name), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    try:
        made = admin.run("apply", "-f", "-", stdin=done.stdout)
        assert made.returncode == 0, made.stderr
        assert made.stdout.count("created") == 5
        assert "Warning" not in made.stderr
    finally:
        admin("delete", "validatingwebhookconfiguration", "muntin-lint", "--ignore-not-found")
        admin("delete", "namespace", name, "--wait=false")


def test_it_must_be_said_where_it_runs(tmp_path):
    words = ("--tls-dir", str(tmp_path), "--manifest")
    done = subprocess.run((*MUNTIN, *words), capture_output=True, text=True)
    assert done.returncode == 3
    assert "--url https://HOST:PORT or --in-cluster IMAGE" in done.stderr


def test_half_a_pair_is_not_used(tmp_path):
    key = tmp_path / "tls.key"
    key.write_text("of the user")
    words = ("--tls-dir", str(tmp_path), "--manifest", "--url", "https://192.0.2.1:443")
    done = subprocess.run((*MUNTIN, *words), capture_output=True, text=True)
    assert done.returncode == 3
    assert f"{key} is there alone" in done.stderr
    assert key.read_text() == "of the user"
