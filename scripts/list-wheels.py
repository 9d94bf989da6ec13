#!/usr/bin/env python3
"""Lists what the wheels of released packages hold, for “jitwarm which”.

    list-wheels.py --jitwarm build/release/src/jitwarm look [PACKAGE...]
    list-wheels.py write [--output data/wheels.txt]
    list-wheels.py requires [--output data/wheels.txt]
    list-wheels.py status

look: pip names the releases of each package in PACKAGES. The last patch of every minor version is fetched for
each platform, scanned, and deleted: one wheel on the disk and one request at a time. What a scan found stays
in FACTS (--facts, by default ~/.cache/jitwarm/wheel-facts), so an interrupted run continues, and no wheel is
fetched twice.

write: makes the list of what was looked at (its form: src/which/wheel_list.h). A patch that was not looked at is
inferred if the releases before and after it that were have the same architectures, PTX versions, compilers and
runtime in each library. That a patch has no code is never inferred: PyPI's tensorflow 1.15.0 has some, and 1.15.5 and
1.14.0 have none. Of others the list says that nothing is known: “which” then does not say that no release
runs, so the list has each release of the index.

requires: replaces the requirements in a list, from the METADATA of each wheel with code; “write” does so, too.

pip's own configuration (PIP_INDEX_URL) decides the index.
"""

import argparse
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import zipfile

from pip._vendor.packaging.version import Version

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src/find"))
sys.dont_write_bytecode = True
import index

# For each package: the first version from which on every minor version is examined (the releases of the last four years), and older
# versions, about one for each year.
PACKAGES = {
    "torch": ("1.13", ["1.0.1", "1.3.1", "1.4.0", "1.7.1", "1.10.2", "1.12.1"]),
    "torchvision": ("0.14", ["0.8.2", "0.11.3", "0.13.1", "0.29.1"]),
    "torchaudio": ("0.13", ["0.10.2", "0.12.1", "2.11.0"]),
    "tensorflow": ("2.0", ["1.14.0", "1.15.5", "2.3.1"]),
    "tensorflow-gpu": ("2.8", ["1.12.3", "1.14.0", "1.15.5", "2.1.4", "2.3.1", "2.4.1"]),
    "jax-cuda12-plugin": ("0", []),
    "jax-cuda13-plugin": ("0", []),
    "onnxruntime-gpu": ("1.13", ["1.1.2", "1.4.0", "1.6.0", "1.10.0", "1.12.1", "1.23.0"]),
    "xgboost": ("1.5", ["0.90", "1.0.2", "1.3.3"]),
    "catboost": ("1.1", ["0.26.1", "1.0.6"]),
    "cupy-cuda11x": ("0", []),
    "cupy-cuda12x": ("0", []),
    "cupy-cuda13x": ("0", []),
    "faiss-gpu": ("1.6", []),
    "faiss-gpu-cu12": ("1.8", []),
    "bitsandbytes": ("0.35", ["0.31.8"]),
    "ctranslate2": ("4.0", ["2.24.0", "3.0.2", "3.12.0", "3.24.0"]),
    "xformers": ("0.0.16", []),
    "vllm": ("0.2", []),
    "sglang-kernel": ("0", []),
    "triton": ("2.0", []),
    "spconv-cu120": ("0", []),
    "open3d": ("0.16", ["0.13.0", "0.15.2"]),
    "nvidia-cudnn-cu12": ("0", []),
    "nvidia-cudnn-cu13": ("0", []),
    "cuml-cu12": ("0", []),
}

