"""Builds the wheel of murksim: the package and libmurksim, which Go makes of the sources beside it.

It is a build backend of PEP 517 that needs Go, a C compiler and Python's standard library. These variables of
the environment change what it builds:

    MURKSIM_ARCH     amd64 or arm64 (default: this machine's)
    CC               the C compiler; for another machine that machine's
"""

from __future__ import annotations

import base64
import hashlib
import os
import platform
import re
import shutil
import subprocess
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
ARCHITECTURES = {"amd64": "x86_64", "arm64": "aarch64"}
STAMP = (1980, 1, 1, 0, 0, 0)  # of all files: the same sources give the same wheel

EXTRAS = {
    "gym": ["gymnasium>=1.1"],
    "pettingzoo": ["pettingzoo>=1.25", "gymnasium>=1.1"],
    "sb3": ["stable-baselines3>=2.6", "gymnasium>=1.1"],
}


def version() -> str:
    """Returns the version of the engine, which is that of the package."""
    source = ROOT / "engine" / "config.go"
    if not source.exists():
        raise SystemExit(f"{source} is not there: murksim is built in a checkout of its repository")
    found = re.search(r'^const Version = "(.*)"$', source.read_text(), re.MULTILINE)
    if found is None:
        raise SystemExit(f"{source} has no Version")
    return found.group(1)


def architecture() -> str:
    """Returns the processor to build for, as Go calls it."""
    machine = platform.machine().lower()
    here = {"x86_64": "amd64", "aarch64": "arm64"}.get(machine, machine)
    return os.environ.get("MURKSIM_ARCH") or here


def build_library(to: Path, arch: str) -> None:
    """Compiles libmurksim.so."""
    if shutil.which("go") is None:
        raise SystemExit("murksim is built with Go 1.26 or later: https://go.dev/dl/")
    environment = dict(os.environ, CGO_ENABLED="1", GOARCH=arch)
    command = ["go", "build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false", "-tags=netgo,osusergo", "-ldflags=-s -w"]
    subprocess.run([*command, "-o", str(to), "./cmd/libmurksim"], cwd=ROOT, env=environment, check=True)


def platform_tag(library: bytes, arch: str) -> str:
    """Returns the tag of a library: manylinux, by the newest version of glibc that it asks for."""
    needed = [tuple(map(int, v.split(b"."))) for v in re.findall(rb"GLIBC_(2\.\d+)", library)]
    newest = max([*needed, (2, 17)])  # the oldest that such a tag names
    return f"manylinux_{newest[0]}_{newest[1]}_{ARCHITECTURES.get(arch, arch)}"


def metadata() -> str:
    """Returns the METADATA of the package."""
    lines = [
        "Metadata-Version: 2.4",
        "Name: murksim",
        f"Version: {version()}",
        "Summary: Deterministic simulations: run, record and prove them, and learn in them",
        "License-Expression: MIT",
        "Requires-Python: >=3.10",
        "Requires-Dist: numpy>=1.26",
    ]
    extras = dict(EXTRAS, all=sorted({r for list_ in EXTRAS.values() for r in list_}))
    for extra, requirements in extras.items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f'Requires-Dist: {r} ; extra == "{extra}"' for r in requirements]
    lines += ["Description-Content-Type: text/markdown", "", (HERE / "README.md").read_text()]
    return "\n".join(lines)


def wheel_text(tag: str) -> str:
    return f"Wheel-Version: 1.0\nGenerator: build_murksim\nRoot-Is-Purelib: false\nTag: py3-none-{tag}\n"


def write_wheel(folder: Path, package: dict[str, bytes], tag: str) -> str:
    """Writes a wheel of some files and returns its name."""
    info = f"murksim-{version()}.dist-info"
    files = dict(package)
    files[f"{info}/METADATA"] = metadata().encode()
    files[f"{info}/WHEEL"] = wheel_text(tag).encode()
    files[f"{info}/licenses/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    record = ""
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(content)}\n"
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    name = f"murksim-{version()}-py3-none-{tag}.whl"
    with zipfile.ZipFile(folder / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, content in files.items():
            entry = zipfile.ZipInfo(path, STAMP)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o100644 << 16
            wheel.writestr(entry, content)
    return name


def build_wheel(wheel_directory: str, config_settings: object = None, metadata_directory: object = None) -> str:
    arch = architecture()
    with tempfile.TemporaryDirectory() as work:
        library = Path(work, "libmurksim.so")
        build_library(library, arch)
        built = library.read_bytes()
    package = {f"murksim/{p.name}": p.read_bytes() for p in sorted((HERE / "murksim").iterdir()) if p.suffix == ".py" or p.name == "py.typed"}
    package["murksim/libmurksim.so"] = built
    return write_wheel(Path(wheel_directory), package, platform_tag(built, arch))


def build_editable(wheel_directory: str, config_settings: object = None, metadata_directory: object = None) -> str:
    """Builds the library into the folder of the package, which stays where it is."""
    arch = architecture()
    library = HERE / "murksim" / "libmurksim.so"
    build_library(library, arch)
    return write_wheel(Path(wheel_directory), {"murksim.pth": f"{HERE}\n".encode()}, platform_tag(library.read_bytes(), arch))


def build_sdist(sdist_directory: str, config_settings: object = None) -> str:
    raise SystemExit("murksim has no source distribution: it is built in a checkout of its repository")


def get_requires_for_build_wheel(config_settings: object = None) -> list[str]:
    return []


get_requires_for_build_editable = get_requires_for_build_wheel
