"""Every recorded request is answered as kube-apiserver of that version answered it.

Differences that are meant stand in tests/golden/upstream/differences.yaml with their reasons; one
that is no longer there must leave that file.
"""

from __future__ import annotations

import json
import re
import ssl

import pytest
import upstream_cases
import yaml
from apiserver_process import ServerProcess

VERSIONS = sorted(path.name for path in upstream_cases.ANSWERS.iterdir())
EXPLAINED = yaml.safe_load((upstream_cases.HERE / "differences.yaml").read_text()) or []


@pytest.fixture(scope="module", params=VERSIONS)
def target(request, tmp_path_factory):
    """A server of one recorded API version, and the version."""
    directory = tmp_path_factory.mktemp("upstream")
    process = ServerProcess(directory, version=request.param, without="ServiceAccount")
    process.start()
    stranger = ssl.create_default_context(cafile=str(process.directory / "ca.crt"))
    tls = ssl.create_default_context(cafile=str(process.directory / "ca.crt"))
    pair = (str(process.directory / "admin.crt"), str(process.directory / "admin.key"))
    tls.load_cert_chain(*pair)
    try:
        yield upstream_cases.Target("127.0.0.1", process.port, tls, {}, stranger), request.param
    finally:
        process.stop()
    assert "Traceback" not in process.log


@pytest.mark.parametrize("name", upstream_cases.names())
def test_answers(target, name):
    server, version = target
    wanted = json.loads((upstream_cases.ANSWERS / version / f"{name}.json").read_text())
    found = upstream_cases.run(server, name, version)
    assert [row["send"] for row in wanted] == [row["send"] for row in found], "record them anew"
    rows = [row for row in EXPLAINED if re.fullmatch(row["case"], f"{version}/{name}")]
    unused = {row["difference"] for row in rows if not row.get("sometimes")}
    unexplained = []
    for index, (one, other) in enumerate(zip(wanted, found, strict=True)):
        for difference in upstream_cases.differences(one, other, loose=version != VERSIONS[-1]):
            reasons = [row for row in rows if re.search(row["difference"], difference)]
            unused -= {row["difference"] for row in reasons}
            if not reasons:
                unexplained.append(f"{index} {one['send']} {difference}")
    assert not unexplained, "\n".join(unexplained)
    assert not unused, f"explained in differences.yaml, and no longer so: {unused}"
