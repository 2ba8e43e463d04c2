"""Fields of a Service that have no effect, or soon none, are warned of."""

import pytest

from muntin.model.service_warnings import of_service

ADDRESSES = {"externalIPs": ["203.0.113.9"]}


def warned(api=(1, 36), **spec):
    return of_service({"spec": spec}, api)


def test_external_addresses_are_deprecated_in_the_newest_version_only():
    (text,) = warned(**ADDRESSES)
    assert text.startswith("spec.externalIPs is deprecated")
    assert warned(api=(1, 35), **ADDRESSES) == []


@pytest.mark.parametrize(
    ("spec", "word"),
    [
        ({"clusterIP": "None", **ADDRESSES}, "spec.externalIPs is ignored for headless"),
        ({"clusterIP": "None", "loadBalancerIP": "192.0.2.1"}, "spec.loadBalancerIP is ignored"),
        ({"clusterIP": "None", "sessionAffinity": "ClientIP"}, "spec.SessionAffinity is ignored"),
        ({"type": "ExternalName", **ADDRESSES}, 'ignored when spec.type is "ExternalName"'),
        ({"externalName": "a.b"}, "spec.externalName is ignored"),
    ],
)
def test_what_is_ignored(spec, word):
    (text,) = warned(**spec)
    assert word in text


def test_an_old_api_says_nothing():
    assert warned(api=(1, 20), clusterIP="None", **ADDRESSES) == []
    assert warned(clusterIP="None", sessionAffinity="None") == []
