"""The API server as a child process with certificates, and kubectl as a caller of it."""

import datetime
import ipaddress
import json
import os
import subprocess
import sys
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from orphans import end_with_parent

SERVE = Path(__file__).with_name("serve.py")


def _name(common_name, organization=""):
    names = [x509.NameAttribute(NameOID.COMMON_NAME, common_name)]
    if organization:
        names.append(x509.NameAttribute(NameOID.ORGANIZATION_NAME, organization))
    return x509.Name(names)


class Authority:
    """A certificate authority in a directory."""

    def __init__(self, directory: Path, name: str = "test-ca") -> None:
        self.directory = directory
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name(name)
        certificate = self._signed(self._name, self._key.public_key(), ca=True)
        self._write("ca.crt", certificate.public_bytes(serialization.Encoding.PEM))

    def _signed(self, subject, public_key, *, ca=False, alternative=()):
        now = datetime.datetime.now(datetime.UTC)
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(public_key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(minutes=5))
            .not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
        )
        if alternative:
            builder = builder.add_extension(x509.SubjectAlternativeName(alternative), False)
        return builder.sign(self._key, hashes.SHA256())

    def _write(self, name, data):
        (self.directory / name).write_bytes(data)

    def key(self, name):
        key = ec.generate_private_key(ec.SECP256R1())
        self._write(
            name,
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            ),
        )
        return key

    def pair(self, file, common_name, organization="", *, server=False):
        key = self.key(f"{file}.key")
        alternative = ()
        if server:
            loopback = ipaddress.ip_address("127.0.0.1")
            alternative = (x509.IPAddress(loopback), x509.DNSName("localhost"))
        subject = _name(common_name, organization)
        certificate = self._signed(subject, key.public_key(), alternative=alternative)
        self._write(f"{file}.crt", certificate.public_bytes(serialization.Encoding.PEM))


class ServerProcess:
    """serve.py in a process of its own."""

    def __init__(self, directory: Path, version: str = "", without: str = "") -> None:
        self.directory = directory
        self.environment = {"WITHOUT_PLUGINS": without}
        if version:
            self.environment["KUBERNETES_VERSION"] = version
        self.authority = Authority(directory)
        self.authority.pair("server", "kube-apiserver", server=True)
        self.authority.pair("admin", "kubernetes-admin", "system:masters")
        self.authority.key("service-account.key")
        self.port = 0

    def start(self):
        environment = {**os.environ, **self.environment, "PORT": str(self.port)}
        self._log = (self.directory / "log").open("ab")
        self.process = subprocess.Popen(
            [sys.executable, str(SERVE), str(self.directory)],
            stdout=subprocess.PIPE,
            stderr=self._log,
            env=environment,
            preexec_fn=end_with_parent(),
        )
        line = self.process.stdout.readline()
        assert line, (self.directory / "log").read_text()
        self.port = int(line)

    def stop(self, *, kill=False):
        if kill:
            self.process.kill()
        else:
            self.process.terminate()
        self.process.wait(10)
        self.process.stdout.close()
        self._log.close()

    @property
    def holds(self):
        """Seconds that the server's loop computed without a pause, for each time that was long."""
        return [float(line) for line in (self.directory / "holds").read_text().split()]

    @property
    def log(self):
        return (self.directory / "log").read_text()

    def kubeconfig(self, user="admin", *, token=""):
        """The path of a kubeconfig of a certificate's or token's user."""
        credentials = {"token": token} if token else {
            "client-certificate": str(self.directory / f"{user}.crt"),
            "client-key": str(self.directory / f"{user}.key"),
        }  # fmt: skip
        cluster = {
            "server": f"https://127.0.0.1:{self.port}",
            "certificate-authority": str(self.directory / "ca.crt"),
        }
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "c", "cluster": cluster}],
            "users": [{"name": user, "user": credentials}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": user}}],
            "current-context": "c",
        }
        path = self.directory / f"{user}.kubeconfig"
        path.write_text(json.dumps(config))
        return path


class Kubectl:
    """Calls one kubectl as one user; the answer is its standard output."""

    def __init__(self, binary, kubeconfig, home):
        self.binary = binary
        self._environment = {
            "PATH": os.environ["PATH"],
            "KUBECONFIG": str(kubeconfig),
            "HOME": str(home),
        }

    def process(self, *arguments, stdin=None, **popen):
        return subprocess.Popen(
            [self.binary, *arguments], env=self._environment, stdin=stdin, text=True, **popen
        )

    def run(self, *arguments, stdin=None):
        return subprocess.run(
            [self.binary, *arguments],
            env=self._environment,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=30,
        )

    def __call__(self, *arguments, stdin=None):
        done = self.run(*arguments, stdin=stdin)
        assert done.returncode == 0, f"{arguments}: {done.stderr}{done.stdout}"
        return done.stdout

    def fails(self, *arguments, stdin=None):
        """The error text of a call that must fail."""
        done = self.run(*arguments, stdin=stdin)
        assert done.returncode != 0, f"{arguments}: {done.stdout}"
        return done.stderr

    def object(self, *arguments):
        return json.loads(self(*arguments, "-o", "json"))
