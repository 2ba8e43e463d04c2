"""What every CNI plugin does: read its orders, act, print a result or an error.

Plugins are short-lived programs, so this module and what it imports stay tiny: no ``json``, no
``argparse``, no ``dataclasses``. Source: CNI specification 1.1.0.
"""

from __future__ import annotations

import os
import sys

from muntin.cni import plugin_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, NoReturn

    Conf = dict[str, Any]
    Command = Callable[["Orders"], "Conf | None"]

VERSIONS = ("0.1.0", "0.2.0", "0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0")
INCOMPATIBLE_VERSION, UNKNOWN_CONTAINER, INVALID_ENVIRONMENT = 1, 3, 4
IO_FAILURE, DECODING_FAILURE, INVALID_CONFIG = 5, 6, 7
TRY_AGAIN, NOT_AVAILABLE, INTERNAL = 11, 50, 999
_FIRST = {"CHECK": "0.4.0", "STATUS": "1.1.0", "GC": "1.1.0"}
_NEEDED = {
    "ADD": ("CNI_CONTAINERID", "CNI_NETNS", "CNI_IFNAME"),
    "CHECK": ("CNI_CONTAINERID", "CNI_NETNS", "CNI_IFNAME"),
    "DEL": ("CNI_CONTAINERID", "CNI_IFNAME"),
}


class PluginError(Exception):
    """What the plugin prints as its error object."""

    def __init__(self, message: str, code: int = INTERNAL, details: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.details = details


class Orders:
    """One call of a plugin: the environment and the configuration from stdin."""

    def __init__(self, env: Mapping[str, str], stdin: bytes) -> None:
        self.env = env
        self.command = env.get("CNI_COMMAND", "")
        self.container_id = env.get("CNI_CONTAINERID", "")
        self.netns = env.get("CNI_NETNS", "")
        self.ifname = env.get("CNI_IFNAME", "")
        self.stdin = stdin
        self.conf: Conf = {}

    def args(self) -> dict[str, str]:
        """CNI_ARGS as a mapping."""
        pairs = (part.partition("=") for part in self.env.get("CNI_ARGS", "").split(";") if part)
        return {key: value for key, _, value in pairs}

    @property
    def version(self) -> str:
        """The version that the configuration asks for."""
        return str(self.conf.get("cniVersion") or "0.1.0")


def main(commands: Mapping[str, Command], env: Mapping[str, str] | None = None) -> NoReturn:
    """Run the command that the environment names and exit as the specification says."""
    orders = Orders(os.environ if env is None else env, b"")
    try:
        orders.stdin = _read_stdin()
        _read_conf(orders)
        result = _run(commands, orders)
    except PluginError as err:
        _print_and_exit(error_object(orders.version, err), 1)
    except (OSError, LookupError, TypeError, ValueError) as err:
        code = IO_FAILURE if isinstance(err, OSError) else INVALID_CONFIG
        wrapped = PluginError(f"{type(err).__name__}: {err}", code)
        _print_and_exit(error_object(orders.version, wrapped), 1)
    _print_and_exit(result, 0)


def _run(commands: Mapping[str, Command], orders: Orders) -> Conf | None:
    if orders.command == "VERSION":
        return {"cniVersion": orders.version, "supportedVersions": list(VERSIONS)}
    if orders.command not in commands:
        raise PluginError(f"unknown CNI_COMMAND: {orders.command}", INVALID_ENVIRONMENT)
    missing = [key for key in _NEEDED.get(orders.command, ()) if not orders.env.get(key)]
    if missing:
        message = f"required env variables [{','.join(missing)}] missing"
        raise PluginError(message, INVALID_ENVIRONMENT)
    if orders.version not in VERSIONS:
        details = f"config is {orders.version!r}, plugin supports {list(VERSIONS)}"
        raise PluginError("incompatible CNI versions", INCOMPATIBLE_VERSION, details)
    first = _FIRST.get(orders.command)
    if first and VERSIONS.index(orders.version) < VERSIONS.index(first):
        message = f"config version does not allow {orders.command}"
        raise PluginError(message, INCOMPATIBLE_VERSION)
    return commands[orders.command](orders)


def _read_stdin() -> bytes:
    parts = []
    while part := os.read(0, 65536):
        parts.append(part)
    return b"".join(parts)


def _read_conf(orders: Orders) -> None:
    try:
        conf = plugin_json.loads(orders.stdin.decode())
    except ValueError as err:
        raise PluginError(f"error unmarshalling JSON: {err}", DECODING_FAILURE) from None
    if not isinstance(conf, dict):
        raise PluginError("the configuration is not a JSON object", DECODING_FAILURE)
    orders.conf = conf
    if orders.command != "VERSION" and not conf.get("name"):
        raise PluginError("missing network name", INVALID_CONFIG)


def error_object(version: str, err: PluginError) -> Conf:
    document: Conf = {"cniVersion": version, "code": err.code, "msg": err.message}
    if err.details:
        document["details"] = err.details
    return document


def _print_and_exit(document: Conf | None, code: int) -> NoReturn:
    if document is not None:
        data = (plugin_json.dumps(document) + "\n").encode()
        while data:
            data = data[os.write(1, data) :]
    # Nothing is left to tidy up: skipping the interpreter's own farewell saves a millisecond.
    sys.stderr.flush()
    os._exit(code)


def result_in(version: str, result: Conf) -> Conf:
    """``result`` (in the current form) as ``version`` writes it."""
    if version in ("0.1.0", "0.2.0"):
        old: Conf = {"cniVersion": version}
        for item in result.get("ips", ())[:1]:
            old["ip4"] = {"ip": item["address"]}
            if item.get("gateway"):
                old["ip4"]["gateway"] = item["gateway"]
            if result.get("routes"):
                old["ip4"]["routes"] = result["routes"]
        return old | {"dns": result.get("dns") or {}}
    made = {"cniVersion": version, **result}
    if version in ("0.3.0", "0.3.1", "0.4.0"):
        made["ips"] = [{"version": "4", **item} for item in result.get("ips", ())]
    made.setdefault("dns", {})
    return made
