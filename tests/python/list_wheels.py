#!/usr/bin/env python3
"""list_wheels.py   scripts/list-wheels.py and src/find/index.py read versions and requirements as tests/data/requirements.tsv says; no password is printed

Skipped (77) without pip, whose copy of packaging the script uses.
"""

import argparse
import importlib.util
import pathlib
import sys
import tempfile
import warnings

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.dont_write_bytecode = True
warnings.simplefilter("ignore", DeprecationWarning)  # old copies of packaging read what is no version
try:
    spec = importlib.util.spec_from_file_location("list_wheels", ROOT / "scripts/list-wheels.py")
    listing = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(listing)
except ImportError as why:
    print(f"skipped: {why}")
    sys.exit(77)

from pip._vendor.packaging.requirements import Requirement
from pip._vendor.packaging.specifiers import SpecifierSet


def counts(text, platform, python, extras):
    """Whether a requirement counts, as for pip; one that is malformed does not."""
    try:
        marker = Requirement(text).marker
        where = listing.index.place(platform, python)
        return not marker or any(marker.evaluate({**where, "extra": listing.normalised(extra)}) for extra in ["", *extras.strip("[]").split(",")])
    except Exception:  # each packaging has its own
        return False


tried = 0
for line in (ROOT / "tests/data/requirements.tsv").read_text().splitlines():
    if line.startswith("#"):
        continue
    kind, *words = line.split("\t")
    if kind == "order":
        left, right = listing.Version(words[0]), listing.Version(words[2])
        assert left < right if words[1] == "<" else left == right, line
    elif kind == "marker":
        platform, python, marker, holds = words
        assert counts(f"x; {marker}", platform, python, "") == (holds == "yes"), line
    else:
        platform, python, extras, text, wanted = words
        name, _, versions = wanted.partition(" ")
        if wanted == "-":
            assert "@" in text or not counts(text, platform, python, extras), line
        else:
            requirement = Requirement(text)
            assert counts(text, platform, python, extras) and listing.normalised(requirement.name) == name, line
            assert SpecifierSet(str(requirement.specifier).replace("===", "==")) == SpecifierSet("" if versions == "any" else versions), line
    tried += 1
assert tried > 80, tried

# A library without code is listed, but does not make two releases differ.
with tempfile.TemporaryDirectory() as folder:
    host = {"path": "a.whl", "member": "a/_c.so", "format": "elf", "pieces": [], "runtime_cuda": 12000, "runtime_shared": True}
    code = {"path": "a.whl", "member": "a/b.so", "format": "elf", "runtime_cuda": 0, "pieces": [
        {"role": "registered", "containers": 1, "entries": [{"kind": 2, "target": "sm_80", "isa": "1.7"}]}]}
    facts = pathlib.Path(folder) / "a.json"
    def looked(files, **described):
        facts.write_text(listing.json.dumps({"wheel": {"file": "a-1.0-py3-none-any.whl", "sha256": "aa", **described}, "files": files}))
        return listing.Looked(facts)
    with_host = looked([code, host])
    assert with_host.lines == ["library library 12000 a/_c.so", "library library ~0 a/b.so", "piece 1 registered sm_80"], with_host.lines
    assert with_host.alike == looked([code]).alike
    # A library's need of NVIDIA's libraries is listed.
    needing = looked([{**code, "needs": "libcublas.so.11 libcudnn.so.8"}])
    assert needing.lines == ["library library ~0 a/b.so", "needs libcublas.so.11", "needs libcudnn.so.8", "piece 1 registered sm_80"], needing.lines

# A release whose code is in another package, which the index lacks: it is left out with a line, and the next one is looked at.
with tempfile.TemporaryDirectory() as folder:
    asked = []
    listing.list_wheels = lambda package: [listing.Wheel(f"{package.replace('-', '_')}-{version}-py3-none-manylinux2014_x86_64.whl")
                                           for version in (("1.0", "2.0") if package == "cuml-cu12" else ("3.0",))]
    listing.fetch = lambda package, wheel, folder: asked.append((package, wheel.version)) or pathlib.Path(folder)
    listing.look(type("Arguments", (), {"facts": pathlib.Path(folder), "system": None, "jitwarm": "/bin/false"}), "cuml-cu12")
    assert asked == [("cuml-cu12", "1.0"), ("cuml-cu12", "2.0")], asked
    assert [path.name for path in pathlib.Path(folder).iterdir()] == ["cuml-cu12.files"]

