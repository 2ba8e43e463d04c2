"""YAML documents as the plain values that JSON has."""

from __future__ import annotations

import math
import re
from typing import Any

import yaml

from muntin.kit import safe_yaml
from muntin.model import yaml_scalars

_PLAIN = "tag:yaml.org,2002:plain"  # of scalars that are neither quoted nor tagged
_MERGE = "tag:yaml.org,2002:merge"


class Loader(safe_yaml.DepthLimit, safe_yaml.Base):  # type: ignore[misc]
    """Reads scalars as `yaml_scalars` does; keys are text, and the last of the same name counts."""

    yaml_implicit_resolvers = {  # noqa: RUF012 - of the base's kind
        "<": [(_MERGE, re.compile(r"<<\Z"))],
        None: [(_PLAIN, re.compile(""))],
    }

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[str, Any]:
        """A map with keys of text."""
        self.flatten_mapping(node)
        found = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise ValueError("a map or a list cannot be a key")
            name = yaml_scalars.key(self.construct_object(key))
            found[name] = self.construct_object(value, deep=deep)
        return found

    def plain(self, node: yaml.ScalarNode) -> yaml_scalars.Scalar:
        """The value of a scalar without quotes and tag."""
        found = yaml_scalars.read(node.value)
        if isinstance(found, float) and not math.isfinite(found):
            shown = "NaN" if math.isnan(found) else f"{found:+}".replace("inf", "Inf")
            raise ValueError(f"json: unsupported value: {shown}")
        return found

    def text(self, node: yaml.Node) -> str:
        """The text of what JSON has no kind for."""
        return str(node.value)


Loader.add_constructor(_PLAIN, Loader.plain)
for _tag in ("timestamp", "binary"):
    Loader.add_constructor(f"tag:yaml.org,2002:{_tag}", Loader.text)
