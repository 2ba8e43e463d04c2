"""The verbs of the API on whole objects, one file each."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from muntin.apiserver.core import Core
from muntin.apiserver.request import ApiRequest
from muntin.apiserver.verbs import (
    create,
    delete,
    deletecollection,
    get,
    patch,
    update,
    watch,
)
from muntin.apiserver.verbs import list as list_verb
from muntin.kit.http.messages import Answer

Verb = Callable[[Core, ApiRequest], Awaitable[Answer]]

VERBS: Mapping[str, Verb] = {
    "create": create.run,
    "delete": delete.run,
    "deletecollection": deletecollection.run,
    "get": get.run,
    "list": list_verb.run,
    "patch": patch.run,
    "update": update.run,
    "watch": watch.run,
}
