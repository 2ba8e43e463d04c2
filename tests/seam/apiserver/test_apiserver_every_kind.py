"""One object of every kind, in every version of it that is served, in every version of the API.

Nothing is stored that the API's own version does not know, and each version of a kind shows what
any other one stored.
"""

import json
from pathlib import Path

import pytest
import yaml
from api_in_process import JSON, run

from muntin.model import resources, schema
from muntin.model.conversion import convert
from muntin.model.decoding import decode

OBJECTS = [
    document
    for document in yaml.safe_load_all((Path(__file__).parent / "one_of_each.yaml").read_text())
    if document
]
OLDER = ("extensions/v1beta1", "apps/v1beta1", "apps/v1beta2")
# Of these, the server keeps objects of its own or none: they are created elsewhere.
NOT_HERE = {
    "apiservices",
    "componentstatuses",
    "customresourcedefinitions",
    "devicetaintrules",
    "mutatingwebhookconfigurations",
    "podcertificaterequests",
    "storageversionmigrations",
    "validatingadmissionpolicies",
    "validatingadmissionpolicybindings",
    "validatingwebhookconfigurations",
}


def newest(row):
    return resources.storage_version(row)


def bodies(row):
    """The objects of a row's kind, in its form."""
    for document in OBJECTS:
        source = resources.known(document["apiVersion"], document["kind"])
        if source.storage_name == row.storage_name:
            found = convert(convert(document, source, newest(row)), newest(row), row)
            yield json.loads(json.dumps(_precise(found)))


def _precise(obj):
    """An event of the newer group as its stable version wants it."""
    if obj["apiVersion"] != "events.k8s.io/v1":
        return obj
    kept = {key: item for key, item in obj.items() if not key.startswith("deprecated")}
    return {**kept, "eventTime": "2024-05-10T11:00:00.000000Z", "action": "a",
            "reportingController": "a.b/c", "reportingInstance": "i"}  # fmt: skip


async def created(api, row, body, name):
    body["metadata"]["name"] = name
    namespace = "default" if row.namespaced else None
    path = row.path("", namespace)
    answer = await api.transport.request(
        "POST", f"{path}?fieldValidation=Ignore", headers=JSON, body=json.dumps(body).encode()
    )
    found = json.loads(answer.body)
    assert answer.status == 201, (row.api_version, row.kind, found)
    return found


@pytest.mark.parametrize("version", schema.versions())
def test_what_is_stored_is_of_the_version(version):
    types = schema.load(version)

    async def scenario(server, api):
        seen = set()
        for row in server.core.registry.rows:
            if row.plural in NOT_HERE or "create" not in row.verbs or not row.is_stored:
                continue
            for body in bodies(row):
                name = body["metadata"]["name"]
                found = await created(api, row, body, name)
                seen.add(row.plural)
                assert decode(types, row, found).unknown == [], (row.api_version, row.kind)
                namespace = "default" if row.namespaced else None
                for other in server.core.registry.rows:
                    if other.storage_name == row.storage_name:
                        shown = await api("GET", other.path(name, namespace))
                        assert (shown["apiVersion"], shown["kind"]) == (
                            other.api_version,
                            other.kind,
                        )
                        unknown = decode(types, other, shown).unknown
                        assert unknown == [], (other.api_version, other.kind)
                        if other == row:
                            assert shown == found
                await api("DELETE", f"{row.path(name, namespace)}?gracePeriodSeconds=0")
                await released(api, row, name, namespace)
        kinds = {
            row.plural
            for row in server.core.registry.rows
            if row.is_stored and "create" in row.verbs
        }
        assert kinds - seen - NOT_HERE == set()

    run(scenario, version=version, runtime_config=dict.fromkeys(OLDER, True))


async def released(api, row, name, namespace):
    """Take away what keeps an object that is being deleted, as its controller would."""
    path = row.path(name, namespace)
    answer = await api.transport.request("GET", path, headers={})
    if answer.status != 200:
        return
    patch = {"metadata": {"finalizers": None}}
    merge = {"content-type": "application/merge-patch+json"}
    await api("PATCH", path, patch, headers=merge)
