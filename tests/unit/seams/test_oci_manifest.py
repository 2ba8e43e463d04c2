"""Documents of images, and which of several platforms a Windows host takes."""

import pytest

from muntin.kit.errors import Invalid, NotFound
from muntin.seams.oci.manifest import (
    Descriptor,
    Platform,
    is_index,
    parse_config,
    parse_manifest,
    select,
)


def entry(os: str, version: str = "", architecture: str = "amd64") -> Descriptor:
    platform = Platform(os, architecture, version)
    return Descriptor("", f"sha256:{os}-{architecture}-{version}", 1, platform)


DIGEST = b"sha256:" + b"a" * 64
INDEX = [
    entry("linux"),
    entry("windows", "10.0.17763.100"),
    entry("windows", "10.0.17763.3650"),
    entry("windows", "10.0.20348.1"),
    entry("windows", "10.0.17763.9999", "arm64"),
]


def test_the_newest_revision_of_a_build_that_runs_is_taken() -> None:
    chosen = select(INDEX, os="windows", architecture="amd64", runs=lambda b: b == 17763)
    assert chosen.digest.endswith("10.0.17763.3650")


def test_nothing_fits() -> None:
    with pytest.raises(NotFound, match="no match for platform in manifest: not found"):
        select(INDEX, os="windows", architecture="amd64", runs=lambda b: b == 26100)


def test_a_config_tells_how_to_run_and_which_layers_are_the_system_s() -> None:
    config = parse_config(
        b'{"os":"windows","architecture":"amd64","os.version":"10.0.17763.1",'
        b'"config":{"Cmd":["c:\\\\app.exe"],"Env":["A=b"],"ArgsEscaped":true,"User":"u"},'
        b'"history":[{"created_by":"Apply image 1809"},{"created_by":"Install update 10.0"},'
        b'{"created_by":"COPY app"}],"rootfs":{"diff_ids":["%b","%b","%b"]}}' % ((DIGEST,) * 3)
    )
    assert (config.cmd, config.env, config.user) == (("c:\\app.exe",), ("A=b",), "u")
    assert config.args_escaped
    assert (config.platform.build, config.base_layers) == (17763, 2)


def test_an_index_is_told_from_a_manifest_by_type_or_fields() -> None:
    assert is_index({"manifests": []})
    assert is_index({"mediaType": "application/vnd.oci.image.index.v1+json"})
    assert not is_index({"config": {}, "layers": []})


def test_a_manifest_without_config_is_refused() -> None:
    with pytest.raises(Invalid, match="schema 1"):
        parse_manifest({"schemaVersion": 1})
