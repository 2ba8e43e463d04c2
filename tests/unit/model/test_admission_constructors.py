"""Constructors of mutations, written as maps."""

import pytest

from muntin.model.admission.constructors import as_maps

ROWS = [
    ("Object{}", "{}"),
    ("Object{spec: Object.spec{replicas: 2}}", '{"spec": {"replicas": 2}}'),
    ("Object{?spec: optional.none()}", '{?"spec": optional.none()}'),
    (
        "Object{metadata: Object.metadata{labels: {'a': 'b', c: d}}}",
        "{\"metadata\": {\"labels\": {'a': 'b', c: d}}}",
    ),
    (
        "Object { spec : Object.spec { containers: object.x.map(c, "
        "Object.spec.containers{name: c.name, tty: true})}}",
        '{ "spec" : { "containers": object.x.map(c, {"name": c.name, "tty": true})}}',
    ),
    (
        "[JSONPatch{op: 'add', path: 'Object{a: 1}', value: f(x, y)}, JSONPatch{op: 'remove'}]",
        '[{"op": \'add\', "path": \'Object{a: 1}\', "value": f(x, y)}, {"op": \'remove\'}]',
    ),
    ("a ? Object{x__dash__y: 1} : Object{__in__: 2}", 'a ? {"x-y": 1} : {"in": 2}'),
    ("object.spec", "object.spec"),
]


@pytest.mark.parametrize(("expression", "text"), ROWS)
def test_written_as_maps(expression, text):
    written = as_maps(expression)
    assert written.text == text
    assert written.problems == ()


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        (
            "Object{spec: Object.spec.wrong{a: 1}}",
            'unexpected type name "Object.spec.wrong", expected "Object.spec", which matches field '
            "name path from root Object type",
        ),
        ("[JSONPatch{verb: 'add'}]", "undefined field 'verb'"),
    ],
)
def test_names_that_are_out_of_place(expression, problem):
    assert as_maps(expression).problems == (problem,)


def test_the_constructors_that_an_expression_may_end_with():
    assert as_maps("a ? Object{b: Object.b{}} : Object{}").constructors == ("Object", "Object")
    assert as_maps("Object.spec{}").constructors == ("Object.spec",)
