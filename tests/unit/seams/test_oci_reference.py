"""Image references. Source of the cases: github.com/distribution/reference, Docker's behaviour."""

import pytest

from muntin.kit.errors import Invalid
from muntin.seams.oci.reference import parse

DIGEST = "sha256:" + "a" * 64


@pytest.mark.parametrize(
    ("text", "complete"),
    [
        ("nginx", "docker.io/library/nginx:latest"),
        ("user/app:1", "docker.io/user/app:1"),
        ("index.docker.io/library/x", "docker.io/library/x:latest"),
        ("localhost/x", "localhost/x:latest"),
        ("127.0.0.1:5000/a/b:v1", "127.0.0.1:5000/a/b:v1"),
        ("mcr.microsoft.com/windows:1809", "mcr.microsoft.com/windows:1809"),
        (f"a@{DIGEST}", f"docker.io/library/a@{DIGEST}"),
        (f"reg.io/a:t@{DIGEST}", f"reg.io/a:t@{DIGEST}"),
    ],
)
def test_a_reference_is_completed(text: str, complete: str) -> None:
    assert str(parse(text)) == complete


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "invalid reference format"),
        ("Foo", "repository name \\(Foo\\) must be lowercase"),
        ("a:b c", "invalid reference format"),
        ("a@sha256:12", "no valid digest"),
        ("a//b", "invalid reference format"),
        ("reg.io/" + "a" * 250, "must not be more than 255 characters"),
    ],
)
def test_what_is_no_reference_is_refused_in_docker_s_words(text: str, words: str) -> None:
    with pytest.raises(Invalid, match=words):
        parse(text)
