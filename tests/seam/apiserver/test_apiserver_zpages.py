"""Pages about the server itself, and discovery in the forms that each version has.

Codes, media types and who may read them are what kube-apiserver 1.36 and 1.20 answered.
"""

import json

import pytest
import yaml
from api_in_process import run

STATUSZ = "g=config.k8s.io;v=v1beta1;as=Statusz"
DISCOVERY = "application/json;g=apidiscovery.k8s.io;v={};as=APIGroupDiscoveryList"


async def get(server, path, accept="", groups=("system:masters",)):
    return await server.user("me", *groups).request(
        "GET", path, headers={"accept": accept} if accept else {}
    )


@pytest.mark.parametrize(
    ("path", "accept", "code", "media"),
    [
        ("/statusz", "", 200, "text/plain; charset=utf-8"),
        ("/statusz", "*/*", 200, "text/plain; charset=utf-8"),
        ("/statusz", "text/*", 200, "text/plain; charset=utf-8"),
        ("/statusz", "application/json,text/plain", 200, "text/plain; charset=utf-8"),
        ("/statusz", f"application/json;{STATUSZ}", 200, f"application/json;{STATUSZ}"),
        ("/statusz", f"application/yaml;{STATUSZ}", 200, f"application/yaml;{STATUSZ}"),
        ("/statusz", "application/json", 406, "application/json"),
        ("/statusz", "text/html", 406, "application/json"),
        ("/statusz", f"text/plain;{STATUSZ}", 406, "application/json"),
        ("/flagz", f"application/json;{STATUSZ}", 406, "application/json"),
        ("/flagz", "", 200, "text/plain; charset=utf-8"),
        ("/statusz/", "", 404, "text/plain; charset=utf-8"),
        ("/metrics/slis/", "", 404, "text/plain; charset=utf-8"),
    ],
)
def test_what_is_answered(path, accept, code, media):
    async def scenario(server, api):
        answer = await get(server, path, accept)
        assert (answer.status, answer.headers["content-type"]) == (code, media)
        if code == 406:
            assert json.loads(answer.body)["message"] == (
                "only the following media types are accepted: "
                "application/json, application/yaml, text/plain"
            )

    run(scenario, version="1.36")


def test_the_server_tells_of_itself():
    async def scenario(server, api):
        answer = await get(server, "/statusz", f"application/json;{STATUSZ}")
        found = json.loads(answer.body)
        assert found["apiVersion"] == "config.k8s.io/v1beta1"
        assert found["metadata"] == {"name": "apiserver"}
        assert found["emulationVersion"] == "1.36"
        assert found["uptimeSeconds"] >= 0
        assert "/statusz" in found["paths"]
        old = STATUSZ.replace("v1beta1", "v1alpha1")
        answer = await get(server, "/statusz", f"application/yaml;{old}")
        assert yaml.safe_load(answer.body)["kind"] == "Statusz"
        assert "version of the statusz endpoint is deprecated" in answer.headers["warning"]
        text = (await get(server, "/statusz")).body.decode()
        assert text.startswith("\napiserver statusz\n")
        assert "\nEmulation version: 1.36\n" in text
        flags = STATUSZ.replace("Statusz", "Flagz")
        found = json.loads((await get(server, "/flagz", f"application/json;{flags}")).body)
        assert found["flags"]["service-cluster-ip-range"] == "10.96.0.0/12"
        assert found["flags"]["max-requests-inflight"] == "400"
        assert "\nauthorization-mode [Node,RBAC]\n" in (await get(server, "/flagz")).body.decode()

    run(scenario, version="1.36")


def test_what_health_checks_found_is_counted():
    async def scenario(server, api):
        for path in ("/readyz", "/livez", "/livez"):
            assert (await get(server, path)).status == 200
        text = (await get(server, "/metrics/slis")).body.decode()
        assert 'kubernetes_healthcheck{name="etcd",type="readyz"} 1\n' in text
        counted = 'kubernetes_healthchecks_total{name="ping",status="success",type="livez"} 2\n'
        assert counted in text
        assert "kubernetes_healthcheck" not in (await get(server, "/metrics")).body.decode()

    run(scenario, version="1.36")


@pytest.mark.parametrize(
    ("version", "pages", "discovery"),
    [
        ("1.20", set(), set()),
        ("1.26", set(), set()),
        ("1.27", {"/metrics/slis"}, {"v2beta1"}),
        ("1.30", {"/metrics/slis"}, {"v2", "v2beta1"}),
        ("1.33", {"/metrics/slis"}, {"v2"}),
        ("1.36", {"/metrics/slis", "/statusz", "/flagz"}, {"v2"}),
    ],
)
def test_what_each_version_has(version, pages, discovery):
    async def scenario(server, api):
        listed = set(json.loads((await get(server, "/")).body)["paths"])
        for path in ("/metrics/slis", "/statusz", "/flagz"):
            answer = await get(server, path)
            assert (answer.status == 200) == (path in listed) == (path in pages)
            assert (await get(server, path, groups=("system:authenticated",))).status == 403
            answer = await get(server, path, groups=("system:monitoring",))
            # What is not there may be asked for by nobody whom no role lets.
            assert (answer.status == 200) == (path in pages)
        for form in ("v2", "v2beta1", "v3"):
            for path in ("/api", "/apis"):
                wanted = DISCOVERY.format(form)
                assert (await get(server, path, wanted)).status == (
                    200 if form in discovery else 406
                )
                answer = await get(server, path, f"{wanted},application/json")
                assert answer.status == 200
                is_new = json.loads(answer.body)["kind"] == "APIGroupDiscoveryList"
                assert is_new == (form in discovery)

    run(scenario, version=version)
