"""Command lines as they stand in scripts, containers and files of kubeadm."""

from muntin.lint.run import gather
from muntin.lint.texts import read_text

SCRIPT = """\
# kubelet --not-this
c:\\k\\kubelet.exe --hostname-override=$(hostname) --v=6 `
  --pod-infra-container-image=kubeletwin/pause --resolv-conf="" `
  --cni-bin-dir "c:\\k\\cni"
$KubeletArgs = @(
  "--hairpin-mode=promiscuous-bridge",
  '--network-plugin=cni'
)
Start-Process kube-proxy.exe -ArgumentList "--proxy-mode=kernelspace --enable-dsr"
kubectl.exe get nodes
"""


def commands(text, name):
    documents, problems = read_text(text, name)
    assert problems == []
    found = gather(documents).commands
    return [(one.program, one.os, {flag.name: flag.value for flag in one.flags}) for one in found]


def test_a_script_of_powershell():
    kubelet, arguments, proxy, kubectl = commands(SCRIPT, "start.ps1")
    assert kubelet[:2] == ("kubelet", "windows")
    assert kubelet[2]["--resolv-conf"] == ""
    assert kubelet[2]["--v"] == "6"
    assert kubelet[2]["--cni-bin-dir"] == "c:\\k\\cni"
    assert arguments == ("kubelet", "windows", {
        "--hairpin-mode": "promiscuous-bridge", "--network-plugin": "cni"})  # fmt: skip
    assert proxy == ("kube-proxy", "windows", {
        "--proxy-mode": "kernelspace", "--enable-dsr": None})  # fmt: skip
    assert kubectl == ("kubectl", "windows", {})


def test_places_in_a_script():
    document = read_text(SCRIPT, "start.ps1")[0][0]
    for command in gather([document]).commands:
        for flag in command.flags:
            assert SCRIPT[slice(*flag.span)].startswith(flag.name)


def test_a_script_of_linux_is_one_of_linux():
    text = "kubelet --hairpin-mode=none\nkubelet.exe \\\n  --hairpin-mode=none\n"
    assert [one[1] for one in commands(text, "start.sh")] == ["linux", "windows"]


def test_containers():
    text = """
kind: Pod
apiVersion: v1
spec:
  os: {name: windows}
  containers:
  - name: proxy
    command: ['C:\\hpc\\kube-proxy.exe', --v=4]
    args: [--network-name, cbr0, --enable-dsr, '--feature-gates=WinDSR=true']
  - name: other
    args: [--v=4]
"""
    assert commands(text, "x.yaml") == [("kube-proxy", "windows", {
        "--v": "4", "--network-name": "cbr0", "--enable-dsr": None,
        "--feature-gates": "WinDSR=true"})]  # fmt: skip


def test_kubeadm():
    old = """
apiVersion: kubeadm.k8s.io/v1beta3
kind: JoinConfiguration
nodeRegistration:
  criSocket: npipe:////./pipe/containerd-containerd
  kubeletExtraArgs: {hairpin-mode: none}
"""
    new = """
apiVersion: kubeadm.k8s.io/v1beta4
kind: InitConfiguration
nodeRegistration:
  kubeletExtraArgs: [{name: v, value: "6"}]
"""
    assert commands(old, "a.yaml") == [("kubelet", "windows", {"--hairpin-mode": "none"})]
    assert commands(new, "a.yaml") == [("kubelet", "linux", {"--v": "6"})]


def test_texts_in_config_maps_are_read_where_they_stand():
    text = """\
kind: ConfigMap
apiVersion: v1
metadata: {name: flannel}
data:
  cni-conf.json: |
    {
      "cniVersion": "0.2.0",
      "plugins": []
    }
  net-conf.json: |

    {"Network": "10.244.0.0/16", "Backend": {"Type": "vxlan"}}
  kubelet: |
    kind: KubeletConfiguration
    apiVersion: kubelet.config.k8s.io/v1beta1
    hairpinMode: none
  readme: just text
"""
    given = gather(read_text(text, "x.yaml")[0])
    assert [(one.form, one.document.inside) for one in given.configs] == [
        ("cni", "data[cni-conf.json]"),
        ("flannel", "data[net-conf.json]"),
    ]
    lines = text.splitlines()
    for config, path in zip(given.configs, (("cniVersion",), ("Backend",)), strict=True):
        line, column = config.document.mark(path)
        assert lines[line - 1][column - 1 :].startswith(f'"{path[0]}"')
    kubelet = given.objects[1]
    line, column = kubelet.document.mark(("hairpinMode",))
    assert lines[line - 1][column - 1 :] == "hairpinMode: none"
