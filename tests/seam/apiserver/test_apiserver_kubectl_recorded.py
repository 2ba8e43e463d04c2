"""What kubectls sent when they were recorded, asked again: machines with one kubectl cover both.

scripts/record_kubectl.py made the cases. The answers must have the status, type and kind that the
kubectl of the recording was content with.
"""

import asyncio
import base64
import json
from pathlib import Path

import pytest
from kubectl_world import world

from muntin.kit.http.messages import Request, Response

GOLDEN = Path(__file__).parents[2] / "golden/kubectl"
CASES = sorted(GOLDEN.glob("*/*.json"))


def test_two_ages_are_recorded():
    ages = {path.parent.name for path in CASES}
    assert "1.20" in ages
    assert any(tuple(map(int, age.split("."))) >= (1, 30) for age in ages)
    for age in ages:
        assert len([path for path in CASES if path.parent.name == age]) > 60


@pytest.mark.parametrize("case", CASES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_answers_are_as_recorded(case):
    recorded = json.loads(case.read_text())["requests"]
    assert recorded
    assert asyncio.run(_replay(recorded)) == [_expected(entry) for entry in recorded]


async def _replay(recorded):
    got, token = [], ""
    async with world() as found:
        for entry in recorded:
            answer, token = await _answer(found, entry, token)
            got.append(answer)
    return got


async def _answer(found, entry, token):
    """What the server says to one request, and where its list goes on."""
    now = str(found.server.core.cache.revision)
    body = entry.get("body", "")
    if '"{now}"' in body:
        _, current = await found.call("GET", entry["path"])
        body = body.replace("{now}", current["metadata"]["resourceVersion"])
    data = base64.b64decode(body[7:]) if body.startswith("base64:") else body.encode()
    answer = await found.ask(
        Request(
            method=entry["method"],
            path=entry["path"],
            query=entry.get("query", "").replace("{now}", now).replace("{continue}", token),
            headers=entry["headers"],
            body=data,
        )
    )
    if not isinstance(answer, Response):
        return {"status": 101}, ""
    headers = {name.lower(): value for name, value in answer.headers.items()}
    got = {"status": int(answer.status), "type": headers.get("content-type", "")}
    if isinstance(answer.body, bytes) and "json" in got["type"]:
        document = json.loads(answer.body)
        if "kind" in document:
            got["kind"] = document["kind"]
        token = (document.get("metadata") or {}).get("continue", "")
    return got, token


def _expected(entry):
    return {key: entry[key] for key in ("status", "type", "kind") if key in entry}
