#!/usr/bin/env python3
"""estimates.py [-B BUILD-FOLDER] [-d DRIVER]... [--wheels FOLDER] [--csv FILE] [--list] [NAME...]
estimates.py --left [-B BUILD-FOLDER] [-d DRIVER]... [NAME...]
estimates.py --table FILE...

First and second estimates of `prime` against what compiling takes, for the libraries below (docs/internals/estimates.md). Each is
primed twice into an empty cache under NVIDIA's driver on a GPU of the phantom, with one worker: with an empty state, and
with what the first run has learnt. The truth is the processor time of
the compiles. One line of FILE a library; --table prints such files as the tables of the page, one table a file.

--left primes each once, with an empty state and two workers, and prints what bench_progress says of the time left.

Wheels come from PyPI and stay below FOLDER (default: ~/.cache/jitwarm/estimates). Exit status: 0; 1 where a library failed.
"""
import argparse
import csv
import glob
import itertools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "jitwarm"
PLATFORMS = ("manylinux1_x86_64", "manylinux2010_x86_64", "manylinux2014_x86_64", "manylinux_2_17_x86_64")

# name: requirement, Python, GPU, and the part of the wheel, unless it is the whole wheel
LIBRARIES = {
    "ctranslate2 2.24.0": ("ctranslate2==2.24.0", "3.10", "sm_90", None),
    "cupy 12.3.0, random": ("cupy-cuda110==12.3.0", "3.11", "sm_90", "cupy/random/_generator_api*.so"),
    "ctranslate2 3.24.0": ("ctranslate2==3.24.0", "3.10", "sm_90", None),
    "ctranslate2 4.6.2": ("ctranslate2==4.6.2", "3.11", "sm_90", None),
    "tensorflow 2.18.0": ("tensorflow==2.18.0", "3.11", "sm_90", None),
    "warp-lang 0.10.1": ("warp-lang==0.10.1", "3.10", "sm_90", None),
    "curand 10.2.10.91": ("nvidia-curand-cu11==10.2.10.91", "3.10", "sm_90", None),
    "implicit 0.6.2": ("implicit==0.6.2", "3.10", "sm_90", None),
    "xgboost 1.0.2": ("xgboost==1.0.2", "3.8", "sm_86", None),
    "spconv 2.1.25": ("spconv-cu114==2.1.25", "3.10", "sm_90", None),
    "catboost 0.26": ("catboost==0.26", "3.8", "sm_90", None),
    "dgl 0.6.1": ("dgl-cu110==0.6.1", "3.8", "sm_90", None),
}
COLUMNS = ("library", "driver", "gpu", "modules", "first_low", "first", "first_high", "took", "second_low", "second",
           "second_high", "took_again", "share", "share_again")


def wheel_of(name, store):
    requirement, python, _, part = LIBRARIES[name]
    folder = store / requirement.replace("==", "-")
    if not glob.glob(str(folder / "*.whl")):
        platforms = [word for platform in PLATFORMS for word in ("--platform", platform)]
        subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps",
                        "--only-binary=:all:", "--python-version", python, "--implementation", "cp", *platforms, "-d",
                        str(folder), requirement], check=True, stdout=sys.stderr)
    [wheel] = glob.glob(str(folder / "*.whl"))
    if not part:
        return wheel
    subprocess.run(["unzip", "-qo", wheel, part, "-d", str(folder)], check=True)
    [file] = glob.glob(str(folder / part))
    return file


class Machine:
    """A state and a cache of our own, under a driver on one GPU."""

    def __init__(self, arguments, driver, gpu, folder):
        self.command = [str(ROOT / "scripts/with-driver.sh"), "-B", str(arguments.build), "-d", driver, gpu, "--",
                        str(arguments.jitwarm or arguments.build / "src/jitwarm"), "prime", "--json", "--quiet", "--jobs", "1"]
        self.cache = folder / "cache"
        self.environment = dict(os.environ, JITWARM_STATE=str(folder / "state"), CUDA_CACHE_PATH=str(self.cache),
                                CUDA_CACHE_MAXSIZE="4294967296", JITWARM_STORE="0")

    def prime(self, *words):
        run = subprocess.run([*self.command, *words], env=self.environment, stdout=subprocess.PIPE, check=False)
        return json.loads(run.stdout)

    def forget(self):
        shutil.rmtree(self.cache, ignore_errors=True)


