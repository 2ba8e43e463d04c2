"""What a user of the command line sees."""

from __future__ import annotations

import re


def test_a_second_up_says_that_the_cluster_is_there(cluster):
    done = cluster.up("--config", str(cluster.folder / "cluster.yaml"))
    assert f"Cluster {cluster.name} was up already." in done.stdout
    assert re.search(r"^lin01 +Ready +linux", done.stdout, re.MULTILINE)
    assert re.search(r"^win02 +Ready +windows", done.stdout, re.MULTILINE)
    assert f"kubectl context muntin-{cluster.name} is set in {cluster.kubeconfig}" in done.stdout
    assert "kubectl get nodes -o wide" in done.stdout
    assert "\033" not in done.stderr, "plain text off a terminal"
    assert re.search(r"^ ok nodes Ready \(\d+\.\d\d s\)$", done.stderr, re.MULTILINE)


_COMPONENTS = ("supervisor", "watchdog", "control-plane", "egress")


def test_status(cluster):
    done = cluster.muntin("status")
    for name in (*_COMPONENTS, "lin01", "win01", "containerd-lin01"):
        assert re.search(rf"^{name} +running +\d+ +0 ", done.stdout, re.MULTILINE), name
    assert re.search(r"^win01 +Ready", done.stdout, re.MULTILINE)


def test_shell_stands_in_the_place(cluster):
    assert "172.31.0.11/24" in cluster.shell("lin01", "ip", "-o", "addr", "show", "eth0")
    assert "192.0.2.10/24" in cluster.shell("outside", "ip", "-o", "addr", "show", "eth0")
    assert "win01" in cluster.shell("master", "kubectl", "get", "nodes")
    done = cluster.muntin("shell", "tor", "--", "sh", "-c", "exit 37", check=False)
    assert done.returncode == 37


def test_logs(cluster):
    assert "controllers started" in cluster.muntin("logs", "control-plane").stdout
    lines = cluster.muntin("logs", "--tail", "2", "win01").stdout.splitlines()
    assert len(lines) == 2


def test_kubeconfig_on_stdout(cluster, tmp_path):
    own = tmp_path / "k"
    own.write_text(cluster.muntin("kubeconfig").stdout)
    assert "lin01" in cluster.kubectl("--kubeconfig", str(own), "get", "nodes").stdout
    assert "server: https://172.31.0.10:6443" in cluster.muntin("kubeconfig", "--internal").stdout


def test_cri(cluster):
    assert '"runtime_name": "containerd"' in cluster.muntin("cri", "lin01", "Version").stdout
    assert "runtime_version" in cluster.muntin("cri", "win01", "Version").stdout