# Releases beside which an answer changes for some GPU and driver: a constraint (“which --constraints”) may end at each of them. They were
# found by tests/constraints/rule.py --every.
BOUNDARIES = {
    "bitsandbytes": "0.45.0 0.45.1 0.45.2 0.45.3 0.45.4 0.46.0 0.48.0 0.48.1",
    "catboost": "1.2 1.2.1 1.2.1.1 1.2.2 1.2.3 1.2.5 1.2.6 1.2.7 1.2.8 1.2.9",
    "ctranslate2": "4.6.0 4.6.1 4.6.2",
    "cupy-cuda12x": "13.4.0",
    "faiss-gpu-cu12": "1.8.0.0 1.8.0.1",
    "jax-cuda12-plugin": "0.6.0 0.6.1 0.10.0 0.10.1",
    "jax-cuda13-plugin": "0.10.0 0.10.1",
    "nvidia-cudnn-cu12": "8.8.0.121 9.7.0.66 9.11.0.98 9.21.0.82 9.26.0.51",
    "nvidia-cudnn-cu13": "9.21.0.82 9.26.0.51",
    "onnxruntime-gpu": "1.15.0 1.19.0 1.21.0 1.24.1",
    "spconv-cu120": "2.3.1 2.3.2 2.3.3 2.3.4 2.3.5",
    "tensorflow": "2.3.0 2.4.0 2.4.1 2.4.2 2.4.3 2.11.0 2.13.0 2.15.0 2.15.0.post1 2.16.1 2.17.0 2.18.0 2.19.0",
    "tensorflow-gpu": "2.2.0 2.2.1 2.2.2 2.2.3 2.3.0 2.3.2 2.3.3 2.3.4 2.4.0",
    "torch": "1.0.0 1.13.0 2.1.0 2.1.1",
    "torchaudio": "0.13.0 2.1.0 2.1.1",
    "torchvision": "0.14.0 0.16.0 0.16.1",
    "triton": "3.3.0",
    "vllm": "0.1.4 0.1.5 0.1.6 0.1.7 0.2.0 0.2.1 0.2.1.post1 0.2.2 0.2.3 0.2.4 0.2.5 0.2.6 0.3.0 0.3.1 0.3.2 0.4.0 0.4.0.post1 0.4.1 "
            "0.4.2 0.10.0 0.10.1 0.10.1.1 0.11.0 0.11.1 0.20.0 0.20.1",
    "xformers": "0.0.13 0.0.22 0.0.27 0.0.27.post1 0.0.28 0.0.28.post1 0.0.28.post2 0.0.29.post2 0.0.31",
    "xgboost": "1.6.0 1.6.1 1.7.0.post0 1.7.1 1.7.2 1.7.3 1.7.4 1.7.5 2.1.0 2.1.1 2.1.2 2.1.3 3.1.0 3.1.1 3.1.2 3.4.0",
}

# The package that holds another one's device code in the same version; its libraries count as the other one's.
CODE_IN = {"cuml-cu12": "libcuml-cu12"}

PLATFORMS = {"linux": re.compile(r"^(many)?linux.*_x86_64$"), "windows": re.compile(r"^win_amd64$"),
             "linux-aarch64": re.compile(r"^(many)?linux.*_aarch64$")}


def is_release(version):
    return re.fullmatch(r"\d+(\.\d+)*(\.post\d+)?", version) is not None


def minor_of(package, version):
    """What counts as one minor version: 2.3 of 2.3.1; of packages that begin with 0.0, 0.0.23 of 0.0.23.post1."""
    numbers = version.partition(".post")[0].split(".")
    return tuple(numbers[:3] if numbers[:2] == ["0", "0"] else numbers[:2])


class Wheel:
    """A wheel's file name: NAME-VERSION[-BUILD]-PYTHON-ABI-PLATFORM.whl."""

    def __init__(self, file):
        self.file = file
        parts = file[: -len(".whl")].split("-")
        self.version = parts[1]
        self.build = parts[2] if len(parts) == 6 else ""
        self.python, self.abi, self.platform = parts[-3:]
        self.system = next((name for name, pattern in PLATFORMS.items()
                            if any(pattern.match(tag) for tag in self.platform.split("."))), None)
        # bitsandbytes 0.42.0 is for every platform, and has code for GPUs all the same.
        self.systems = list(PLATFORMS) if self.platform == "any" else [self.system] if self.system else []

    def rank(self):
        """pip takes the newest C library first, of several builds the last. Then the newest Python, never a free-threaded one."""
        match = re.search(r"(\d)(\d+)", self.python)
        libc = max((self.libc(tag) for tag in self.platform.split(".")), default=(0, 0))
        return (not self.abi.endswith("t"), libc, self.build, int(match[1] + match[2].zfill(2)) if match else 0)

    @staticmethod
    def libc(tag):
        """(2, 28) of manylinux_2_28_x86_64, and what the older names mean (PEP 600)."""
        match = re.match(r"manylinux_(\d+)_(\d+)_", tag)
        names = {"manylinux1": (2, 5), "manylinux2010": (2, 12), "manylinux2014": (2, 17)}
        return (int(match[1]), int(match[2])) if match else names.get(tag.split("_")[0], (0, 0))


