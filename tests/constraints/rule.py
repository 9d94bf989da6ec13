#!/usr/bin/env python3
"""rule.py JITWARM [--every]   whether pip would take exactly the releases that run, by the file of “which --constraints”

The file is read with `packaging` (that of pip), and each release of the list is tried: one that fails on a GPU has to be refused, one that
runs on all has to be allowed. No release that was not examined may stand at a boundary. Some GPUs and drivers; with --every all of them
(the nightly set).
"""
import json
import os
import pathlib
import re
import subprocess
import sys

from pip._vendor.packaging.requirements import Requirement
from pip._vendor.packaging.version import Version

ROOT = pathlib.Path(__file__).resolve().parents[2]
LISTED = [line.split()[1] for line in (ROOT / "data/wheels.txt").read_text().splitlines() if line.startswith("package ")]
GOOD, KNOWN = {"runs", "compiles", "cpu_only", "unfollowed"}, {"runs", "compiles", "cpu_only", "unfollowed", "fails"}
GPUS = {"linux": ["gtx980", "gtx1080", "v100", "rtx2080", "a100", "rtx3070", "rtx4090", "h100", "b200", "rtx5090"],
        "windows": ["gtx1080", "rtx3070", "rtx5090"], "linux-aarch64": ["gh200", "gb10"]}
DRIVERS = {"linux": ["", "535", "550", "570"], "windows": ["", "551"], "linux-aarch64": ["", "570"]}
EVERY_GPU = {"linux": "50 52 60 61 70 75 80 86 89 90 100 103 120 121", "windows": "50 52 60 61 70 75 86 89 90 120", "linux-aarch64": "87 90 100 103 110 120 121"}
EVERY = {"linux": ["", "450", "460", "470", "510", "515", "520", "525", "530", "535", "545", "550", "555", "560", "565", "570", "575", "580", "590",
                   "595", "610", "615", "620"],
         "windows": ["", "452", "511", "528", "531", "537", "546", "551", "560", "566", "572", "576", "580"], "linux-aarch64": ["", "535", "550", "570", "580"]}
failures = []


def check(holds, *what):
    if not holds:
        failures.append(" ".join(map(str, what)))


def run(*arguments):
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "PIP_CONSTRAINT": ""}
    return subprocess.run([JITWARM, "which", *arguments], capture_output=True, text=True, env=environment)


def releases(question, package):
    """What which answers for the releases of PyPI, newest first."""
    answers = json.loads(run("--json", "--all", *question, package).stdout)["answers"]
    # which answers for tensorflow[and-cuda]: the extra requires the cuDNN that fails, and has a constraint of its own.
    return [(row["version"], row["answer"]) for row in answers[0]["releases"]
            if "declared_by" not in row and row["answer"] in KNOWN | {"unknown"} and not (package == "tensorflow" and "pin" in row)]


def states(rows):
    """R, F or ?; what lies between two releases that fail is inferred to fail."""
    states = ["R" if answer in GOOD else "F" if answer == "fails" else "?" for _, answer in rows]
    known = [at for at, state in enumerate(states) if state != "?"]
    for newer, older in zip(known, known[1:]):
        if states[newer] == states[older] == "F":
            states[newer:older] = "F" * (older - newer)
    return "".join(states)


def try_versions(constraint, at, rows, state):
    """Tries a release and the spellings that pip may find of it."""
    version = rows[at][0]
    allowed = constraint.specifier.contains(version, prereleases=True)
    place = f"{constraint}: {version}"
    if state[at] == "R":
        check(allowed, place, "runs, and is refused")
        check(constraint.specifier.contains(version + "+cu128", prereleases=True), place, "+cu128 runs, and is refused")
    if state[at] == "F":
        check(not allowed, place, "fails, and is allowed")
        check(not constraint.specifier.contains(version + "+cu128", prereleases=True), place, "+cu128 is allowed")
        if "!=" not in str(constraint.specifier):
            check(not constraint.specifier.contains(version + "rc1", prereleases=True) or state[at:].strip("F?") == "", place, "rc1 is allowed")


def check_package(question, package, row, required):
    rows = releases(question, package)
    state = states(rows)
    place = f"{' '.join(question)}: {package} ({state})"
    if "F" not in state:
        check(row is None, place, "has a row, and nothing fails:", row)
        return
    check(row is not None, place, "has no row")
    if row is None:
        return
    if "constraint" not in row:
        check(row["kind"] in ("required", "plugin") or (row["kind"] == "unexamined" and "R" not in state and "?" in state), place, row)
        check(row["kind"] != "required" or package in required, place, "is required by nothing that runs")
        return
    constraint = Requirement(row["constraint"])
    check(constraint.name == package and not constraint.extras and not constraint.marker, row)
    if "R" not in state:
        check(re.fullmatch(r"==0\+jitwarm\.no\.release\.runs\.on\.sm\.\d+", str(constraint.specifier)), place, row)
        check("?" not in state, place, "none is allowed, and some were not examined")
    for at in range(len(rows)):
        try_versions(constraint, at, rows, state)
    newest, oldest = state.find("R"), state.rfind("R")
    if package == "tensorflow":  # some of its rows are missing here
        return
    if "F" in state[:newest]:
        beyond = Version(rows[0][0])
        for later in (f"{beyond.major + 1}.0", f"{beyond}.post9"):
            check(not constraint.specifier.contains(later, prereleases=True), place, later, "is allowed")
        check(newest == 0 or state[newest - 1] == "F", place, rows[newest - 1][0], "was not examined, at the boundary to the newest")
    if newest >= 0 and "F" in state[oldest:]:
        check(state[oldest + 1] == "F", place, rows[oldest + 1][0], "was not examined, at the boundary to the oldest")
        check(not constraint.specifier.contains("0.0.1"), place, "a search may go back")


def check_file(question):
    answer = json.loads(run("--constraints", "--json", *question).stdout)
    text = run("--constraints", *question).stdout
    check(text.isascii() and text.endswith("\n"), *question, "not ASCII")
    lines = [line.partition("  # ")[0] for line in text.splitlines() if not line.startswith("#")]
    rows = {row["package"]: row for row in answer["constraints"]}
    check(lines == [row["constraint"] for row in rows.values() if "constraint" in row], *question, "text and JSON differ")
    required = set()
    for package in ("torch", "vllm"):
        rows_of = json.loads(run("--json", "--all", *question, package).stdout)["answers"][0]["releases"]
        required |= {row["required"].split()[0] for row in rows_of if row["answer"] in ("runs", "compiles") and "required" in row}
    for package in LISTED:
        if "label" in answer and rows.get(package, {}).get("kind") == "build":
            continue
        check_package(question, package, rows.get(package), required)


def main():
    every = "--every" in sys.argv
    for platform, gpus in GPUS.items():
        for gpu in [f"sm_{number}" for number in EVERY_GPU[platform].split()] if every else gpus:
            for driver in EVERY[platform] if every else DRIVERS[platform][:1]:
                question = ["--target", gpu, "--platform", platform] + (["--driver", driver] if driver else [])
                if run("--constraints", *question).returncode == 0:
                    check_file(question)
    for line in sorted(set(failures)):
        print(line)
    print(f"{len(set(failures))} failures")
    return 1 if failures else 0


JITWARM = sys.argv[1]
sys.exit(main())
