"""What the linter makes of an image's name, and which tag it puts in place of a wrong one."""

import pytest

from muntin.lint import lint_text
from muntin.lint.fixing import fixed
from muntin.lint.profiles import named
from muntin.lint.rules.images import build_of

BASE, WEB = "mcr.microsoft.com/windows", "shop/web:8.0-nanoserver"


@pytest.mark.parametrize(
    "image, build",
    [
        (f"{BASE}/servercore:ltsc2019", 17763),
        (f"{BASE}/nanoserver:1809-amd64", 17763),
        (f"{BASE}/nanoserver:10.0.20348.2340", 20348),
        (f"{BASE}/servercore:ltsc2022@sha256:{'0' * 64}", 20348),
        ("mcr.microsoft.com/dotnet/aspnet:8.0-nanoserver-ltsc2022", 20348),
        ("golang:1.22-windowsservercore-1809", 17763),
        (f"{BASE}/servercore:latest", None),
        ("registry.example.com:5000/shop/web", None),
        ("shop/web:1709", 16299),
        ("shop/web:1.2.3", None),
    ],
)
def test_the_build_that_a_name_tells(image, build):
    row = build_of(image)
    assert (row.build if row else None) == build


def mended(image: str, profile: str, *, unsafe: bool = False) -> str:
    text = (
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nspec:\n  nodeSelector:\n"
        f"    kubernetes.io/os: windows\n  containers:\n  - name: a\n    image: {image}\n"
    )
    assert lint_text(text, profiles=[named(profile)], file="a.yaml")
    new = fixed({"a.yaml": text}, [named(profile)], unsafe=unsafe)["a.yaml"]
    return new.split("image: ")[1].split("\n")[0].strip('"')


@pytest.mark.parametrize(
    "image, profile, unsafe, new",
    [
        (f"{BASE}/servercore:ltsc2022", "1.34/2019", False, f"{BASE}/servercore:ltsc2019"),
        (f"{BASE}/servercore:ltsc2019", "1.34/2022", False, f"{BASE}/servercore:ltsc2022"),
        (f"{BASE}/nanoserver:1809", "1.34/2025", False, f"{BASE}/nanoserver:ltsc2025"),
        (f"{BASE}/nanoserver:1709", "1.9/2016/docker", False, f"{BASE}/nanoserver:sac2016"),
        (f"{BASE}/servercore:1709", "1.12/1803/docker", False, f"{BASE}/servercore:1803"),
        (f"{WEB}-ltsc2022", "1.34/2019", False, f"{WEB}-ltsc2022"),
        (f"{WEB}-ltsc2022", "1.34/2019", True, f"{WEB}-ltsc2019"),
    ],
)
def test_the_tag_of_the_nodes_release(image, profile, unsafe, new):
    assert mended(image, profile, unsafe=unsafe) == new