def list_wheels(package):
    """All wheels that the index names, by pip's account of the links that it has seen."""
    answer = subprocess.run([sys.executable, "-m", "pip", "index", "versions", "-vv", package], capture_output=True, text=True)
    files = sorted(set(re.findall(r"/([A-Za-z0-9_.+!%-]+\.whl)", answer.stdout + answer.stderr)))
    if not files:
        raise RuntimeError(f"{package}: pip lists no wheel: {answer.stderr.strip()[-200:]}")
    return [Wheel(file.replace("%2B", "+")) for file in files]


def choose(package, wheels):
    """One wheel for each platform of the last patch of each minor version, and of the versions that are named."""
    first, older = PACKAGES[package]
    by_release = {}
    for wheel in wheels:
        if wheel.system and is_release(wheel.version):
            by_release.setdefault((wheel.system, wheel.version), []).append(wheel)
    last = {}
    for system, version in by_release:
        key = (system, minor_of(package, version))
        if Version(version) >= Version(first) and Version(version) > Version(last.get(key, "0")):
            last[key] = version
    chosen = {(key[0], version) for key, version in last.items()}
    named = older + BOUNDARIES.get(package, "").split()
    chosen |= {(system, version) for system, version in by_release if version in named}
    return [max(by_release[key], key=Wheel.rank)
            for key in sorted(chosen, key=lambda key: (key[0] != "linux", key[0], Version(key[1])), reverse=False)]


def fetch(package, wheel, folder):
    """With pip, which takes names and tags: a wheel for any Python of a series is asked for with one that it runs on."""
    exact = re.search(r"(\d)(\d+)", wheel.python.split(".")[-1])
    any_python = wheel.abi in ("abi3", "none")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-cache-dir", "--no-deps", "--only-binary=:all:", "--dest", folder,
               "--implementation", "cp"]
    command += [option for abi in wheel.abi.split(".") for option in ("--abi", abi)]
    command += [option for tag in wheel.platform.split(".") for option in ("--platform", tag)]
    why = "pip wrote no wheel"
    for python in ["3.12", "3.10", "3.8", "3.6"] if any_python else [f"{exact[1]}.{exact[2]}"]:
        answer = subprocess.run(command + ["--python-version", python, f"{package}=={wheel.version}"], capture_output=True, text=True)
        files = list(pathlib.Path(folder).glob("*.whl"))
        if files:
            return files[0]
        why = answer.stderr.strip().splitlines()[-1] if answer.stderr.strip() else why
    raise RuntimeError(why)


def fetch_all(package, wheel, folder):
    """The wheel, and behind it the one that holds its device code."""
    paths = [fetch(package, wheel, folder)]
    if package in CODE_IN:
        beside = [other for other in list_wheels(CODE_IN[package]) if (other.system, other.version) == (wheel.system, wheel.version)]
        if not beside:
            raise RuntimeError(f"the index lacks {CODE_IN[package]} {wheel.version}, which has its code")
        paths.append(fetch(CODE_IN[package], max(beside, key=Wheel.rank), pathlib.Path(folder) / "code"))
    return paths


def metadata_of(path):
    """The lines of METADATA that decide what is installed beside it."""
    with zipfile.ZipFile(path) as wheel:
        name = next((name for name in wheel.namelist() if re.fullmatch(r"[^/]+\.dist-info/METADATA", name)), None)
        text = wheel.read(name).decode("utf-8", "replace") if name else ""
        stamp = max((entry.date_time for entry in wheel.infolist()), default=(1980, 1, 1, 0, 0, 0))
    head = text.split("\n\n")[0].splitlines()
    return {"python": next((line[17:].strip() for line in head if line.startswith("Requires-Python: ")), ""),
            "date": "%04d-%02d-%02d" % stamp[:3]}


