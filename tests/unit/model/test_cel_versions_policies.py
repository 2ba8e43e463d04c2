"""Expressions of policies, webhooks and devices use what their API's version knows."""

import pytest

from muntin.model.validation import admission_matching, admission_policies, device_parts
from muntin.model.validation import mutating_policies as mutating
from muntin.model.validation.findings import Findings

LISTS = "[1].reverse() == [1]"
UNKNOWN = "undeclared reference to 'reverse' (in container '')"


def _policy(**spec):
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"],
            "resources": ["pods"]}  # fmt: skip
    base = {"failurePolicy": "Fail", "matchConstraints": {
        "matchPolicy": "Equivalent", "namespaceSelector": {}, "objectSelector": {},
        "resourceRules": [{**rule, "scope": "*"}]}}  # fmt: skip
    return {"metadata": {"name": "p"}, "spec": {**base, **spec}}


def _conditions(text, found):
    admission_matching.match_conditions([{"name": "a", "expression": text}], "c", found)


def _validating(text, found):
    spec = {
        "variables": [{"name": "a", "expression": text}],
        "validations": [
            {"expression": text, "messageExpression": f"string({text})"},
        ],
        "auditAnnotations": [{"key": "a", "valueExpression": f"string({text})"}],
    }
    admission_policies.policy(_policy(**spec), found)


def _mutating(text, found):
    patch = {"expression": f"[JSONPatch{{op: 'add', path: '/a', value: {text}}}]"}
    mutations = [{"patchType": "JSONPatch", "jsonPatch": patch}]
    spec = {"mutations": mutations, "reinvocationPolicy": "Never"}
    mutating.policy(_policy(**spec), found)


def _device(text, found):
    device_parts.selectors([{"cel": {"expression": text}}], "s", found)


@pytest.mark.parametrize(
    ("judge", "places"),
    [
        (_conditions, ["c[0].expression"]),
        (_validating, ["spec.variables[0].expression", "spec.validations[0].expression",
                       "spec.validations[0].messageExpression",
                       "spec.auditAnnotations[0].valueExpression"]),
        (_mutating, ["spec.mutations[0].jsonPatch.expression"]),
        (_device, ["s[0].cel.expression"]),
    ],
)  # fmt: skip
def test_new_expressions_use_what_the_api_before_knew(judge, places):
    older, newer = Findings(server=(1, 34)), Findings(server=(1, 35))
    judge(LISTS, older)
    assert [cause.field for cause in older.causes] == places
    assert all(UNKNOWN in cause.message for cause in older.causes)
    judge(LISTS, newer)
    assert newer.causes == []
