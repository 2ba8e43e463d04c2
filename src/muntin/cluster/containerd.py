"""What a Linux node's containerd is told: its config.toml and the template of its CNI conflist.

Pure; the supervisor writes the files and starts the daemon inside the node's network namespace.
Sources: containerd 1.6 docs/cri/config.md; CNI specification 1.0.0; the ptp, host-local and
portmap plugin pages of containernetworking.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

CNI_BIN_DIR = "/usr/lib/cni"  # Debian's containernetworking-plugins


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerdPaths:
    """The directories of one node's containerd: ``root`` on disk, ``run`` for sockets and state."""

    root: Path
    state: Path
    socket: Path
    cni_conf_dir: Path
    cni_template: Path

    @classmethod
    def of(cls, node_state: Path, node_run: Path) -> ContainerdPaths:
        """The layout below a node's state and run directories."""
        return cls(
            root=node_state / "containerd",
            state=node_run / "containerd",
            socket=node_run / "cri.sock",
            cni_conf_dir=node_state / "cni" / "net.d",
            cni_template=node_state / "cni" / "conflist.template",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerdOptions:
    """``restrict_oom_score_adj``: set where the kernel refuses negative scores to this process.

    ``registry_config_dir`` is a hosts.toml tree (containerd docs/hosts.md), empty for none.
    """

    sandbox_image: str
    snapshotter: str = "overlayfs"
    cni_bin_dir: str = CNI_BIN_DIR
    restrict_oom_score_adj: bool = False
    registry_config_dir: str = ""


def config_toml(paths: ContainerdPaths, options: ContainerdOptions) -> str:
    """The text of config.toml; all sockets and directories are the node's own."""
    runc = 'plugins."io.containerd.grpc.v1.cri".containerd'
    return "\n".join(
        [
            "version = 2",
            f"root = {_quoted(paths.root)}",
            f"state = {_quoted(paths.state)}",
            # Snapshotters and checkers that this node never uses cost start-up time.
            "disabled_plugins = [" + ", ".join(_quoted(name) for name in _UNUSED) + "]",
            "[grpc]",
            f"address = {_quoted(paths.socket)}",
            "[ttrpc]",
            f"address = {_quoted(f'{paths.socket}.ttrpc')}",
            '[plugins."io.containerd.grpc.v1.cri"]',
            f"sandbox_image = {_quoted(options.sandbox_image)}",
            'stream_server_address = "127.0.0.1"',
            'stream_server_port = "0"',
            "netns_mounts_under_state_dir = true",
            f"restrict_oom_score_adj = {_bool(options.restrict_oom_score_adj)}",
            "disable_apparmor = true",
            # Any user may listen on any port and ping, as pods of common distributions can.
            "enable_unprivileged_ports = true",
            "enable_unprivileged_icmp = true",
            '[plugins."io.containerd.grpc.v1.cri".cni]',
            f"bin_dir = {_quoted(options.cni_bin_dir)}",
            f"conf_dir = {_quoted(paths.cni_conf_dir)}",
            f"conf_template = {_quoted(paths.cni_template)}",
            f"[{runc}]",
            f"snapshotter = {_quoted(options.snapshotter)}",
            'default_runtime_name = "runc"',
            f"[{runc}.runtimes.runc]",
            'runtime_type = "io.containerd.runc.v2"',
            f"[{runc}.runtimes.runc.options]",
            'BinaryName = "runc"',
            f"Root = {_quoted(paths.state / 'runc')}",
            "SystemdCgroup = false",
            '[plugins."io.containerd.grpc.v1.cri".registry]',
            f"config_path = {_quoted(options.registry_config_dir)}",
            "",
        ]
    )


_UNUSED = (
    "io.containerd.snapshotter.v1.aufs",
    "io.containerd.snapshotter.v1.btrfs",
    "io.containerd.snapshotter.v1.devmapper",
    "io.containerd.snapshotter.v1.zfs",
    "io.containerd.tracing.processor.v1.otlp",
    "io.containerd.internal.v1.tracing",
)


def _quoted(value: object) -> str:
    return json.dumps(str(value))  # a TOML basic string escapes as JSON does


def _bool(value: bool) -> str:
    return "true" if value else "false"


def conflist_template(*, data_dir: Path, mtu_bytes: int = 1500) -> str:
    """The CNI conflist of a Linux node: ``ptp`` with host-local addresses and host ports.

    Each pod hangs on a wire of its own and its packets are routed, never bridged. So those to a
    service address and back pass the node's rules even where both pods are here, with no need of
    br_netfilter, a module whose loading would change the machine's own bridges.

    containerd fills in the node's pod CIDR when the kubelet tells it (CRI UpdateRuntimeConfig);
    the gateway is the CIDR's first address. Traffic that leaves the cluster is masqueraded by the
    node's own rules, not by the plugin.
    """
    ptp = {
        "type": "ptp",
        "ipMasq": False,
        "mtu": mtu_bytes,
        "ipam": {
            "type": "host-local",
            "dataDir": str(data_dir),
            "ranges": [[{"subnet": "{{.PodCIDR}}"}]],
            "routes": [{"dst": "0.0.0.0/0"}],
        },
    }
    portmap = {"type": "portmap", "capabilities": {"portMappings": True}, "snat": True}
    conflist = {"cniVersion": "0.4.0", "name": "muntin", "plugins": [ptp, portmap]}
    return json.dumps(conflist, indent=2) + "\n"
