"""Admission reviews: what is warned of, what is refused, what is none of the linter's business."""

import copy

import pytest

from muntin.kit.errors import Invalid
from muntin.lint.profiles import named
from muntin.lint.review import MOST_CHARACTERS, review
from muntin.lint.run import Linter

POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web", "namespace": "shop"},
    "spec": {
        "nodeSelector": {"kubernetes.io/os": "windows"},
        "containers": [
            {
                "name": "c",
                "image": "mcr.microsoft.com/windows/nanoserver:ltsc2022",
                "volumeMounts": [{"name": "v", "mountPath": "C:\\"}],
            }
        ],
        "volumes": [{"name": "v", "emptyDir": {}}],
    },
}
GOOD = copy.deepcopy(POD)
GOOD["spec"]["containers"][0]["volumeMounts"][0]["mountPath"] = "C:\\data"


def asked(obj, old=None, operation="CREATE", version="v1"):
    request = {"uid": "u1", "operation": operation, "object": obj, "oldObject": old}
    return {
        "apiVersion": f"admission.k8s.io/{version}",
        "kind": "AdmissionReview",
        "request": request,
    }


@pytest.fixture(scope="module")
def linter():
    return Linter([named("1.34/2022")])


def test_findings_are_warnings(linter):
    answer = review(asked(POD), linter)
    assert (answer["apiVersion"], answer["kind"]) == ("admission.k8s.io/v1", "AdmissionReview")
    response = answer["response"]
    assert (response["uid"], response["allowed"]) == ("u1", True)
    (warning,) = response["warnings"]
    assert warning.startswith("spec.containers[0].volumeMounts[0].mountPath: ")
    assert len(warning) <= MOST_CHARACTERS


def test_what_is_fine_is_not_spoken_of(linter):
    assert review(asked(GOOD), linter)["response"] == {"uid": "u1", "allowed": True}


def test_errors_refuse_where_it_is_asked_for(linter):
    response = review(asked(POD), linter, enforce=True)["response"]
    assert response["allowed"] is False
    assert response["status"]["code"] == 403
    assert "spec.containers[0].volumeMounts[0].mountPath" in response["status"]["message"]
    assert review(asked(GOOD), linter, enforce=True)["response"]["allowed"] is True


def test_what_was_so_before_does_not_keep_an_object_from_being_changed(linter):
    changed = copy.deepcopy(POD)
    changed["metadata"]["labels"] = {"a": "b"}
    response = review(asked(changed, POD, "UPDATE"), linter, enforce=True)["response"]
    assert response == {"uid": "u1", "allowed": True}
    response = review(asked(POD, GOOD, "UPDATE"), linter, enforce=True)["response"]
    assert response["allowed"] is False


@pytest.mark.parametrize("operation", ["DELETE", "CONNECT"])
def test_other_operations_pass(linter, operation):
    response = review(asked(POD, operation=operation), linter, enforce=True)["response"]
    assert response == {"uid": "u1", "allowed": True}


def test_the_answer_has_the_version_of_the_question(linter):
    assert (
        review(asked(GOOD, version="v1beta1"), linter)["apiVersion"] == "admission.k8s.io/v1beta1"
    )


def test_an_object_without_form_is_left_to_the_server(linter):
    assert review(asked({"kind": "Pod", "spec": []}), linter)["response"]["allowed"] is True
    assert review(asked(None), linter)["response"]["allowed"] is True


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ([], "must be an AdmissionReview"),
        ({"kind": "Pod"}, "must be an AdmissionReview"),
        ({"kind": "AdmissionReview", "apiVersion": "v7"}, "apiVersion 'v7' is not known"),
        ({"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1"}, "request.uid"),
    ],
)
def test_what_is_no_review_is_refused(linter, body, text):
    with pytest.raises(Invalid, match=text):
        review(body, linter)
