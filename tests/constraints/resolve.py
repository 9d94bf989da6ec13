#!/usr/bin/env python3
"""resolve.py JITWARM [--uv UV] [--pip PIP] [--gpus GPU,...] [--drivers VERSION,...] [--sets N]   whether pip and uv find what runs, with constraints

For eight GPUs and three drivers (“” is the newest one) the file of “which --constraints” is written, and thirty sets of packages are resolved
on the index with it and without it; files with the same lines count once. Then:

- no release in a result fails by the list, unless the file has a comment about its package;
- a set with packages for GPUs has some with the file, too;
- what resolved well without the file resolves to the same with it;
- a set without a solution is named, with the reason.

Needs the network, and takes hours with pip (scripts/nightly.sh). Exit status 1 if one of the first three does not hold; 77 without uv and pip.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
LISTED = [line.split()[1] for line in (ROOT / "data/wheels.txt").read_text().splitlines() if line.startswith("package ")]
GPUS = "gtx1080,v100,rtx2080,rtx3070,rtx4090,a100,h100,rtx5090"
DRIVERS = ",550,570"
SETS = ["torch", "bitsandbytes", "xformers", "torch torchvision torchaudio", "vllm", "onnxruntime-gpu", "tensorflow[and-cuda]", "tensorflow",
        "jax[cuda12]", "jax[cuda13]", "transformers accelerate torch", "diffusers[torch]", "sentence-transformers", "openai-whisper",
        "faster-whisper torch", "open3d", "cupy-cuda12x", "cupy-cuda13x", "bitsandbytes peft transformers", "ultralytics", "timm", "lightning",
        "easyocr", "spacy[cuda12x]", "whisperx", "facenet-pytorch", "trl", "xgboost", "catboost", "faiss-gpu-cu12"]
# A CPU's machine is Linux on x86-64 with Python 3.11, as most are.
PYTHON, PLATFORM = "3.11", "x86_64-manylinux_2_31"
UV = ["pip", "compile", "--quiet", "--no-header", "--no-annotate", "--python-version", PYTHON, "--python-platform", PLATFORM]
PIP = ["install", "--dry-run", "--quiet", "--ignore-installed", "--only-binary=:all:", "--report", "-", "--disable-pip-version-check"]


def clean_environment():
    return {name: value for name, value in os.environ.items() if not re.match(r"(PIP|UV)_(.*_)?CONSTRAINT", name)}


def uv_resolves(uv, names, file):
    """({package: version}, the reason why there is none)"""
    command = [uv, *UV, *(["-c", file] if file else []), "-"]
    run = subprocess.run(command, input=names.replace(" ", "\n"), capture_output=True, text=True, env=clean_environment())
    found = dict(re.findall(r"^([A-Za-z0-9_.-]+)==([^\s;]+)", run.stdout, re.M))
    return {name.lower().replace("_", "-"): version for name, version in found.items()}, " ".join(run.stderr.split()) if run.returncode else ""


def pip_resolves(pip, names, file):
    run = subprocess.run([pip, *PIP, *(["-c", file] if file else []), *names.split()], capture_output=True, text=True, env=clean_environment())
    if run.returncode:
        return {}, " ".join(run.stderr.split())
    installs = json.loads(run.stdout)["install"]
    return {item["metadata"]["name"].lower().replace("_", "-"): item["metadata"]["version"] for item in installs}, ""


def failing(jitwarm, question):
    """{(package, version)} of the releases that fail."""
    failing = set()
    for package in LISTED:
        run = subprocess.run([jitwarm, "which", "--json", "--all", *question, package], capture_output=True, text=True, env=clean_environment())
        for answer in json.loads(run.stdout or "{}").get("answers", []):
            failing |= {(package, row["version"]) for row in answer["releases"]
                        if row["answer"] == "fails" and "declared_by" not in row and not (package == "tensorflow" and "pin" in row)}
    return failing


def judge(free, found, failing, commented):
    """What is wrong with a result, beside the one that was found without the file."""
    wrong = [f"{name} {version} fails" for name, version in found.items() if (name, version) in failing and name not in commented]
    # An old release of an application may use fewer packages; none at all is a program for the CPU.
    parts = [name for name in free if name in LISTED]
    wrong += ["nothing for the GPU is left of " + ", ".join(parts)] if parts and not set(found) & set(LISTED) else []
    ran = free and not any((name, version) in failing for name, version in free.items() if name not in commented)
    if ran and found != free:
        changed = sorted(name for name in {*free, *found} if free.get(name) != found.get(name))
        wrong.append("ran without the file, and now has other versions of " + ", ".join(changed[:5]))
    return wrong


def resolve(arguments, question, tools, free):
    """Resolves the sets with the file for a question; returns the number of faults."""
    file = pathlib.Path(arguments.folder) / "gpu.txt"
    made = subprocess.run([arguments.jitwarm, "which", "--constraints", *question], capture_output=True, text=True, env=clean_environment())
    if made.returncode == 2:
        return 0
    lines = "\n".join(line.partition("  # ")[0] for line in made.stdout.splitlines() if line and not line.startswith("#"))
    if lines in arguments.tried:
        print(f"{' '.join(question)}: as {arguments.tried[lines]}")
        return 0
    arguments.tried[lines] = " ".join(question)
    file.write_text(made.stdout)
    commented = set(re.findall(r"^# ([a-z0-9-]+): ", made.stdout, re.M))
    fails = failing(arguments.jitwarm, question)
    faults = 0
    for names in SETS[: arguments.sets]:
        for tool, program in tools.items():
            solve = uv_resolves if tool == "uv" else pip_resolves
            if (tool, names) not in free:
                free[tool, names] = solve(program, names, None)
            found, why = solve(program, names, str(file))
            wrong = [] if why else judge(free[tool, names][0], found, fails, commented)
            faults += len(wrong)
            state = "no solution: " + why[-200:] if why else "; ".join(wrong) or "resolves"
            if why and free[tool, names][1]:
                state = "no solution with or without the file"
            print(f"{' '.join(question)}: {tool}: {names}: {state}", flush=True)
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("jitwarm")
    parser.add_argument("--uv", default=shutil.which("uv") or "")
    parser.add_argument("--pip", default=shutil.which("pip3") or "")
    parser.add_argument("--gpus", default=GPUS)
    parser.add_argument("--drivers", default=DRIVERS)
    parser.add_argument("--sets", type=int, default=len(SETS))
    arguments = parser.parse_args()
    tools = {name: path for name, path in (("uv", arguments.uv), ("pip", arguments.pip)) if path}
    if not tools:
        print("skipped: neither uv nor pip")
        return 77
    free, faults, arguments.tried = {}, 0, {}
    with tempfile.TemporaryDirectory() as arguments.folder:
        for gpu in arguments.gpus.split(","):
            for driver in arguments.drivers.split(","):
                question = ["--target", gpu, "--platform", "linux", "--python", PYTHON] + (["--driver", driver] if driver else [])
                faults += resolve(arguments, question, tools, free)
    print(f"{faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
