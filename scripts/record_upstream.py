"""Record how a kube-apiserver answers the cases of tests/golden/upstream.

    scripts/record_upstream.py VERSION https://127.0.0.1:6443 TOKEN [CASE ...]

The server must be a fresh kube-apiserver of that version with RBAC, TOKEN that of an administrator,
without controllers, and without the ServiceAccount admission plugin. Its answers become
tests/golden/upstream/answers/VERSION/CASE.json, which tests hold our API server against.
"""

from __future__ import annotations

import json
import ssl
import sys
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests/seam/apiserver"))

import upstream_cases  # noqa: E402


def main(version: str, server: str, token: str, *cases: str) -> None:
    url = urlsplit(server)
    tls = ssl.create_default_context()
    tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
    target = upstream_cases.Target(
        url.hostname or "", url.port or 443, tls, {"Authorization": f"Bearer {token}"}, tls
    )
    directory = upstream_cases.ANSWERS / version
    directory.mkdir(parents=True, exist_ok=True)
    for name in cases or upstream_cases.names():
        answers = upstream_cases.run(target, name, version)
        text = json.dumps(answers, indent=1, ensure_ascii=False)
        (directory / f"{name}.json").write_text(text + "\n")
        print(f"{version} {name}: {len(answers)} answers")


if __name__ == "__main__":
    main(*sys.argv[1:])
