"""Who writes pods is told what an adviser has to say; nobody is kept from writing by it."""

import asyncio

from api_in_process import KEY, PODS, Api, pod

from muntin.apiserver.config import ApiServerConfig
from muntin.apiserver.loop import ApiServer
from muntin.seams.store.memory import MemoryStore

MAPS = "/api/v1/namespaces/default/configmaps"


def told(scenario, advise):
    async def main():
        config = ApiServerConfig(
            kubernetes_version="1.34",
            service_account_key=KEY,
            advertise_address="192.0.2.1",
            advise=advise,
        )
        async with ApiServer(config, MemoryStore()) as server:
            api = Api(server.user("admin", "system:masters"))
            accounts = "/api/v1/namespaces/default/serviceaccounts"
            await api("POST", accounts, {"metadata": {"name": "default"}})
            await asyncio.wait_for(scenario(server, api), 20)

    asyncio.run(main())


def warnings(api):
    return api.headers.get("warning", "")


def test_the_writer_is_warned_of_what_is_new():
    asked = []

    def advise(obj, old, images):
        asked.append((obj["metadata"]["name"], old is None))
        return ["no such thing there"] if old is None else []

    async def scenario(server, api):
        await api("POST", PODS, pod("one"))
        assert warnings(api) == '299 - "no such thing there"'
        patch = {"metadata": {"labels": {"a": "b"}}}
        headers = {"content-type": "application/merge-patch+json"}
        await api("PATCH", f"{PODS}/one", patch, headers=headers)
        assert warnings(api) == ""
        await api("POST", MAPS, {"metadata": {"name": "map"}})
        assert asked == [("one", True), ("one", False)]

    told(scenario, advise)


def test_the_adviser_knows_the_images_of_windows_nodes():
    known = []

    def advise(obj, old, images):
        known.append(images())
        return []

    async def scenario(server, api):
        for name, system in (("win01", "windows"), ("lin01", "linux")):
            labels = {"kubernetes.io/os": system}
            await api("POST", "/api/v1/nodes", {"metadata": {"name": name, "labels": labels}})
            rows = {"status": {"images": [{"names": [f"docker.io/library/{system}:1"]}]}}
            headers = {"content-type": "application/merge-patch+json"}
            await api("PATCH", f"/api/v1/nodes/{name}/status", rows, headers=headers)
        await api("POST", PODS, pod("one"))
        await api("DELETE", "/api/v1/nodes/win01")
        await api("POST", PODS, pod("two"))
        assert known == [{"docker.io/library/windows:1"}, frozenset()]

    told(scenario, advise)


def test_components_are_not_told():
    async def scenario(server, api):
        controller = Api(server.service_account("kube-system", "replicaset-controller"))
        await controller("POST", PODS, pod("one"))
        assert warnings(controller) == ""

    told(scenario, lambda obj, old: ["nobody reads this"])


def test_a_mistake_of_the_adviser_loses_no_write():
    def advise(obj, old, images):
        raise KeyError("spec")

    async def scenario(server, api):
        await api("POST", PODS, pod("one"), code=201)
        assert (await api("GET", f"{PODS}/one"))["metadata"]["name"] == "one"

    told(scenario, advise)
