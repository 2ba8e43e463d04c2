"""Configurations that are no objects: of CNI and flannel, as files or inside of ConfigMaps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from muntin.lint.documents import Document, child, read
from muntin.lint.json_text import SUFFIXES, looks_like_json, plain
from muntin.lint.places import path_text
from muntin.lint.views import Config, Object, mapping

CNI, FLANNEL, ACS_ENGINE = "cni", "flannel", "acs-engine"


def form_of(data: Any) -> str:
    """Which form a document has that is no object of the API; empty for none that is known."""
    if not isinstance(data, dict) or "kind" in data:
        return ""
    if "cniVersion" in data or isinstance(data.get("plugins"), list):
        return CNI
    if "type" in data and ("ipam" in data or "delegate" in data or "AdditionalArgs" in data):
        return CNI
    if "Network" in data and "Backend" in data:
        return FLANNEL
    return ACS_ENGINE if "apiVersion" in data and "properties" in data else ""


def config_of(document: Document, item: Object | None = None) -> Config | None:
    """The document as a configuration, if it is one."""
    form = form_of(document.data)
    if not form:
        return None
    name = str(document.data.get("name", ""))
    holder = item or Object(document, (), document.data, form, "", name, "")
    return Config(form, document, (), document.data, holder)


def embedded(item: Object) -> Iterator[Document]:
    """The texts in a ConfigMap that look like documents, as documents."""
    if item.kind != "ConfigMap" or item.group:
        return
    for key, text in mapping(item.data.get("data")).items():
        if not isinstance(text, str) or not _may_be_document(key, text):
            continue
        path = (*item.path, "data", key)
        line, column = _begin(item.document, path)
        if looks_like_json(text):
            text, _ = plain(text, "")
        documents, _ = read(text, item.document.file)
        for document in documents:
            document.line, document.column = line, column
            document.index, document.inside = item.document.index, path_text(("data", key))
            yield document


def _may_be_document(key: str, text: str) -> bool:
    if key.endswith(SUFFIXES) and looks_like_json(text):
        return True
    return "kind:" in text and "apiVersion:" in text


def _begin(document: Document, path: tuple[str | int, ...]) -> tuple[int, int]:
    """Lines and columns before the text of the scalar at ``path``."""
    node: yaml.Node | None = document.root
    for step in path:
        found = child(node, step) if node is not None else None
        node = found[1] if found else None
    if node is None:
        return document.line, document.column
    line, column = node.start_mark.line, node.start_mark.column
    if getattr(node, "style", None) in ("|", ">"):
        below = (text for text in document.text.split("\n")[line + 1 :] if text.strip())
        first = next(below, "")
        return document.line + line + 1, document.column + len(first) - len(first.lstrip())
    return document.line + line, document.column + column + 1
