"""API servers behind this one: registered, checked, and asked with the user's identity."""

import asyncio
import base64
import contextlib
import json
import os
import shutil
import socket
import ssl
from contextlib import asynccontextmanager

import pytest
from api_in_process import JSON, KEY, Api, run
from apiserver_process import Authority
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.x509.oid import NameOID
from extension_server import ROOT, ExtensionServer

from muntin.apiserver.config import ApiServerConfig
from muntin.apiserver.loop import ApiServer, Listener, server_context
from muntin.apiserver.request import User
from muntin.seams.store.memory import MemoryStore

SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"
NAME = "v1beta1.metrics.k8s.io"
DISCOVERY = {"accept": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}


class ServiceAuthority(Authority):
    """Signs for ``metrics-server.kube-system.svc``."""

    def service_pair(self, file):
        key = self.key(f"{file}.key")
        names = (x509.DNSName("metrics-server.kube-system.svc"),)
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "metrics-server")])
        certificate = self._signed(subject, key.public_key(), alternative=names)
        self._write(f"{file}.crt", certificate.public_bytes(serialization.Encoding.PEM))


@pytest.fixture(scope="module")
def pki(tmp_path_factory):
    directory = tmp_path_factory.mktemp("pki")
    service = ServiceAuthority(directory)
    service.service_pair("extension")
    (directory / "service-ca.crt").write_bytes((directory / "ca.crt").read_bytes())
    front = Authority(directory)
    (directory / "front-proxy-ca.crt").write_bytes((directory / "ca.crt").read_bytes())
    front.pair("front-proxy-client", "front-proxy-client")
    own = Authority(directory)
    own.pair("server", "kube-apiserver", server=True)
    own.pair("admin", "kubernetes-admin", "system:masters")
    own.pair("viewer", "vera", "watchers")
    return directory


@pytest.fixture
def extension(pki):
    with ExtensionServer(
        pki / "extension.crt", pki / "extension.key", pki / "front-proxy-ca.crt"
    ) as server:
        yield server


def config(pki):
    return ApiServerConfig(
        kubernetes_version="1.34",
        service_account_key=KEY,
        advertise_address="192.0.2.1",
        dials_any=True,
        proxy_client_certificate=(pki / "front-proxy-client.crt").read_bytes(),
        proxy_client_key=(pki / "front-proxy-client.key").read_bytes(),
    )


def service(**spec):
    metadata = {"name": "metrics-server", "namespace": "kube-system"}
    return {"metadata": metadata, "spec": spec}


def api_service(pki=None, port=443, **spec):
    if pki is not None:
        spec["caBundle"] = base64.b64encode((pki / "service-ca.crt").read_bytes()).decode()
    spec = {
        "group": "metrics.k8s.io",
        "version": "v1beta1",
        "groupPriorityMinimum": 100,
        "versionPriority": 100,
        "service": {"name": "metrics-server", "namespace": "kube-system", "port": port},
        **spec,
    }
    return {"metadata": {"name": NAME}, "spec": spec}


async def until(api, reason):
    """The condition Available, once it has ``reason``."""
    for _ in range(250):
        conditions = (await api("GET", f"{SERVICES}/{NAME}")).get("status", {}).get("conditions")
        if conditions and conditions[0]["reason"] == reason:
            return conditions[0]
        await asyncio.sleep(0.02)
    raise AssertionError(f"never {reason}, but {conditions}")


@asynccontextmanager
async def aggregated(pki, extension):
    """A server with the extension behind it, and its administrator."""
    async with ApiServer(config(pki), MemoryStore()) as server:
        api = Api(server.user("admin", "system:masters"))
        await api(
            "POST",
            "/api/v1/namespaces/kube-system/services",
            service(type="ExternalName", externalName="localhost"),
        )
        await api("POST", SERVICES, api_service(pki, extension.port))
        await until(api, "Passed")
        yield server, api


def test_local_groups_have_api_services():
    async def scenario(server, api):
        rows = {row["metadata"]["name"]: row for row in (await api("GET", SERVICES))["items"]}
        assert rows["v1."]["spec"]["groupPriorityMinimum"] == 18000
        assert rows["v1.apps"]["spec"] == {
            "group": "apps",
            "version": "v1",
            "groupPriorityMinimum": 17800,
            "versionPriority": 15,
        }
        (condition,) = rows["v1.apps"]["status"]["conditions"]
        assert (condition["type"], condition["status"]) == ("Available", "True")
        assert condition["reason"] == "Local"
        served = {(row.group, row.version) for row in server.core.registry.rows}
        served.discard(("apiregistration.k8s.io", "v1"))
        assert set(rows) == {f"{version}.{group}" for group, version in served}

    run(scenario)


