"""A running API server with certificates, and kubectl of two ages."""

import shutil

import pytest
from apiserver_process import Kubectl, ServerProcess


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    found = ServerProcess(tmp_path_factory.mktemp("apiserver"))
    found.start()
    try:
        yield found
    finally:
        found.stop()
    assert "Traceback" not in found.log


@pytest.fixture(scope="session", params=["on PATH", "1.20"])
def kubectl_binary(request):
    if request.param == "1.20":
        return request.getfixturevalue("old_kubectl")
    found = shutil.which("kubectl")
    assert found, "there is no kubectl on PATH"
    return found


@pytest.fixture(scope="session")
def admin(server, kubectl_binary, tmp_path_factory):
    return Kubectl(kubectl_binary, server.kubeconfig(), tmp_path_factory.mktemp("home"))


@pytest.fixture
def namespace(admin, request):
    """A namespace of the test's own; the account of its pods is there."""
    name = f"t{abs(hash((request.node.nodeid, admin.binary))) % 10**8}"
    admin("create", "namespace", name)
    admin("create", "serviceaccount", "default", "-n", name)
    return name
