"""TLS contexts of HTTP clients, from certificates held in memory as PEM.

OpenSSL reads a key only from a file: it gets an anonymous one that never touches a disk.
"""

from __future__ import annotations

import os
import ssl

from muntin.kit import errors


def client_context(
    *, ca: bytes = b"", certificate: bytes = b"", key: bytes = b"", verify: bool = True
) -> ssl.SSLContext:
    """What a client presents and trusts; all arguments are PEM.

    Without ``ca`` the system's authorities are trusted; ``verify=False`` trusts anybody, as
    probes of a pod's HTTPS port do.

    Raises:
        Invalid: a certificate or the key cannot be read, or they do not belong together.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.set_alpn_protocols(["http/1.1"])
    if not verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    try:
        if ca:
            context.load_verify_locations(cadata=ca.decode())
        elif verify:
            context.load_default_certs()
        if certificate:
            _load_pair(context, certificate, key)
    except (ssl.SSLError, ValueError) as err:
        raise errors.Invalid(f"TLS credentials cannot be loaded: {err}") from err
    return context


def _load_pair(context: ssl.SSLContext, certificate: bytes, key: bytes) -> None:
    fd = os.memfd_create("tls", os.MFD_CLOEXEC)
    try:
        os.write(fd, certificate.rstrip() + b"\n" + key)
        context.load_cert_chain(f"/proc/self/fd/{fd}")
    finally:
        os.close(fd)