def test_groups_of_custom_resources_have_api_services_as_long_as_they_are_served():
    async def scenario(server, api):
        definition = {
            "metadata": {"name": "things.example.com"},
            "spec": {
                "group": "example.com",
                "scope": "Namespaced",
                "names": {"plural": "things", "kind": "Thing"},
                "versions": [
                    {
                        "name": "v1",
                        "served": True,
                        "storage": True,
                        "schema": {"openAPIV3Schema": {"type": "object"}},
                    }
                ],
            },
        }
        definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        transport = server.user("admin", "system:masters")
        await api("POST", definitions, definition)

        async def settled(code):
            for _ in range(200):
                path = f"{SERVICES}/v1.example.com"
                answer = await transport.request("GET", path, headers={})
                if answer.status == code:
                    return json.loads(answer.body)
                await asyncio.sleep(0.02)
            raise AssertionError(answer.body)

        made = await settled(200)
        assert made["metadata"]["labels"] == {"kube-aggregator.kubernetes.io/automanaged": "true"}
        assert (made["spec"]["groupPriorityMinimum"], made["spec"]["versionPriority"]) == (
            1000,
            100,
        )
        await api("DELETE", f"{definitions}/things.example.com")
        await settled(404)

    run(scenario)


def test_a_deleted_local_api_service_comes_back_with_the_next_start():
    store = MemoryStore()

    async def delete(server, api):
        await api("DELETE", f"{SERVICES}/v1.apps")
        await api("GET", f"{SERVICES}/v1.apps", code=404)

    async def again(server, api):
        assert await api("GET", f"{SERVICES}/v1.apps")

    run(delete, store=store)

    async def main():
        async with ApiServer(
            ApiServerConfig(kubernetes_version="1.34", service_account_key=KEY), store
        ) as server:
            await again(server, Api(server.user("admin", "system:masters")))

    asyncio.run(main())


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"version": "v2"}, 'must be `spec.version+"."+spec.group`: "v2.metrics.k8s.io"'),
        ({"versionPriority": 0}, "must be positive and less than 1000"),
        ({"groupPriorityMinimum": 20001}, "must be positive and less than 20000"),
        ({"service": {"name": "x", "namespace": "y", "port": 70000}}, "port is not valid"),
        ({"service": {"namespace": "y"}}, "spec.service.name: Required value"),
        (
            {"insecureSkipTLSVerify": True, "caBundle": "eHg="},
            "may not be true if caBundle is present",
        ),
        ({"service": None, "caBundle": "eHg="}, "local APIServices may not have a caBundle"),
    ],
)
def test_wrong_api_services_are_refused(spec, message):
    async def scenario(server, api):
        obj = api_service(**spec)
        error = await api("POST", SERVICES, obj, code=422)
        assert message in error["message"]

    run(scenario)


def test_reasons_for_being_unavailable_in_their_order():
    async def scenario(server, api):
        await api("POST", SERVICES, api_service(insecureSkipTLSVerify=True))
        found = await until(api, "ServiceNotFound")
        assert found["message"] == 'service/metrics-server in "kube-system" is not present'
        assert found["status"] == "False"
        answer = await server.user("admin", "system:masters").request(
            "GET", f"{ROOT}/nodes", headers={}
        )
        assert (answer.status, answer.body) == (503, b"service unavailable\n")
        services = "/api/v1/namespaces/kube-system/services"
        ports = [{"name": "https", "port": 444}]
        await api("POST", services, service(ports=ports))
        await until(api, "ServicePortError")
        made = await api("GET", f"{services}/metrics-server")
        made["spec"]["ports"][0]["port"] = 443
        await api("PUT", f"{services}/metrics-server", made)
        await until(api, "EndpointsNotFound")
        slices = "/apis/discovery.k8s.io/v1/namespaces/kube-system/endpointslices"
        labels = {"kubernetes.io/service-name": "metrics-server"}
        piece = {
            "metadata": {"name": "metrics-server-1", "labels": labels},
            "addressType": "IPv4",
            "endpoints": [{"addresses": ["192.0.2.9"], "conditions": {"ready": False}}],
            "ports": [{"name": "https", "port": 4443, "protocol": "TCP"}],
        }
        await api("POST", slices, piece)
        found = await until(api, "MissingEndpoints")
        assert 'have no addresses with port name "https"' in found["message"]
        table = await api(
            "GET",
            f"{SERVICES}/{NAME}",
            headers={"accept": "application/json;as=Table;v=v1;g=meta.k8s.io"},
        )
        assert table["rows"][0]["cells"][:3] == [
            NAME,
            "kube-system/metrics-server",
            "False (MissingEndpoints)",
        ]
        await api("DELETE", f"{SERVICES}/{NAME}")
        await server.core.cache.fresh()
        for _ in range(50):
            if not server.core.registry.remote:
                break
            await asyncio.sleep(0.02)
        await api("GET", f"{ROOT}/nodes", code=404)

    run(scenario)


