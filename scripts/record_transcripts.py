"""Record what kubectl prints of a kube-apiserver, for the scripts of tests/golden/transcripts.

    scripts/record_transcripts.py API_VERSION KUBECONFIG KUBECTL [TOPIC ...]

KUBECONFIG is an administrator's of a fresh kube-apiserver of that version, with RBAC, without
controllers and without the ServiceAccount admission plugin. What the kubectl prints becomes
tests/golden/transcripts/recorded/API_VERSION/KUBECTL_VERSION/TOPIC.txt, which
tests/seam/apiserver/test_kubectl_transcripts.py holds Muntin's API server against.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests/seam/apiserver"))

from transcript_run import Stage, play, set_up, version_of  # noqa: E402
from transcript_text import RECORDED, topics, written  # noqa: E402


def main(api: str, kubeconfig: str, kubectl: str, *chosen: str) -> None:
    client = version_of(kubectl)
    directory = RECORDED / api / client
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        stage = Stage(kubectl, Path(folder), Path(kubeconfig))
        set_up(stage)
        for topic in chosen or topics():
            try:
                outcomes = play(stage, topic, api, client)
            except AssertionError as error:  # a script that is wrong; the others are recorded
                print(error)
                continue
            (directory / f"{topic}.txt").write_text(written(outcomes))
            print(f"{api} {client} {topic}: {len(outcomes)} steps", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
