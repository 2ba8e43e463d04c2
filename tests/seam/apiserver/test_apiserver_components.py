"""ComponentStatuses say what is so."""

import asyncio
import json

from api_in_process import run

PATH = "/api/v1/componentstatuses"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


def test_the_store_and_those_that_were_told_of():
    async def scenario(server, api):
        task = asyncio.create_task(asyncio.sleep(60))
        server.core.components.add_task("scheduler", task)
        found = await api("GET", PATH)
        assert found["kind"] == "ComponentStatusList"
        names = [item["metadata"]["name"] for item in found["items"]]
        assert names == ["etcd-0", "scheduler"]
        healthy = {"type": "Healthy", "status": "True", "message": "ok"}
        assert all(item["conditions"] == [healthy] for item in found["items"])
        task.cancel()
        await asyncio.sleep(0)
        one = await api("GET", f"{PATH}/scheduler")
        assert (one["kind"], one["apiVersion"]) == ("ComponentStatus", "v1")
        assert one["conditions"][0]["status"] == "False"
        assert "has ended" in one["conditions"][0]["message"]
        await api("GET", f"{PATH}/none", code=404)
        answer = await api.transport.request("GET", PATH, headers={"accept": TABLE})
        rows = [row["cells"] for row in json.loads(answer.body)["rows"]]
        assert rows == [
            ["etcd-0", "Healthy", "ok", ""],
            ["scheduler", "Unhealthy", "scheduler has ended", ""],
        ]
        assert "v1 ComponentStatus is deprecated in v1.19+" in answer.headers["warning"]

    run(scenario)