def sha256_of(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def look(arguments, package):
    wheels = list_wheels(package)
    (arguments.facts / f"{package}.files").write_text("\n".join(wheel.file for wheel in wheels) + "\n")
    for wheel in choose(package, wheels):
        facts = arguments.facts / f"{wheel.file}.json"
        if facts.exists() or (arguments.system and wheel.system not in arguments.system):
            continue
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="list-wheels.") as folder:
            try:
                paths = fetch_all(package, wheel, folder)
            except RuntimeError as why:
                print(f"{wheel.file}: {why}", file=sys.stderr)
                continue
            fetched = time.monotonic()
            path = paths[0]
            scan = subprocess.run([arguments.jitwarm, "scan", "--json", "--target", "all", *paths], capture_output=True, text=True)
            document = json.loads(scan.stdout or "{}")
            document["wheel"] = {"file": path.name, "sha256": sha256_of(path), "size_bytes": path.stat().st_size,
                                 "asked": wheel.file, **metadata_of(path), "status": scan.returncode, "error": scan.stderr.strip()[:500]}
        for file in document.get("files", []):
            file["path"] = wheel.file
        text = json.dumps(document)
        facts.with_suffix(".new").write_text(text)
        facts.with_suffix(".new").rename(facts)
        print(f"{wheel.file}: {document['wheel']['size_bytes'] >> 20} MiB, {fetched - began:.0f} s to fetch, {time.monotonic() - fetched:.0f} s to scan",
              flush=True)


# ---- the list

LIST_FORM = 1
FIRST_12_THAT_11_REFUSES = 12020  # drivers of CUDA 11 load the machine code of 12.0 and 12.1


def normalised(name):
    return re.sub(r"[-_.]+", "-", name).lower()


class Looked:
    """A wheel that was looked at: its lines of the list, and what has to be equal for a patch to be inferred."""

    def __init__(self, facts):
        document = json.loads(facts.read_text())
        described = document["wheel"]
        self.wheel = Wheel(described["file"])
        self.sha256 = described["sha256"]
        self.python = described.get("python", "")
        self.lines = []
        self.alike = []
        files = document.get("files", [])
        for file in sorted(files, key=lambda file: file.get("member") or ""):
            self.add_library(file)

    def add_library(self, file):
        pieces = file["pieces"]
        toolkits = [entry.get("toolkit", 0) for piece in pieces for entry in piece["entries"] if entry["kind"] == 2]
        compiler = max(toolkits, default=0)
        shared = file.get("runtime_shared", bool(file["runtime_cuda"]))
        runtime = file["runtime_cuda"] or compiler
        if compiler // 1000 == runtime // 1000:  # the name of a shared one has only the major version
            runtime = max(runtime, compiler)
        runtime = ("" if shared else "~") + str(runtime)
        kind = "library" if file["format"] in ("elf", "pe") else "file"
        grouped = {}
        for piece in pieces:
            role = piece["role"] + ("-linked" if piece.get("linked") else "")
            role += "-empty" if piece.get("empty") else "-edited" if piece.get("edited") else ""
            key = (role, tuple(entry_key(entry, compiler) for entry in piece["entries"]))
            count, work = grouped.get(key, (0, [(0, 0, 0)] * len(piece["entries"])))
            added = [tuple(a + entry.get(name, 0) for a, name in zip(before, ("modules", "cost_seconds", "ptx_bytes")))
                     for before, entry in zip(work, piece["entries"])]
            grouped[key] = (count + piece["containers"], added)
        self.lines.append(f"library {kind} {runtime} {file['member']}")
        self.lines += [f"needs {library}" for library in file.get("needs", "").split()]
        for (role, keys), (count, work) in sorted(grouped.items()):
            words = [before + (f"+{m}:{s:.3f}:{b}" if m else "") + after for (before, after), (m, s, b) in zip(keys, work)]
            self.lines.append(" ".join(["piece", str(count), role] + words))
        if pieces:
            self.alike.append((re.sub(r"[0-9.]+", "", file["member"]), runtime, tuple(sorted(set(grouped)))))


