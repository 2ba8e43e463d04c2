"""Flags that a program has never had are found, with the one that was meant."""

import pytest

from muntin.lint import lint_text
from muntin.lint.profiles import named


def found(text, profile="v1.20"):
    some = lint_text(text, profiles=[named(profile)], file="start.ps1")
    return [(one.line, one.field, one.advice) for one in some if one.rule == "unknown-flag"]


def test_a_flag_that_never_was():
    text = '# as a service\nsc.exe create kubelet binPath= "C:\\kubelet.exe --service --v=4"\n'
    assert found(text) == [(2, "--service", "Perhaps --windows-service is meant.")]


@pytest.mark.parametrize(
    "line",
    [
        "kubelet.exe --windows-service --log_dir=c:\\logs -v 4 --hostname-override=$(hostname)",
        "kube-proxy.exe --enable-dsr=true --root-hnsendpoint-name cbr0 --source-vip 10.244.1.2",
        "flanneld.exe --made-up",
        "Write-Host kubelet",
    ],
)
def test_what_is_one_is_let_be(line):
    assert found(line) == []


def test_what_old_versions_had_is_not_known():
    assert found("kubelet.exe --made-up") != []
    assert found("kubelet.exe --made-up", "v1.9") == []


def test_two_flags_that_ran_into_one():
    text = "kube-proxy.exe --hostname-override=<hostname>--kubeconfig=c:\\k\\config --v=4\n"
    (one,) = [
        finding
        for finding in lint_text(text, profiles=[named("v1.5")], file="start.ps1")
        if finding.rule == "glued-flags"
    ]
    assert (one.line, one.field) == (1, "--hostname-override")
    assert one.advice == "Put a space before --kubeconfig."


def test_kube_proxy_as_it_was_built():
    some = lint_text(".\\proxy.exe --proxy-mode=userspace\n", profiles=[named("1.34/2022")],
                     file="start.ps1")  # fmt: skip
    assert "kube-proxy-userspace-removed" in [one.rule for one in some]
