#!/usr/bin/env python3
"""resolve.py BUILD-FOLDER   the commands that “which” prints, resolved by pip, install what “which” says runs

pip gets a folder of wheels without content, one for each release of jitwarm's list, with the requirements that the list has, and for the
builds of another index an index of this machine, with a folder for each label, such as cu126. What pip would install for each package, GPU and driver is asked of “which” again. Skipped (77) without a pip that has --dry-run and --report (22.2).
"""
import concurrent.futures
import functools
import http.server
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import threading
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
JITWARM = str(pathlib.Path(sys.argv[1]).resolve() / "src/jitwarm")
PYTHON = "{}.{}".format(*sys.version_info)
# The packages that people name, alone and together; about twenty questions for each GPU.
ASKED = ["torch", "torchvision", "torchaudio", "bitsandbytes", "xformers", "vllm", "triton", "ctranslate2", "onnxruntime-gpu", "onnxruntime-gpu[cuda,cudnn]",
         "tensorflow", "tensorflow[and-cuda]", "xgboost", "catboost", "cupy-cuda12x", "cuml-cu12", "jax-cuda12-plugin[with-cuda]", "faiss-gpu-cu12", "open3d",
         "sglang-kernel", "bitsandbytes xformers", "torch torchvision torchaudio", "torchvision bitsandbytes", "vllm bitsandbytes"]
GPUS = [("gtx1080", None), ("v100", "12.4"), ("rtx3070", "550")]


def wheels(folder):
    """The list's releases for Linux x86-64, as files; pip reads no more of them than names and METADATA."""
    rows, builds, package = [], [], ""
    for line in (ROOT / "data/wheels.txt").read_text().splitlines():
        kind, _, rest = line.partition(" ")
        words = rest.split(" ")
        if kind == "package":
            package, looked = rest, {}
        elif kind in ("wheel", "same", "unseen"):
            own = []
            if words[1] == "linux":
                looked[words[0]] = own
                rows.append((package, words[0], words[2], own, looked[words[3]] if kind == "same" else None))
        elif kind == "build":
            own = []
            if words[1] == "linux":
                builds.append((package, words[0], words[2], own, None))
        elif kind == "requires":
            own.append(rest)
    for package, version, pythons, own, inherited in rows + builds:
        at = folder
        if "+" in version:
            at = folder / "whl" / version.partition("+")[2] / package
            at.mkdir(parents=True, exist_ok=True)
        requires = [one for one in own or inherited or [] if one != "-"]
        name = package.replace("-", "_")
        for python in pythons.split(","):
            abi = "abi3" if python.endswith("+") else "none" if python == "py3" else python
            with zipfile.ZipFile(at / f"{name}-{version}-{python.rstrip('+')}-{abi}-linux_x86_64.whl", "w") as archive:
                extras = {extra for one in requires for extra in re.findall(r"extra == ['\"]([^'\"]*)", one)}
                lines = [f"Requires-Dist: {one}" for one in requires] + [f"Provides-Extra: {extra}" for extra in extras]
                archive.writestr(f"{name}-{version}.dist-info/METADATA", "\n".join(["Metadata-Version: 2.1", f"Name: {package}", f"Version: {version}", *lines, ""]))
                archive.writestr(f"{name}-{version}.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: false\n")
                archive.writestr(f"{name}-{version}.dist-info/RECORD", "")


def which(gpu, driver, *words):
    command = [JITWARM, "which", "--platform", "linux", "--python", PYTHON, "--target", gpu, *(["--driver", driver] if driver else []), *words]
    answer = subprocess.run(command, capture_output=True, text=True)
    assert answer.returncode <= 3, answer
    return answer.stdout


def resolve(folder, command):
    words = shlex.split(re.sub(r"https://[^ ]*/whl/", f"http://127.0.0.1:{PORT}/whl/", command))[2:]
    where = [] if "--index-url" in words else ["--no-index", "--find-links", str(folder)]
    answer = subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed", *where, "--report", "-", *words], capture_output=True, text=True, env={**os.environ, "PIP_CONFIG_FILE": os.devnull, "PIP_FIND_LINKS": ""})
    if answer.returncode:
        return None, answer.stderr.strip()
    return [(one["metadata"]["name"], one["metadata"]["version"]) for one in json.loads(answer.stdout)["install"]], ""


def check(folder, gpu, driver, asked):
    """Returns what is wrong, and whether there was a command."""
    text = which(gpu, driver, *asked.split())
    last = re.findall(r"Newest that runs[^:]*: (pip install .*)", text)
    if not last:
        return [], 0
    found, why = resolve(folder, last[-1])
    if found is None:
        return [f"{asked} on {gpu}: {last[-1]}: {why}"], 1
    wrong, spared = [], set()
    for name, version in found:
        answers = json.loads(which(gpu, driver, "--json", f"{name}=={version}")).get("answers")
        release = answers[0]["releases"][0] if answers else {"answer": "unknown"}
        spared.add(release.get("required", "").split(" ")[0])
        # A release may require another one that nobody has examined in exactly one version.
        if release["answer"] not in ("runs", "compiles", "unknown"):
            wrong.append((name, f"{asked} on {gpu}, driver {driver}: {last[-1]}: pip takes {name} {version}, which {release['answer']}: {release.get('why')}"))
    return [text for name, text in wrong if name not in spared], 1


with tempfile.TemporaryDirectory() as room:
    folder = pathlib.Path(room)
    wheels(folder)
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=room))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    PORT = server.server_address[1]
    if subprocess.run([sys.executable, "-m", "pip", "install", "--dry-run", "--report", os.devnull, "--no-index", "--find-links", room, "triton"], capture_output=True).returncode:
        print("skipped: no pip with --dry-run and --report")
        sys.exit(77)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda one: check(folder, *one), [(gpu, driver, asked) for gpu, driver in GPUS for asked in ASKED]))
    server.shutdown()
wrong = [text for texts, _ in answers for text in texts]
commands = sum(count for _, count in answers)
print(f"{commands} commands of {len(answers)} questions, {len(wrong)} wrong", *wrong, sep="\n")
assert commands > 55 and not wrong
