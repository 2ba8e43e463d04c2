"""Which versions of the API a Cluster file turns on and off."""

import pytest

from muntin.cluster.settings import resolve
from muntin.cluster.settings_file import decode
from muntin.kit.errors import Invalid

HEAD = "apiVersion: muntin.dev/v1alpha1\nkind: Cluster\n"


def resolved(text=""):
    return resolve(decode(HEAD + text, "cluster.yaml")).runtime_config


def test_versions_of_old_documents_are_served_unless_turned_off():
    assert resolved() == {"extensions/v1beta1": True, "apps/v1beta1": True, "apps/v1beta2": True}
    found = resolved("apiServer:\n  runtimeConfig: {extensions/v1beta1: false, api/beta: false}\n")
    assert found["extensions/v1beta1"] is False
    assert found["api/beta"] is False
    assert found["apps/v1beta1"] is True


def test_what_is_no_version_is_refused_with_its_place():
    text = "apiServer:\n  runtimeConfig:\n    apps/v7: true\n"
    with pytest.raises(Invalid, match=r"cluster.yaml:5:.*apps/v7"):
        resolved(text)
    with pytest.raises(Invalid, match="true or false"):
        resolved("apiServer:\n  runtimeConfig: {apps/v1beta1: maybe}\n")
