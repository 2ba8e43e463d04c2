"""When what was seen shows a finding."""

import pytest

from muntin.lint.evidence import Seen, is_about, showing
from muntin.lint.findings import Finding
from muntin.model.gates import Severity


def finding(message, field="spec.hostPID", obj="Pod shop/web"):
    return Finding(
        rule="r",
        severity=Severity.ERROR,
        file="f",
        line=1,
        column=1,
        summary="It cannot.",
        message=message,
        field=field,
        object=obj,
    )


REFUSED = Seen(
    "Pod shop/web",
    'Pod "web" is invalid: [spec.hostPID: Forbidden: cannot be set for a windows pod, '
    "spec.os.name: Required value]",
)


def test_the_servers_words_of_that_very_field():
    forbidden = "Forbidden: cannot be set for a windows pod"
    assert showing(finding(forbidden), [REFUSED]) is REFUSED
    assert showing(finding(forbidden, field="spec.hostIPC"), [REFUSED]) is None


def test_what_varies_in_a_message_stands_for_anything():
    event = Seen("Pod shop/web", 'Error: no runtime for "docker" is configured: try (again)')
    message = 'no runtime for "{handler}" is configured: try (again)'
    assert showing(finding(message), [event]) is event
    assert showing(finding("no runtime for {handler} is there"), [event]) is None


def test_a_finding_without_words_is_never_shown():
    assert showing(finding(""), [REFUSED]) is None


@pytest.mark.parametrize(
    ("about", "obj", "expected"),
    [
        ("Pod shop/web", "Pod shop/web", True),
        ("Pod shop/web-2", "Pod shop/web", False),
        ("Pod shop/web-5d4f-x", "Deployment shop/web", True),
        ("ReplicaSet shop/web-5d4f", "Deployment shop/web", True),
        ("Pod other/web-5d4f-x", "Deployment shop/web", False),
        ("Pod default/web-5d4f-x", "Deployment web", True),
        ("Pod default/website", "Deployment web", False),
        ("Namespace web", "Namespace web", True),
    ],
)
def test_what_was_made_of_an_object_is_about_it(about, obj, expected):
    assert is_about(about, obj) is expected
