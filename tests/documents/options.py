#!/usr/bin/env python3
"""options.py JITWARM   each option of each command that takes a version, a GPU, a number, a size, a time or one word of a list refuses, with status
64, what is none: the words below, for each kind of value that the command's help names. An option with another kind of value is a file, a
folder or a name, which only its command can judge."""
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

program = sys.argv[1]
GPU = ["", "sm_", "sm_999", "8.66", "rtx", "-1", "0", "86x", "sm_86,", "sm_86..", "sm_90..sm_80", "h10"]
KINDS = {"GPU": GPU, "GPUS": GPU, "VERSION": ["", "0", "-1", "5.5.5.5", "abc550", "550.", "12.", "550.163.01x", "cuda"], "STAMP": ["Mar 25 2026"],
         "TIME": ["", "-1", "5x", "1h30", "1e3", "5 m", "0x5", "5m5h", "9" * 20], "AGE": ["", "-1", "30", "5x", "1d5y"], "PID": ["", "-1", "x", "1.5"], "SIZE": ["", "-5", "5X", "1e9", "0x10", "5 GG", "9" * 20 + "G"],
         "N": ["", "-1", "x", "1.5", "1e3", "9" * 20], "LIST": ["", "zzz", "8.6;zzz", "sm_", "999"], "SCOPE": ["", "zzz"], "FORM": ["", "zzz"], "FORMAT": ["", "zzz"], "LABEL": ["", "zzz"]}
OTHERS = {"FILE", "DIR", "PACKAGE", "NAME", "GLOB", "OPTIONS", "former"}
NAMED = {"platform", "format"}  # options with one word of a list whose value is called NAME
# They take the file of a driver, too, which is looked for
FILES = re.compile(r"^make --driver=(?:cuda|abc550)")
failures, asked = [], 0


def run(*words):
    return subprocess.run([program, *words], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60, check=False)


with tempfile.TemporaryDirectory() as folder:
    os.environ.update(HOME=folder, JITWARM_STATE=folder + "/state", LC_ALL="C.UTF-8", CUDA_CACHE_PATH=folder + "/cache", PATH="/nonexistent")
    name = folder + "/a.txt"
    open(name, "w").close()
    questions = []
    for command in re.findall(r"^  ([a-z]+(?: [a-z]+)?)  ", run("help", "--all").stdout, re.M):
        operands = {"which": ["torch"]}.get(command, [name] if command in ("scan", "check", "lint", "make", "prime", "run") else [])
        for option, value in sorted(set(re.findall(r"^  (?:-., |    )--([a-z-]+) ([A-Za-z|]+)", run(*command.split(), "--help", "--all").stdout, re.M))):
            kinds = value.split("|")
            for kind in kinds:
                words = ["", "zzz"] if option in NAMED else KINDS.get(kind, [])
                if not words and kind not in OTHERS:
                    failures.append(f"{command} --{option} {value}: a kind of value without words that are none")
                questions += [[*command.split(), f"--{option}={word}", *operands] for word in words if "former" not in kinds or word != "zzz"]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for words, answer in zip(questions, pool.map(lambda words: run(*words), questions)):
            asked += 1
            if answer.returncode != 64 and not FILES.match(" ".join(words)):
                failures.append(f"{' '.join(words)}: status {answer.returncode}, not 64: {answer.stderr[:200]}")
print("\n".join(failures) or f"{asked} values that are none are refused")
sys.exit(bool(failures) or asked < 100)