def turn(machine, path):
    """The estimate, and what it took."""
    machine.forget()
    start = machine.prime("--dry-run", path)["forecast"]["start_seconds"]
    done = machine.prime(path)
    if done["compiled"] != done["cold"] or not done["cold"]:
        raise RuntimeError("%d of %d modules compiled" % (done["compiled"], done["cold"]))
    took = done["compile_cpu_seconds"]
    return done["cold"], [start["low"], start["likely"], start["high"]], took, took / done["compile_seconds"]


def measure(arguments, name, driver):
    gpu = LIBRARIES[name][2]
    path = wheel_of(name, arguments.wheels)
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(arguments, driver, gpu, pathlib.Path(folder))
        modules, first, took, share = turn(machine, path)
        _, second, again, share_again = turn(machine, path)
    numbers = [*first, took, *second, again, share, share_again]
    return [name, driver, gpu, modules, *("%.2f" % number for number in numbers)]


def left(arguments, name, driver):
    path = wheel_of(name, arguments.wheels)
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(arguments, driver, LIBRARIES[name][2], pathlib.Path(folder))
        bench = [*machine.command[:-6], str(arguments.build / "tests/bench/bench_progress"), machine.command[-6], "2", path]
        done = subprocess.run(bench, env=machine.environment, stdout=subprocess.PIPE, text=True, check=True)
    return [name, driver, done.stdout.strip()]


def cell(row, kind, took):
    value, low, high, real = (float(row[column]) for column in (kind, kind + "_low", kind + "_high", took))
    return "%.1f s (%.1f to %.1f) | %.1f s | %.2f" % (value, low, high, real, value / real)


def print_table(path):
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    print("| library | driver | GPU | modules | first estimate | took | ratio | second estimate | took | ratio |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for row in rows:
        print("| %s | %s | %s | %s | %s | %s |" % (row["library"], row["driver"], row["gpu"], row["modules"], cell(row, "first", "took"),
                                              cell(row, "second", "took_again")))
    for kind, took, most in ("first", "took", 3), ("second", "took_again", 2):
        ratios = [float(row[kind]) / float(row[took]) for row in rows]
        inside = sum(1 / most < ratio < most for ratio in ratios)
        held = sum(float(row[kind + "_low"]) <= float(row[took]) <= float(row[kind + "_high"]) for row in rows)
        print("\n%s estimates: %d of %d within a factor of %g, %d in their range" % (kind, inside, len(rows), most, held))


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("-B", dest="build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("-d", dest="drivers", action="append")
    parser.add_argument("--jitwarm", type=pathlib.Path)
    parser.add_argument("--wheels", type=pathlib.Path, default=CACHE / "estimates")
    parser.add_argument("--csv", type=pathlib.Path)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--left", action="store_true")
    parser.add_argument("--table", nargs="+", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    if arguments.list:
        print("\n".join(LIBRARIES))
    for path in arguments.table or ():
        print_table(path)
    if arguments.list or arguments.table:
        return 0
    failed = 0
    with open(arguments.csv or os.devnull, "a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if file.tell() == 0:
            writer.writerow(COLUMNS)
        for name, driver in itertools.product(arguments.names or LIBRARIES, arguments.drivers or ["550.163.01"]):
            try:
                row = (left if arguments.left else measure)(arguments, name, driver)
            except (RuntimeError, ValueError, KeyError, subprocess.CalledProcessError) as why:
                print("%s, %s: %s" % (name, driver, why), file=sys.stderr)
                failed = 1
                continue
            print(*row, flush=True)
            writer.writerow(row)
            file.flush()
    return failed


if __name__ == "__main__":
    sys.exit(main())