def seen(extension, wanted):
    """Certificate's name and headers of the request for a path; checks and discovery go between."""
    return next(row[1:] for row in reversed(extension.seen) if row[0] == wanted)


def test_the_other_server_is_told_who_asks(pki, extension):
    async def main():
        async with aggregated(pki, extension) as (server, api):
            extension.seen.clear()
            user = User(
                "jane@example.com",
                ("dev", "ops, too", "system:masters", "system:authenticated"),
                "u-1",
                {"example.com/team": ("a", "b")},
            )
            jane = Api(server.transport(user))
            forged = {**JSON, "X-Remote-User": "root", "X-Remote-Extra-a": "b",
                      "Authorization": "Bearer secret"}  # fmt: skip
            found = await jane("GET", f"{ROOT}/nodes?limit=5&x=a%20b", headers=forged)
            assert found["kind"] == "NodeMetricsList"
            (name, headers) = seen(extension, f"{ROOT}/nodes?limit=5&x=a%20b")
            assert name == "front-proxy-client"
            assert headers.get_all("X-Remote-User") == ["jane@example.com"]
            assert headers.get_all("X-Remote-Uid") == ["u-1"]
            assert headers.get_all("X-Remote-Group") == list(user.groups)
            assert headers.get_all("X-Remote-Extra-example.com%2fteam") == ["a", "b"]
            assert "X-Remote-Extra-a" not in headers
            assert "Authorization" not in headers
            made = await api("POST", f"{ROOT}/namespaces/default/pods", {"a": 1}, code=201)
            assert made == {"a": 1}
            async with api.watch(f"{ROOT}/pods?watch=true") as events:
                assert await events.short() == ("ADDED", "one")
                assert await events.short() == ("MODIFIED", "one")

    asyncio.run(main())


async def listening(pki, server):
    """The port of loopback on which ``server`` serves over TLS."""
    sock = socket.create_server(("127.0.0.1", 0))
    sock.setblocking(False)
    context = server_context(
        certificate=str(pki / "server.crt"),
        key=str(pki / "server.key"),
        client_ca=str(pki / "ca.crt"),
    )
    await server.serve([Listener(sock, context)])
    return sock.getsockname()[1]


async def upgraded(pki, port, user, method, path, protocol):
    """A connection that asks for ``protocol``, and the lines of the answer's head."""
    tls = ssl.create_default_context(cafile=str(pki / "ca.crt"))
    tls.load_cert_chain(str(pki / f"{user}.crt"), str(pki / f"{user}.key"))
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=tls)
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\n"
        f"Upgrade: {protocol}\r\nX-Stream-Protocol-Version: v4.channel.k8s.io\r\n"
        "Content-Length: 0\r\nX-Remote-User: root\r\n\r\n"
    )
    writer.write(head.encode())
    found = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)
    return reader, writer, found.decode().splitlines()


async def ended(writer):
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()