def entry_key(entry, compiler):
    """The words of an entry before and behind its work."""
    word = entry["target"] if entry["kind"] in (1, 2, 64) else f"kind{entry['kind']}:{entry['target'] or 'sm_0'}"
    if entry["kind"] == 64:
        word = "kind64:" + entry["target"]
    if entry.get("text") and entry["text"] != entry["target"]:
        word += "=" + entry["text"].removeprefix("compute_")
    if entry["kind"] in (1, 64):
        word += "@" + entry["isa"]
    if entry["kind"] == 2:
        first = entry.get("cuda", 0)
        toolkit = entry.get("toolkit") or compiler
        if entry["isa"] == "1.7" and FIRST_12_THAT_11_REFUSES <= toolkit < 13000:
            first = max(first, 12000)
        elif first == 12000:
            first = 0
        word += f"#{first}" if first else ""
    return word, "".join(letter for letter, name in (("z", "zstd"), ("r", "relocatable"), ("d", "damaged")) if entry.get(name))


def pythons_of(wheels, requires):
    """The versions of Python of several wheels of one release, as in src/which/wheel_list.h."""
    least = re.search(r">=\s*(\d)\.(\d+)", requires)
    tags = set()
    for wheel in wheels:
        for python in wheel.python.split("."):
            if wheel.abi == "abi3":
                low, allowed = index.pythons_within((int(python[2]), int(python[3:] or 0)), requires)
                tags.update([f"cp{low[0]}{minor}" for minor in allowed] or [f"cp{low[0]}{low[1]}+"])
            elif python.startswith("py"):
                tags.add(f"cp{least[1]}{least[2]}+" if least else "py3")
            elif not wheel.abi.endswith("t"):
                tags.add(python)
    return ",".join(sorted(tags, key=lambda tag: (len(tag.rstrip("+")), tag))) or "py3"


# Wheels that pip refuses: they have no .dist-info folder of their name.
REFUSED = {("torch", "1.7.0", "windows")}


def package_lines(arguments, package):
    listed = arguments.facts / f"{package}.files"
    if not listed.exists():
        return []
    releases = {}
    # pip prefers a wheel for the platform.
    for wheel in sorted(map(Wheel, listed.read_text().split()), key=lambda wheel: wheel.platform == "any"):
        for system in wheel.systems if is_release(wheel.version) else []:
            if (package, wheel.version, system) in REFUSED:
                continue
            others = releases.setdefault((system, wheel.version), [])
            if not others or wheel.platform != "any" or others[0].platform == "any":
                others.append(wheel)
    looked = {}
    for (system, version), wheels in releases.items():
        for wheel in sorted(wheels, key=Wheel.rank, reverse=True):
            facts = arguments.facts / f"{wheel.file}.json"
            if facts.exists():
                looked[system, version] = Looked(facts)
                break
    lines = []
    for system in PLATFORMS:
        versions = sorted((version for at, version in releases if at == system), key=Version, reverse=True)
        for at, version in enumerate(versions):
            here = releases[system, version]
            if (system, version) in looked:
                found = looked[system, version]
                lines.append(f"wheel {version} {system} {pythons_of(here, found.python)} {found.wheel.file} {found.sha256}")
                lines += found.lines
                continue
            newer = next((v for v in reversed(versions[:at]) if (system, v) in looked), None)
            older = next((v for v in versions[at + 1:] if (system, v) in looked), None)
            if newer and older and looked[system, newer].alike and looked[system, newer].alike == looked[system, older].alike:
                lines.append(f"same {version} {system} {pythons_of(here, looked[system, newer].python)} {newer}")
            else:
                lines.append(f"unseen {version} {system} {pythons_of(here, '')}")
    return [f"package {normalised(package)}"] + lines if lines else []


# ---- requirements


def required_lines(texts, package):
    """A line for each requirement of a package that the list has."""
    names = [normalised(re.match(r"[A-Za-z0-9._-]*", text)[0]) for text in texts]
    return [f"requires {text}" for name, text in zip(names, texts) if name in PACKAGES and name != package]


