"""Findings that are no rows of the gates table: what is wrong with a text as a text."""

from __future__ import annotations

PROBLEMS = {
    "yaml-syntax": "The text is no YAML: nothing after that place was read.",
    "yaml-anchors": "An anchor repeats itself, or so much that no program can hold it.",
    "yaml-key": "A map or a list is a key, which no object of the API has.",
    "duplicate-key": "A key stands twice in one map: one of the two values is lost.",
    "json-comment": "A file of JSON has a comment, which programs that read it refuse.",
    "json-syntax": "The text is no JSON, as its file's name says it is.",
    "encoding": "The text is neither UTF-8 nor UTF-16 with a byte order mark.",
    "too-large": "The file is larger than any manifest.",
    "unreadable": "The file cannot be read.",
    "not-rendered": "The text is a template: only what is rendered from it can be linted.",
    "api-refuses": "The API refuses the object, wherever it should run.",
    "unknown-field": "The API knows no such field: it is dropped, or the object is refused.",
    "api-unserved": "The API of that version serves no such kind.",
    "unknown-flag": "The program has never had that flag: it does not start with it.",
    "glued-flags": "Two flags ran into one: a space is missing between them.",
    "indentation": "The fields of the object stand side by side: their indentation is lost.",
    "ignore-unknown": "A comment ignores a rule that does not exist.",
    "ignore-reason": "A comment ignores a rule and does not say why.",
}