@pytest.mark.parametrize(
    ("method", "protocol"), [("POST", "SPDY/3.1"), ("GET", "SPDY/3.1"), ("GET", "websocket")]
)
def test_upgraded_connections_lead_to_the_other_server(pki, extension, method, protocol):
    async def main():
        async with aggregated(pki, extension) as (server, _):
            port = await listening(pki, server)
            path = f"{ROOT}/namespaces/default/pods/one/exec?command=ls&stdin=true"
            reader, writer, head = await upgraded(pki, port, "admin", method, path, protocol)
            assert head[0].startswith("HTTP/1.1 101 ")
            lines = {line.lower() for line in head}
            assert f"upgrade: {protocol.lower()}" in lines
            assert "x-stream-protocol-version: v4.channel.k8s.io" in lines
            assert "connection: upgrade" in lines
            (name, headers) = seen(extension, path)
            assert name == "front-proxy-client"
            assert headers.get_all("X-Remote-User") == ["kubernetes-admin"]
            assert headers["Upgrade"] == protocol
            for text in (b"one", b"x" * 300_000, b"\x00\xff end"):
                writer.write(text)
                answer = await asyncio.wait_for(reader.readexactly(len(text)), 10)
                assert answer == text.upper()
            await ended(writer)

    asyncio.run(main())


def test_upgrades_that_are_refused_are_plain_answers(pki, extension):
    async def main():
        async with aggregated(pki, extension) as (server, _):
            port = await listening(pki, server)
            pod = f"{ROOT}/namespaces/default/pods/one"
            reader, writer, head = await upgraded(
                pki, port, "admin", "POST", f"{pod}/attach", "SPDY/3.1"
            )
            assert head[0].startswith("HTTP/1.1 403 ")
            assert b"not for you" in await asyncio.wait_for(reader.read(4096), 10)
            await ended(writer)
            extension.seen.clear()
            reader, writer, head = await upgraded(
                pki, port, "viewer", "POST", f"{pod}/exec", "SPDY/3.1"
            )
            assert head[0].startswith("HTTP/1.1 403 ")
            answer = await asyncio.wait_for(reader.read(4096), 10)
            assert b'cannot create resource \\"pods/exec\\" in API group' in answer
            assert all("/pods" not in path for path, _, _ in extension.seen)
            await ended(writer)

    asyncio.run(main())


def test_rights_are_checked_before_a_request_goes_on(pki, extension):
    async def main():
        async with aggregated(pki, extension) as (server, _):
            extension.seen.clear()
            nobody = Api(server.user("nobody"))
            error = await nobody("GET", f"{ROOT}/namespaces/default/pods", code=403)
            assert error["message"] == (
                'pods.metrics.k8s.io is forbidden: User "nobody" cannot list resource "pods" in '
                'API group "metrics.k8s.io" in the namespace "default"'
            )
            assert not extension.seen

    asyncio.run(main())


def test_documents_tell_of_the_other_server(pki, extension):
    async def main():
        async with aggregated(pki, extension) as (_, api):
            groups = {row["name"]: row for row in (await api("GET", "/apis"))["groups"]}
            assert groups["metrics.k8s.io"]["preferredVersion"]["version"] == "v1beta1"
            assert list(groups)[-1] == "metrics.k8s.io"
            group = await api("GET", "/apis/metrics.k8s.io")
            assert (group["kind"], group["name"]) == ("APIGroup", "metrics.k8s.io")
            legacy = await api("GET", ROOT)
            assert {row["name"] for row in legacy["resources"]} == {"nodes", "pods"}
            items = (await api("GET", "/apis", headers=DISCOVERY))["items"]
            (version,) = items[-1]["versions"]
            assert version["freshness"] == "Current"
            assert [row["resource"] for row in version["resources"]] == ["nodes", "pods"]
            assert version["resources"][1]["scope"] == "Namespaced"
            assert version["resources"][0]["responseKind"]["kind"] == "NodeMetrics"
            index = await api("GET", "/openapi/v3")
            assert "apis/metrics.k8s.io/v1beta1" in index["paths"]
            document = await api("GET", "/openapi/v3/apis/metrics.k8s.io/v1beta1?hash=1")
            assert document["openapi"] == "3.0.0"
            swagger = await api("GET", "/openapi/v2")
            assert f"{ROOT}/nodes" in swagger["paths"]
            assert "io.k8s.metrics.v1beta1.NodeMetrics" in swagger["definitions"]
            assert "io.k8s.api.core.v1.Pod" in swagger["definitions"]

    asyncio.run(main())