# The list has each release of the index, so that “which” knows of older ones that nobody has looked at. A wheel for every platform counts, unless
# the release has one for the platform.
with tempfile.TemporaryDirectory() as folder:
    (pathlib.Path(folder) / "bitsandbytes.files").write_text("bitsandbytes-0.31.8-py3-none-any.whl\nbitsandbytes-0.32.0-py3-none-any.whl\n"
                                                             "bitsandbytes-0.32.0-cp38-cp38-manylinux2014_x86_64.whl\nbitsandbytes-0.33.0rc1-py3-none-any.whl\n")
    lines = listing.package_lines(type("Arguments", (), {"facts": pathlib.Path(folder)}), "bitsandbytes")
    assert lines == ["package bitsandbytes", "unseen 0.32.0 linux cp38", "unseen 0.31.8 linux py3", "unseen 0.32.0 windows py3", "unseen 0.31.8 windows py3",
                     "unseen 0.32.0 linux-aarch64 py3", "unseen 0.31.8 linux-aarch64 py3"], lines

# --ask reads the same upper bound of Requires-Python: a wheel of abi3 is for the versions below it.
tag = [argparse.Namespace(interpreter="cp38", abi="abi3")]
assert listing.index.python_words(tag, ">=3.10,<3.13") == ("cp310,cp311,cp312", ["3.10", "3.11", "3.12"])
assert listing.index.python_words(tag, ">=3.10") == ("cp310+", ["3.10+"]) and listing.index.python_words(tag, None) == ("cp38+", ["3.8+"])

# Requirements of packages that the list has are lines, and not those of the package itself.
assert listing.required_lines(["torch<3,>=2.4", "numpy", "Bitsandbytes[test]; extra == 'dev'", "nvidia_cudnn.cu12 (==9.1)", "x @ https://h/x.whl"],
                              "bitsandbytes") == ["requires torch<3,>=2.4", "requires nvidia_cudnn.cu12 (==9.1)"]

# The lines that list-builds.py has written stay: the builds of a package with what they require, and packages that are not fetched.
with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "wheels.txt"
    # A release whose METADATA forgets what the ones around it require has the requirement of the newer one.
    stated = {"2.12": ["requires torch>=2.11"], "2.11": [], "2.10": ["requires torch==2.10", "requires numpy"], "2.9": ["requires torch==2.9"]}
    listing.Requirements = lambda facts: argparse.Namespace(of=lambda package, version, system, file: list(stated[version]))
    path.write_text("package torchaudio\n" + "".join(f"wheel {version} linux py3 f h\n" for version in stated))
    listing.add_requirements(argparse.Namespace(facts=None, output=path))
    assert path.read_text().splitlines()[1:5] == ["wheel 2.12 linux py3 f h", "requires torch>=2.11", "wheel 2.11 linux py3 f h",
                                                  "requires torch>=2.11"], path.read_text()
    assert path.read_text().count("numpy") == 1, path.read_text()
    path.write_text("jitwarm-wheels 1 2026-11-28\npackage a\nunseen 1 source py3\nbuild 2 linux py3 0 sm_80\npackage torch\nunseen 2.0 linux py3\nrequires b\n"
                    "build 2.0+cu118 linux cp38 11080 sm_50\nrequires b==1\nunseen 1.0 linux py3\n")
    assert listing.kept_lines(path) == {"a": ["unseen 1 source py3", "build 2 linux py3 0 sm_80"],
                                        "torch": ["build 2.0+cu118 linux cp38 11080 sm_50", "requires b==1"]}, listing.kept_lines(path)

# No message of src/find/index.py has a password, whether its address is one of this account's or of an index.
clean, note_secrets = listing.index.clean, listing.index.note_secrets
for text, cleaned in (("at https://u:p@h/x and http://h/", "at https://h/x and http://h/"), ("'https://u:p@ss@h/'", "'https://h/'"),
                      ("git+https://token@h https://a:b@c\nx", "git+https://h https://c x"), ("u@h //u:p@h", "u@h //u:p@h")):
    assert clean(text) == cleaned, clean(text)
note_secrets("https://us:p%40ss@h/x http://a:other@b@c")
assert clean("p@ss, p%40ss, other and other@b") == "****, ****, **** and ****", clean("p@ss, p%40ss, other and other@b")
assert listing.index.without_login("https://u:p@h/x@y") == "https://h/x@y"
assert not listing.index.WHEEL.fullmatch("../x-1-py3-none-any.whl") and not listing.index.WHEEL.fullmatch("x y-1-py3-none-any.whl")
