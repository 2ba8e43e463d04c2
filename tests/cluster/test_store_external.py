"""A cluster whose objects are in an etcd that was there before it, over TLS."""

from __future__ import annotations

import asyncio
from pathlib import Path

from etcd_lab import EtcdLab
from whole_cluster import Cluster


def keys(lab: EtcdLab, prefix: str) -> int:
    async def count() -> int:
        store = await lab.store()
        try:
            return await store.count(prefix)
        finally:
            await store.close()

    return asyncio.run(count())


def test_a_cluster_on_an_etcd_that_is_there(other: Cluster, tmp_path: Path) -> None:
    lab = EtcdLab(tmp_path / "etcd")
    prefix = f"/muntin/{other.name}/"
    try:
        assert keys(lab, prefix) == 0  # it answers
        files = lab.files
        flags = ["--store", lab.urls, "--store-ca", str(files["ca"]), "--windows-nodes", "0"]
        refused = other.up(*flags, check=False)
        assert refused.returncode
        assert "store: etcd at 127.0.0.1" in refused.stderr
        assert "check --store and its certificates" in refused.stderr
        flags += ["--store-cert", str(files["cert"]), "--store-key", str(files["key"])]
        other.up(*flags)
        other.kubectl("create", "configmap", "kept", "--from-literal=a=b")
        assert keys(lab, f"{prefix}registry/core/configmaps/default/kept") == 1
        assert keys(lab, "/registry/") == 0
        other.down()
        assert keys(lab, prefix) == 0
    finally:
        lab.close()
