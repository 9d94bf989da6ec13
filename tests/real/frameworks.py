#!/usr/bin/env python3
"""frameworks.py JITWARM NAME...   scans real wheels and compares with what was counted in them by hand

The wheels are those of scripts/get.sh frameworks. Exit status 77: a wheel is not there.
"""
import glob
import json
import os
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../documents"))
from keep import keep_document

STORE = os.environ.get("JITWARM_FRAMEWORKS") or os.path.join(
    os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "jitwarm", "frameworks")

# For each wheel: the library that matters, its containers, and for each GPU (modules, MB of PTX). Another program counted most of them;
# XGBoost 1.0.2's and 1.3.3's modules are the entries that a cold start makes (README.md). TensorFlow's two or three PTX texts of a kilobyte
# each are counted, too. Containers without a kernel are not (190 of XGBoost 1.7.6's 404, 54 of TensorFlow 2.10's).
GPUS = ("sm_86", "sm_89", "sm_90", "sm_120")
EXPECTED = {
    "tensorflow-2.3.1-linux": ("_pywrap_tensorflow_internal.so", 243, dict.fromkeys(GPUS, (240, 152.1))),
    "tensorflow-2.3.1-windows": ("_pywrap_tensorflow_internal.pyd", 242, dict.fromkeys(GPUS, (240, 156.1))),
    "tensorflow-2.10.0-windows": ("_pywrap_tensorflow_internal.pyd", 2146, {
        "sm_86": (1888, 9.6), "sm_89": (1888, 9.6), "sm_90": (2093, 198.7), "sm_120": (2093, 198.7)}),
    "tensorflow-2.18.0-linux": ("libtensorflow_cc.so.2", 1546, {
        "sm_86": (2, 0), "sm_89": (2, 0), "sm_90": (1151, 3.9), "sm_120": (280, 226.4)}),
    "torch-1.4.0-linux": ("libtorch.so", 1137, dict.fromkeys(GPUS, (269, 353.9))),
    "torch-1.7.1-linux": ("libtorch_cuda.so", 1053, dict.fromkeys(GPUS, (0, 0))),
    "catboost-1.2.10-linux": ("_catboost.so", 76, {
        "sm_86": (0, 0), "sm_89": (0, 0), "sm_90": (0, 0), "sm_120": (76, 51.6)}),
    "catboost-1.2.10-windows": ("_catboost.pyd", 76, {
        "sm_86": (0, 0), "sm_89": (0, 0), "sm_90": (0, 0), "sm_120": (76, 53.4)}),
    "xgboost-1.7.6-linux": ("libxgboost.so", 404, {
        "sm_86": (0, 0), "sm_89": (0, 0), "sm_90": (40, 116.6), "sm_120": (40, 116.6)}),
    "xgboost-1.0.2-linux": ("libxgboost.so", 206, dict.fromkeys(GPUS, (22, 8.6))),
    "xgboost-1.3.3-linux": ("libxgboost.so", 215, dict.fromkeys(GPUS, (31, 35.3))),
    "xgboost-1.5.2-linux": ("libxgboost.so", 219, dict.fromkeys(GPUS, (36, 44.5))),
    "ctranslate2-4.6.2-linux": (None, 24, {
        "sm_86": (0, 0), "sm_89": (0, 0), "sm_90": (24, 11.8), "sm_120": (24, 11.8)}),
    "nvidia-cufft-linux": ("libcufft.so.12", 23984, {"sm_90": (8131, 408.7), "sm_120": (8131, 408.7)}),
    "nvidia-cusparse-linux": ("libcusparse.so.12", 168, dict.fromkeys(GPUS, (0, 0))),
}
# More verdicts of the same library: (wheel, GPU): {member: value}.
VERDICTS = {
    ("tensorflow-2.10.0-windows", "sm_86"): {"compatible": 204, "jit": 1888, "loose_modules": 1888, "left_out": False},
    ("tensorflow-2.10.0-windows", "sm_120"): {"jit": 2146},
    ("tensorflow-2.18.0-linux", "sm_86"): {"link_needed": False, "nothing": 113},
    ("tensorflow-2.18.0-linux", "sm_90"): {"native": 279, "jit": 1151, "link_needed": False},
    ("tensorflow-2.18.0-linux", "sm_120"): {"cannot": 1149, "jit": 280, "link": 116, "link_needed": True},
    ("tensorflow-2.3.1-linux", "sm_86"): {"jit": 242},
    ("torch-1.4.0-linux", "sm_86"): {"link": 181, "link_needed": True},
    ("torch-1.7.1-linux", "sm_86"): {"nothing": 892},
    ("xgboost-1.0.2-linux", "sm_86"): {"link": 182, "link_modules": 114, "link_needed": True},
    ("xgboost-1.3.3-linux", "sm_86"): {"link": 182, "link_modules": 114, "link_needed": True},
    ("xgboost-1.7.6-linux", "sm_86"): {"link_needed": False},
    ("nvidia-cufft-linux", "sm_120"): {"loose_modules": 8131, "left_out": True},
    ("nvidia-cusparse-linux", "sm_120"): {"link": 34, "link_needed": False},
}


def wheel(name):
    found = glob.glob(os.path.join(STORE, name, "*.whl"))
    return found[0] if found else None


def scan(jitwarm, path):
    command = [jitwarm, "scan", "--json", "--quiet"]
    for gpu in GPUS:
        command += ["--target", gpu]
    run = subprocess.run(command + [path], stdout=subprocess.PIPE, check=False)
    if run.returncode not in (0, 2):  # 2: the framework fails on some GPU
        run.check_returncode()
    return json.loads(keep_document(run.stdout))["files"]


def compare(name, files):
    library, containers, gpus = EXPECTED[name]
    wrong = []
    chosen = [f for f in files if library is None or f["member"].endswith("/" + library)]
    if len(chosen) != 1:
        return [f"{len(chosen)} libraries of the name {library}"]
    if chosen[0]["containers"] != containers:
        wrong.append(f"{chosen[0]['containers']} containers, not {containers}")
    for gpu, (modules, megabytes) in gpus.items():
        verdicts = chosen[0]["verdicts"][gpu]
        if (verdicts["jit_modules"], round(verdicts["jit_bytes"] / 1e6, 1)) != (modules, megabytes):
            wrong.append(f"{gpu}: {verdicts['jit_modules']} modules, {verdicts['jit_bytes']} bytes, "
                         f"not {modules}, {megabytes} MB")
        for key, value in VERDICTS.get((name, gpu), {}).items():
            if verdicts[key] != value:
                wrong.append(f"{gpu}: {key} is {verdicts[key]}, not {value}")
    if any(f["damaged"] for f in files):
        wrong.append("damaged containers")
    return wrong


def main(arguments):
    if len(arguments) < 2:
        print(__doc__, file=sys.stderr)
        return 64
    status = 0
    for name in arguments[1:]:
        path = wheel(name)
        if not path:
            print(f"skipped: {name} is not in {STORE} (scripts/get.sh frameworks {name})")
            return 77
        wrong = compare(name, scan(arguments[0], path))
        print(f"{name}: {'; '.join(wrong) or 'as expected'}")
        status |= bool(wrong)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