class Requirements:
    """What wheels require, as the index says: of each wheel its end is fetched, once."""

    def __init__(self, facts):
        index.find_pip()
        index.watch_pip()
        self.facts, self.index = facts, index.Index("", "x86_64-linux", "", True)

    def of(self, package, version, system, file):
        wheels = {wheel.file: wheel for wheel in self.index.wheels(package)[0]}
        names = [name for name in wheels if Wheel(name).version == version and system in Wheel(name).systems]
        file = file or max(names, key=lambda name: Wheel(name).rank())
        stored = self.facts / f"{file}.requires"
        if not stored.exists():
            stored.write_text(json.dumps(self.index.required(wheels[file])))
        return required_lines(json.loads(stored.read_text()), package)


def name_of(line):
    """The package that a line requires."""
    return normalised(re.match(r"requires ([A-Za-z0-9._-]*)", line)[1])


def forgotten(newer, own, older):
    """The lines of the newer release for packages that it and the older one require, and the release between them does not: torchaudio 2.11.0,
    whose METADATA names no torch, has the requirement of 2.11.1."""
    missing = {name_of(line) for line in older} - {name_of(line) for line in own}
    return [line for line in newer if name_of(line) in missing]


def add_requirements(arguments):
    """Puts the requirements below each release of a list that has code. Those of a release that was not looked at are written if they are
    others than those of the release that it is like; “-” is none."""
    requirements, blocks, package, looked, build = Requirements(arguments.facts), [], "", {}, False
    for line in arguments.output.read_text().splitlines():
        kind, *words = line.split()
        build = kind == "build" or (build and kind == "requires")
        if kind == "requires" and not build:
            continue
        blocks.append((line, found := []))
        if kind == "package":
            package = words[0]
            looked.clear()
        elif kind == "wheel":
            found += requirements.of(package, words[0], words[1], words[3])
            looked[words[1], words[0]] = found
            *_, newer, own, older = [None] * 3 + [of for (system, _), of in looked.items() if system == words[1]]
            if newer:
                own += forgotten(newer, own, older)
        elif kind == "same":
            own = requirements.of(package, words[0], words[1], None)
            found += (own or ["requires -"]) if own != looked[words[1], words[3]] else []
    arguments.output.write_text("\n".join(text for line, found in blocks for text in [line, *found]) + "\n")


def kept_lines(path):
    """{package: lines} of a list that list-builds.py has written: builds with their requirements, and packages that PACKAGES lacks."""
    kept, package, build = {}, "", False
    for line in path.read_text().splitlines()[1:] if path.exists() else []:
        kind, name = line.split(" ")[:2]
        build = kind == "build" or (build and kind == "requires")
        if kind == "package":
            package = name
        elif build or package not in PACKAGES:
            kept.setdefault(package, []).append(line)
    return kept


def write(arguments):
    text, kept = [f"jitwarm-wheels {LIST_FORM} {time.strftime('%Y-%m-%d', time.gmtime())}"], kept_lines(arguments.output)
    for package in sorted({*PACKAGES, *kept}):
        lines = package_lines(arguments, package) if package in PACKAGES else [f"package {package}"]
        text += lines + (kept.get(package, []) if lines else [])
    arguments.output.write_text("\n".join(text) + "\n")
    add_requirements(arguments)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jitwarm", default="jitwarm")
    parser.add_argument("--facts", type=pathlib.Path, default=pathlib.Path.home() / ".cache/jitwarm/wheel-facts")
    parser.add_argument("--system", action="append", help="only wheels of this platform: " + ", ".join(PLATFORMS))
    parser.add_argument("what", choices=["look", "write", "requires", "status"])
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path(__file__).parent.parent / "data/wheels.txt")
    parser.add_argument("package", nargs="*", default=list(PACKAGES))
    arguments = parser.parse_args()
    arguments.facts.mkdir(parents=True, exist_ok=True)
    if arguments.what == "write":
        write(arguments)
        return
    if arguments.what == "requires":
        add_requirements(arguments)
        return
    for package in arguments.package:
        if arguments.what == "status":
            chosen = choose(package, list_wheels(package))
            seen = sum((arguments.facts / f"{wheel.file}.json").exists() for wheel in chosen)
            print(f"{package}: {seen} of {len(chosen)}", " ".join(f"{w.system}:{w.version}" for w in chosen) if arguments.system else "")
        else:
            look(arguments, package)


if __name__ == "__main__":
    try:
        main()
    except RuntimeError as error:
        raise SystemExit(f"list-wheels.py: {error}")
