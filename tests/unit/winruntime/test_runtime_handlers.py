"""Which RuntimeClass handlers a node's runtime knows, and what it says of others."""

import pytest

from muntin.model.windows import Feature
from muntin.model.windows_releases import build_named, profile_of
from muntin.seams.cri import Unknown
from muntin.winruntime.sandboxes import check_handler

HANDLERS = pytest.mark.reproduces(
    Feature.GUIDE_RUNTIMECLASS_HANDLER_DOCKER,
    Feature.RUNTIMECLASS_CONTAINERD_HANDLERS,
    Feature.PROCESS_ISOLATION_ONLY,
)


@HANDLERS
@pytest.mark.parametrize(
    "runtime, handler",
    [
        ("docker", ""),
        ("docker", "docker"),
        ("containerd", ""),
        ("containerd", "runhcs-wcow-process"),
    ],
)
def test_known_handlers(runtime, handler):
    check_handler(handler, profile_of(build_named("2019"), (1, 20), runtime=runtime))


@HANDLERS
@pytest.mark.parametrize(
    "runtime, handler, words",
    [
        ("containerd", "docker", 'no runtime for "docker" is configured'),
        ("containerd", "gvisor", 'no runtime for "gvisor" is configured'),
        ("containerd", "runhcs-wcow-hypervisor", "a required feature is not installed"),
        ("docker", "runhcs-wcow-process", 'RuntimeHandler "runhcs-wcow-process" not supported'),
    ],
)
def test_other_handlers(runtime, handler, words):
    with pytest.raises(Unknown, match=words):
        check_handler(handler, profile_of(build_named("2019"), (1, 20), runtime=runtime))
