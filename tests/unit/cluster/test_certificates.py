"""The authority and its certificates: made once, renewed only when needed."""

from __future__ import annotations

import datetime
import ssl

import pytest
from cryptography import x509

from muntin.cluster import certificates
from muntin.cluster.overrides import Overrides, apply
from muntin.cluster.settings import Draft, resolve
from muntin.kit.errors import Internal


def config(**flags):
    return resolve(apply(Draft(), Overrides(**flags)))


def load(path):
    return x509.load_pem_x509_certificate(path.read_bytes())


def test_all_are_made_once(tmp_path):
    made = certificates.ensure(config(), tmp_path)
    assert {"ca", "sa", "apiserver", "admin", "kubelet-win02", "kubelet-win02-server"} <= set(made)
    assert certificates.ensure(config(), tmp_path) == []
    assert (tmp_path / "ca.key").stat().st_mode & 0o777 == 0o600


def test_openssl_takes_them(tmp_path):
    certificates.ensure(config(), tmp_path)
    context = ssl.create_default_context(cafile=str(tmp_path / "ca.crt"))
    context.load_cert_chain(tmp_path / "admin.crt", tmp_path / "admin.key")
    names = load(tmp_path / "apiserver.crt").extensions.get_extension_for_class(
        x509.SubjectAlternativeName
    )
    addresses = {str(row) for row in names.value.get_values_for_type(x509.IPAddress)}
    assert addresses == {"127.0.0.1", "172.31.0.10", "10.96.0.1"}
    admin = load(tmp_path / "admin.crt").subject.rfc4514_string()
    assert admin == "CN=kubernetes-admin,O=system:masters"
    kubelet = load(tmp_path / "kubelet-lin01.crt").subject.rfc4514_string()
    assert kubelet == "CN=system:node:lin01,O=system:nodes"


def test_the_front_proxy_has_an_authority_of_its_own(tmp_path):
    made = certificates.ensure(config(), tmp_path)
    assert {"front-proxy-ca", "front-proxy-client"} <= set(made)
    client = load(tmp_path / "front-proxy-client.crt")
    client.verify_directly_issued_by(load(tmp_path / "front-proxy-ca.crt"))
    with pytest.raises(ValueError, match="subject does not match"):
        client.verify_directly_issued_by(load(tmp_path / "ca.crt"))
    (tmp_path / "front-proxy-ca.key").unlink()
    again = certificates.ensure(config(), tmp_path)
    assert again == ["front-proxy-ca", "front-proxy-client"]


def test_only_what_changed_is_renewed(tmp_path):
    certificates.ensure(config(), tmp_path)
    made = certificates.ensure(config(node_subnet="172.30.0.0/24", windows_nodes="3"), tmp_path)
    assert "ca" not in made
    assert "admin" not in made
    assert {"apiserver", "kubelet-win01-server", "kubelet-win03"} <= set(made)
    assert "kubelet-win01" not in made


def test_one_that_runs_out_is_renewed(tmp_path, monkeypatch):
    certificates.ensure(config(), tmp_path)
    before = load(tmp_path / "admin.crt").serial_number
    monkeypatch.setattr(certificates, "_RENEW_DAYS", 400)
    made = certificates.ensure(config(), tmp_path)
    assert "admin" in made
    assert "ca" not in made
    assert load(tmp_path / "admin.crt").serial_number != before


def test_a_new_authority_renews_everything(tmp_path):
    certificates.ensure(config(), tmp_path)
    (tmp_path / "ca.key").unlink()
    made = certificates.ensure(config(), tmp_path)
    assert {"ca", "admin", "apiserver"} <= set(made)
    assert "sa" not in made


def test_a_damaged_file_is_named(tmp_path):
    certificates.ensure(config(), tmp_path)
    (tmp_path / "admin.crt").write_text("junk")
    with pytest.raises(Internal, match="admin"):
        certificates.ensure(config(), tmp_path)


def test_lifetimes(tmp_path):
    certificates.ensure(config(), tmp_path)
    now = datetime.datetime.now(datetime.UTC)
    assert load(tmp_path / "admin.crt").not_valid_after_utc - now > datetime.timedelta(days=360)
    assert load(tmp_path / "ca.crt").not_valid_before_utc < now


def test_an_etcd_has_an_authority_of_its_own(tmp_path):
    assert not any(name.startswith("etcd") for name in certificates.ensure(config(), tmp_path))
    made = certificates.ensure(config(store="etcd"), tmp_path)
    assert made == ["etcd-ca", "etcd-server", "etcd-peer", "apiserver-etcd-client"]
    for name in made[1:]:
        load(tmp_path / f"{name}.crt").verify_directly_issued_by(load(tmp_path / "etcd-ca.crt"))
    usage = load(tmp_path / "etcd-server.crt").extensions.get_extension_for_class(
        x509.ExtendedKeyUsage
    )
    assert len(list(usage.value)) == 2  # it serves, and asks itself


def test_api_servers_of_several_control_planes_are_named(tmp_path):
    certificates.ensure(config(store="etcd", control_planes=2), tmp_path)
    names = load(tmp_path / "apiserver.crt").extensions.get_extension_for_class(
        x509.SubjectAlternativeName
    )
    addresses = {str(row) for row in names.value.get_values_for_type(x509.IPAddress)}
    assert {"172.31.0.2", "172.31.0.3", "172.31.0.10"} <= addresses