def test_a_server_that_fails_is_stale_in_discovery(pki, extension):
    async def main():
        async with aggregated(pki, extension) as (_, api):
            extension.broken = True
            obj = await api("GET", f"{SERVICES}/{NAME}")
            obj["metadata"]["annotations"] = {"checked": "again"}
            await api("PUT", f"{SERVICES}/{NAME}", obj)
            found = await until(api, "FailedDiscoveryCheck")
            assert found["message"].endswith(f"{ROOT}: 500")
            items = (await api("GET", "/apis", headers=DISCOVERY))["items"]
            (version,) = items[-1]["versions"]
            assert version["freshness"] == "Stale"
            assert version["resources"]  # as they were

    asyncio.run(main())


def test_a_wrong_authority_is_not_trusted(pki, extension):
    async def main():
        async with ApiServer(config(pki), MemoryStore()) as server:
            api = Api(server.user("admin", "system:masters"))
            spec = service(type="ExternalName", externalName="localhost")
            await api("POST", "/api/v1/namespaces/kube-system/services", spec)
            wrong = base64.b64encode((pki / "front-proxy-ca.crt").read_bytes()).decode()
            await api("POST", SERVICES, api_service(port=extension.port, caBundle=wrong))
            found = await until(api, "FailedDiscoveryCheck")
            assert "certificate verify failed" in found["message"]

    asyncio.run(main())


def kubeconfig(pki, port, user):
    cluster = {
        "server": f"https://127.0.0.1:{port}",
        "certificate-authority": str(pki / "ca.crt"),
    }
    credentials = {
        "client-certificate": str(pki / f"{user}.crt"),
        "client-key": str(pki / f"{user}.key"),
    }
    found = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": user, "user": credentials}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": user}}],
        "current-context": "c",
    }
    path = pki / f"{user}-{port}.kubeconfig"
    path.write_text(json.dumps(found))
    return path


@pytest.mark.parametrize("age", ["on PATH", "1.20"])
def test_kubectl_top_and_apiservices(pki, extension, age, request, tmp_path):
    binary = request.getfixturevalue("old_kubectl") if age == "1.20" else shutil.which("kubectl")

    async def main():
        async with aggregated(pki, extension) as (server, api):
            await grant(api)
            capacity = {"cpu": "2", "memory": "4Gi", "pods": "110"}
            await api("POST", "/api/v1/nodes", {"metadata": {"name": "lin01"}})
            node = await api("GET", "/api/v1/nodes/lin01")
            node["status"] = {"capacity": capacity, "allocatable": capacity}
            await api("PUT", "/api/v1/nodes/lin01/status", node)
            port = await listening(pki, server)
            path = kubeconfig(pki, port, "viewer")

            async def kubectl(*arguments):
                process = await asyncio.create_subprocess_exec(
                    binary, *arguments, stdout=-1, stderr=-1,
                    env={"PATH": os.environ["PATH"], "KUBECONFIG": str(path),
                         "HOME": str(tmp_path)},
                )  # fmt: skip
                out, err = await asyncio.wait_for(process.communicate(), 30)
                assert process.returncode == 0, err
                return out.decode()

            assert "lin01   250m         12%" in await kubectl("top", "nodes")
            top = (await kubectl("top", "pods", "-n", "default")).split()
            assert top[-3:] == ["one", "5m", "7Mi"]
            lines = (await kubectl("get", "apiservices")).splitlines()
            assert lines[0].split() == ["NAME", "SERVICE", "AVAILABLE", "AGE"]
            rows = {line.split()[0]: line.split()[1:3] for line in lines[1:]}
            assert rows["v1.apps"] == ["Local", "True"]
            assert rows[NAME] == ["kube-system/metrics-server", "True"]
            assert "nodemetrics" in (await kubectl("api-resources")).lower()
            raw = await kubectl("get", "--raw", f"{ROOT}/nodes")
            assert json.loads(raw)["items"][0]["metadata"]["name"] == "lin01"

    asyncio.run(main())


async def grant(api):
    """The group ``watchers`` may see what `kubectl top` and the list of APIServices need."""
    roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
    rules = [
        {"apiGroups": [group], "resources": ["*"], "verbs": ["get", "list"]}
        for group in ("", "metrics.k8s.io", "apiregistration.k8s.io")
    ]
    await api("POST", roles, {"metadata": {"name": "watchers"}, "rules": rules})
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
                 "name": "watchers"}  # fmt: skip
    subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "watchers"}
    binding = {"metadata": {"name": "watchers"}, "roleRef": reference, "subjects": [subject]}
    await api("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", binding)
