"""A pytest plugin (``-p muntin_cluster``) that stands in for the cluster tool a suite starts.

It runs in the suite's own environment, where neither Muntin nor its tests are. The cluster is up
already; ``KUBECONFIG`` names it, ``CLIENT_SUITE_RESULTS`` the file that gets every test's outcome,
and ``CLIENT_SUITE_DESELECTED`` the tests that are not run. pytest-kind's ``KindCluster`` becomes
that cluster, and helpers that the Python client's archive leaves out are here.
"""

from __future__ import annotations

import gc
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

_outcomes: dict[str, str] = {}


class MuntinCluster:
    """What the suites use of ``pytest_kind.cluster.KindCluster``."""

    def __init__(self, name: str = "", image: str | None = None, **_: Any) -> None:
        self.name = name
        self.kubeconfig_path = Path(os.environ["KUBECONFIG"])
        self.kubectl_path = Path(shutil.which("kubectl") or "kubectl")

    def create(self, *_: Any) -> None:
        """Nothing: it is up."""

    def delete(self) -> None:
        """Nothing: who brought it up takes it down."""

    def kubectl(self, *args: str, **kwargs: Any) -> str:
        """What it prints. pytest-kind brings a recent kubectl; here an older one may be all."""
        if args[:2] == ("create", "token"):
            path = f"/api/v1/namespaces/default/serviceaccounts/{args[2]}/token"
            request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
            answer = self._run("create", "--raw", path, "-f", "-", input=json.dumps(request))
            return str(json.loads(answer)["status"]["token"])
        return self._run(*args, **kwargs)

    def _run(self, *args: str, **kwargs: Any) -> str:
        return subprocess.check_output(
            [str(self.kubectl_path), *args],
            env={**os.environ, "KUBECONFIG": str(self.kubeconfig_path)},
            encoding="utf-8",
            **kwargs,
        )


def get_e2e_configuration() -> Any:
    """The configuration that the Python client's tests take from ``kubernetes.e2e_test.base``,
    a module that its source archive does not hold."""
    from kubernetes.client.configuration import Configuration
    from kubernetes.config import kube_config

    configuration = Configuration()
    kube_config.load_kube_config(client_configuration=configuration)
    return configuration


def get_aio_configuration() -> Any:
    """The same of ``kubernetes.aio.e2e_test.base``, for the client on asyncio."""
    import asyncio

    from kubernetes.aio.client.configuration import Configuration
    from kubernetes.aio.config import kube_config

    configuration = Configuration()
    asyncio.run(kube_config.load_kube_config(client_configuration=configuration))
    return configuration


def _module(name: str, **members: Any) -> None:
    module = ModuleType(name)
    vars(module).update(members)
    sys.modules[name] = module


def _stand_in() -> None:
    _module("pytest_kind.cluster", KindCluster=MuntinCluster)
    if not Path("kubernetes/e2e_test").exists():
        _base("kubernetes.e2e_test", get_e2e_configuration)
        _base("kubernetes.aio.e2e_test", get_aio_configuration)


def _base(package: str, get_configuration: Callable[[], Any]) -> None:
    _module(f"{package}.base", get_e2e_configuration=get_configuration)
    _module(package, base=sys.modules[f"{package}.base"])


_stand_in()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol() -> Iterator[None]:
    """Garbage is collected between tests alone.

    What a finalizer says with a traceback parses code, and CPython before 3.12 fails where that
    happens within another call of ``ast.parse`` (python/cpython issue 106905).
    """
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """The last word on a test: an error of its clean-up outweighs that it passed."""
    if report.when == "call" or report.outcome != "passed":
        if getattr(report, "wasxfail", None) is not None:
            _outcomes[report.nodeid] = "xfailed" if report.skipped else "xpassed"
        else:
            _outcomes[report.nodeid] = report.outcome


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests that are named, and no other: ``--deselect`` takes beginnings of ids."""
    named = set(json.loads(os.environ.get("CLIENT_SUITE_DESELECTED", "[]")))
    left_out = [item for item in items if item.nodeid in named]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item.nodeid not in named]


def pytest_deselected(items: list[pytest.Item]) -> None:
    _outcomes.update((item.nodeid, "deselected") for item in items)


def pytest_sessionfinish() -> None:
    if path := os.environ.get("CLIENT_SUITE_RESULTS"):
        Path(path).write_text(json.dumps(_outcomes, indent=1, sort_keys=True))
