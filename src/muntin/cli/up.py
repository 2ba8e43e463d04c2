"""``muntin up``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from muntin.cluster.config import ClusterConfig
    from muntin.cluster.up import Outcome

_HELP = """Bring a cluster up and point kubectl at it.

A second `up` of a cluster that is up changes nothing. Flags win over the file of --config.

\b
Examples:
  muntin up
  muntin up --linux-nodes 2 --windows-nodes 3
  muntin up --windows-nodes web01,web02 --label web01:tier=front
  muntin up --windows-nodes 1 --taint win01:os=windows:NoSchedule
  muntin up --profile v1.20           the world of the v1.20 documentation
  muntin up --kubernetes-version 1.12 --windows-version 1803 --runtime docker
  muntin up --config cluster.yaml     apiVersion muntin.dev/v1alpha1, kind Cluster
  muntin up --name second --api-server-port 6444
  muntin up --store etcd              objects in a real etcd instead of SQLite
  muntin up --store etcd --control-planes 2
  muntin up --from-snapshot backup.db
"""


@click.command("up", help=_HELP, short_help="Bring a cluster up.")
@click.option("--config", "file", type=click.Path(path_type=Path), help="A Cluster file.")
@click.option("--name", "-n", envvar="MUNTIN_CLUSTER", help="Name of the cluster. [muntin]")
@click.option("--linux-nodes", metavar="N|NAMES", help="How many, or names with commas. [1]")
@click.option("--windows-nodes", metavar="N|NAMES", help="How many, or names with commas. [2]")
@click.option("--kubernetes-version", metavar="X.Y", help="Version of the API and nodes. [1.34]")
@click.option("--node-version", metavar="X.Y", help="Of kubelet and kube-proxy. [the API's]")
@click.option("--allow-skew", is_flag=True, default=None, help="Any version of nodes with any API.")
@click.option(
    "--windows-version",
    "--windows",
    "windows",
    metavar="RELEASE",
    help="2016, 1709, 1803, 2019, 2022, 2025, ... [2019]",
)
@click.option("--runtime", metavar="NAME", help="containerd or docker, on Windows nodes.")
@click.option(
    "--profile", metavar="NAME", help="v1.5, v1.8, v1.9, v1.20, v1.25 to v1.37, 1.12/1803."
)
@click.option("--pod-subnet", metavar="CIDR", help="Addresses of pods. [10.244.0.0/16]")
@click.option("--service-subnet", metavar="CIDR", help="Addresses of Services. [10.96.0.0/12]")
@click.option("--node-subnet", metavar="CIDR", help="Addresses of nodes. [172.31.0.0/24]")
@click.option("--dns-domain", metavar="DOMAIN", help="Domain of the cluster. [cluster.local]")
@click.option("--api-server-port", type=int, metavar="PORT", help="On 127.0.0.1. [6443]")
@click.option(
    "--simulated-nodes",
    type=int,
    metavar="N",
    help="Kubelets without containers beside them, for load. [0]",
)
@click.option("--egress/--no-egress", default=None, help="Whether pods reach the world. [yes]")
@click.option("--control-planes", type=int, metavar="N", help="How many, over an etcd. [1]")
@click.option("--store", metavar="STORE", help="sqlite, etcd or https://HOST:2379,... [sqlite]")
@click.option("--store-ca", type=click.Path(path_type=Path), help="Who signs that etcd's servers.")
@click.option("--store-cert", type=click.Path(path_type=Path), help="Client certificate for it.")
@click.option("--store-key", type=click.Path(path_type=Path), help="Key of that certificate.")
@click.option("--label", "labels", multiple=True, metavar="NODE:KEY=VALUE", help="Repeatable.")
@click.option(
    "--taint", "taints", multiple=True, metavar="NODE:KEY=VALUE:EFFECT", help="Repeatable."
)
@click.option(
    "--kubeconfig",
    type=click.Path(path_type=Path),
    help="Write this file instead of $KUBECONFIG or ~/.kube/config.",
)
@click.option("--wait", "wait_s", default=120.0, metavar="SECONDS", help="Longest wait. [120]")
@click.option(
    "--from-snapshot",
    type=click.Path(path_type=Path),
    help="Create the cluster from this file, written by `muntin snapshot`.",
)
@click.option("--retain", is_flag=True, help="Keep what came up when something fails.")
def command(
    file: Path | None,
    kubeconfig: Path | None,
    wait_s: float,
    retain: bool,
    from_snapshot: Path | None,
    **flags: Any,
) -> None:
    """Show what ``cluster.up.up`` does, and how it ended."""
    from muntin.cli.progress import ScreenProgress
    from muntin.cluster.up import UpOptions, up

    progress = ScreenProgress()
    try:
        config = _config(file, flags)
        options = UpOptions(
            kubeconfig=kubeconfig, wait_s=wait_s, retain=retain, snapshot=from_snapshot
        )
        outcome = up(config, options, progress)
    finally:
        progress.clear()
    _show(outcome)


def _config(file: Path | None, flags: dict[str, Any]) -> ClusterConfig:
    """The cluster that the file and the flags describe; without any, the one that is there."""
    from muntin.cluster.overrides import Overrides, apply
    from muntin.cluster.settings import DEFAULT_NAME, Draft, resolve
    from muntin.cluster.settings_file import read
    from muntin.cluster.up import stored_config

    overrides = Overrides(**flags)
    if file is None and overrides == Overrides(name=overrides.name):
        stored = stored_config(overrides.name or DEFAULT_NAME)
        if stored is not None:
            return stored
    return resolve(apply(read(file) if file else Draft(), overrides))


def _show(outcome: Outcome) -> None:
    from muntin.cli import tables

    name = outcome.config.name
    if outcome.was_up:
        click.echo(f"\nCluster {name} was up already.")
    click.echo(f"\n{tables.nodes(outcome.nodes)}\n")
    for note in outcome.config.notes:
        click.echo(f"Note: {note}\n")
    click.echo(f"kubectl context {outcome.config.context} is set in {outcome.kubeconfig}")
    click.echo("Next:")
    click.echo("  kubectl get nodes -o wide")
    if any(row.os == "windows" for row in outcome.nodes):
        if _runs_the_sample(outcome.config):
            click.echo("  kubectl apply -f examples/win-webserver/win-webserver.yaml")
    else:
        click.echo("  kubectl run hello --image=busybox:1.35 -- sleep 3600")


def _runs_the_sample(config: ClusterConfig) -> bool:
    """Whether a node has the sample's label and runs its image, of Windows Server 2019."""
    from muntin.model.windows import Feature, image_runs, is_open
    from muntin.model.windows_releases import DEFAULT_BUILD

    profiles = [node.profile for node in config.nodes if node.profile is not None]
    return any(
        is_open(Feature.GUIDE_DEFAULT_LABELS, one) and image_runs(DEFAULT_BUILD, one)
        for one in profiles
    )
