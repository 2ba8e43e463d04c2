"""Plugins are asked of the resources that they name, and would do nothing to any other."""

import pytest
from api_in_process import run

from muntin.apiserver.admission import Admission
from muntin.apiserver.admission.attributes import Attributes, Silent
from muntin.apiserver.request import User
from muntin.model.resources import CONFIG_MAPS, PODS, RESOURCES

NODE = User("system:node:n1", ("system:nodes",))
OPERATIONS = ("CREATE", "UPDATE", "DELETE", "CONNECT")
SUBRESOURCES = ("", "status", "approval", "ephemeralcontainers", "resize", "token", "exec")


class Untouchable(dict):
    """An object that nobody may look at."""

    def _touched(self, *args):
        raise AssertionError(f"looked at: {args}")

    get = setdefault = __getitem__ = __setitem__ = __contains__ = _touched


def attributes(row, operation="CREATE", subresource=""):
    return Attributes(
        request=None, user=NODE, operation=operation, resource=row, subresource=subresource,
        namespace="default", name="a", obj=Untouchable(),
        old=None if operation == "CREATE" else Untouchable(),
    )  # fmt: skip


def test_a_plugin_does_nothing_to_resources_that_it_does_not_name():
    async def scenario(server, api):
        known = {row.group_resource for row in RESOURCES}
        limited = [plugin for plugin in server.core.admission.plugins if plugin.resources]
        assert len(limited) > 12
        for plugin in limited:
            assert plugin.resources <= known
            for row in RESOURCES:
                if row.group_resource in plugin.resources:
                    continue
                for operation in OPERATIONS:
                    for subresource in SUBRESOURCES:
                        asked = attributes(row, operation, subresource)
                        plugin.mutate(asked)
                        plugin.validate(asked)

    run(scenario)


class OfPods(Silent):
    resources = frozenset({"pods"})

    def __init__(self, name, asked):
        self.name, self.asked = name, asked

    def mutate(self, attributes):
        self.asked.append(self.name)


class OfAll(OfPods):
    resources = None


@pytest.mark.parametrize("row, names", [(PODS, ["a", "b", "c"]), (CONFIG_MAPS, ["a", "c"])])
def test_plugins_are_asked_in_order_and_each_of_its_resources(row, names):
    asked = []
    admission = Admission([OfAll("a", asked), OfPods("b", asked), OfAll("c", asked)])
    admission._again(attributes(row))
    assert asked == names
