"""``muntin webhook``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from muntin.lint.profiles import Named

_HELP = """Let a cluster ask the linter before it stores an object.

Serves a validating webhook for any Kubernetes: findings come back as warnings, which kubectl
prints; with --enforce objects that will not run or not be admitted are refused. Its certificate is
made in --tls-dir when there is none. --manifest prints what makes a cluster ask, and ends.

\b
Examples:
  muntin webhook --tls-dir ./tls --url https://192.0.2.7:8443 --profile 1.34/2022
  muntin webhook --tls-dir ./tls --url https://192.0.2.7:8443 --manifest | kubectl apply -f -
  muntin webhook --tls-dir ./tls --in-cluster IMAGE --manifest | kubectl apply -f -
"""


@click.command("webhook", help=_HELP, short_help="Let a cluster ask the linter.")
@click.option("--profile", "profiles", metavar="NAME", multiple=True, help="Nodes to lint for.")
@click.option("--enforce", is_flag=True, help="Refuse objects in which there are errors.")
@click.option("--address", default="0.0.0.0", metavar="IP", help="To listen on. [0.0.0.0]")
@click.option("--port", default=8443, metavar="PORT", help="To listen on. [8443]")
@click.option("--tls-dir", type=click.Path(path_type=Path), help="Where tls.crt and tls.key are.")
@click.option(
    "--tls-cert", type=click.Path(path_type=Path), help="The certificate, with its chain."
)
@click.option("--tls-key", type=click.Path(path_type=Path), help="Its key.")
@click.option("--url", metavar="URL", help="Where API servers reach it from outside the cluster.")
@click.option("--in-cluster", "image", metavar="IMAGE", help="To run there from an image.")
@click.option("--namespace", default="muntin", metavar="NAME", help="Of it there. [muntin]")
@click.option("--manifest", is_flag=True, help="Print the objects to apply, and end.")
def command(
    profiles: tuple[str, ...],
    enforce: bool,
    address: str,
    port: int,
    tls_dir: Path | None,
    tls_cert: Path | None,
    tls_key: Path | None,
    url: str | None,
    image: str | None,
    namespace: str,
    manifest: bool,
) -> None:
    """Print the manifest, or serve until SIGTERM."""
    from muntin.kit.errors import Invalid
    from muntin.lint import installation
    from muntin.lint.profiles import named

    wanted = [named(name) for name in profiles]
    if url and image:
        raise Invalid("--url and --in-cluster: it runs in one place\nleave one of them out")
    host = installation.host_of(url) if url else installation.service_host(namespace)
    certificate, key = _certificate(tls_dir, tls_cert, tls_key, host)
    if not manifest:
        _serve(wanted, enforce, address, port, certificate, key)
        return
    if url:
        click.echo(_yaml(installation.outside(url, certificate.read_bytes())))
    elif image:
        found = installation.Identity(certificate.read_bytes(), key.read_bytes())
        flags = (*(f"--profile={name}" for name in profiles), *(["--enforce"] if enforce else ()))
        click.echo(_yaml(installation.inside(namespace, image, found, flags)))
    else:
        raise Invalid(
            "--manifest: say where it runs\n--url https://HOST:PORT or --in-cluster IMAGE"
        )


def _certificate(
    directory: Path | None, certificate: Path | None, key: Path | None, host: str
) -> tuple[Path, Path]:
    """The files; a directory without them gets new ones for ``host``."""
    import datetime

    from muntin.kit import files
    from muntin.kit.errors import Invalid
    from muntin.lint import installation

    if certificate and key:
        return certificate, key
    if directory is None:
        raise Invalid("a webhook speaks TLS alone\n--tls-dir DIR, or --tls-cert and --tls-key")
    certificate, key = directory / "tls.crt", directory / "tls.key"
    there = [path for path in (certificate, key) if path.exists()]
    if len(there) == 1:
        raise Invalid(f"{there[0]} is there alone\nremove it, and both are made anew")
    if not there:
        made = installation.identity(host, datetime.datetime.now(datetime.UTC))
        directory.mkdir(parents=True, exist_ok=True)
        files.put(key, made.key, mode=0o600)
        files.put(certificate, made.certificate)
    return certificate, key


def _yaml(objects: list[dict[str, object]]) -> str:
    import yaml

    class Plain(yaml.SafeDumper):
        """Without anchors: equal labels are written each time."""

        def ignore_aliases(self, data: object) -> bool:
            return True

    return str(yaml.dump_all(objects, Dumper=Plain, sort_keys=False, explicit_start=True)).rstrip()


def _serve(
    profiles: Sequence[Named], enforce: bool, address: str, port: int, certificate: Path, key: Path
) -> None:
    import asyncio
    import signal

    from muntin.kit import log
    from muntin.lint.run import Linter
    from muntin.lint.webhook import Webhook, server_context

    async def serve() -> None:
        stopped = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
        webhook = Webhook(Linter(profiles, judges=False), enforce=enforce)
        context = server_context(str(certificate), str(key))
        heard = await webhook.listen(address, port, context)
        click.echo(f"Reviews are answered on https://{address}:{heard}/validate")
        await stopped.wait()
        await webhook.close()

    log.setup()
    asyncio.run(serve())
