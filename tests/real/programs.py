#!/usr/bin/env python3
"""programs.py [OPTION]... [NAME...]   what real programs from PyPI and Debian compile at their first start

For each program (a file in tests/real/programs; without a name, all of them), under NVIDIA's driver on a GPU of the phantom:

  predicted  modules that `jitwarm check` calls cold, of an empty cache
  cold       the program with an empty cache: the entries that this makes
  primed     the entries that `jitwarm prime` makes in another empty cache; a second one must find nothing to do, and change
             nothing
  start      the program with the primed cache: may add and rewrite nothing, but for what it makes while it runs (`made`)
  recorded   where a cold start makes less than prime, since the program loads some of its modules: what
             `jitwarm prime --recording` makes from a `jitwarm run --record` of it. That must be what the cold start makes
  eager      the same programs with CUDA_MODULE_LOADING=EAGER, where the bed says so: cold, and all of it must be primed

Each entry of a cold start must be there after prime with the same bytes, or else be one that the program makes while it runs.

Options:
  --build DIR   the build of jitwarm, tests/phantom and tests/real (default: build/release)
  --store DIR   where packages and results are kept, some GB (default: $JITWARM_REAL_PROGRAMS, else ~/.cache/jitwarm/programs)
  --fetch       only fetch and unpack
  --list        the programs; "*": with a result
  --document    write tests/real/programs.txt from the results of all programs, and run none

Results lie in DIR/results. Exit status: 0; 1 where a promise is broken; 2 where a program could not be fetched or run.
"""
import argparse
import configparser
import glob
import hashlib
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BEDS = os.path.join(HERE, "programs")
TABLE = os.path.join(HERE, "programs.txt")
PLATFORMS = ["manylinux%s_x86_64" % tag for tag in (
    "1", "2010", "2014", "_2_17", "_2_24", "_2_27", "_2_28", "_2_31", "_2_34", "_2_35")]
LIBRARIES = ("packages/usr/lib/x86_64-linux-gnu", "packages/usr/lib/x86_64-linux-gnu/*", "packages/usr/lib/x86_64-linux-gnu/*/*",
             "packages/nvidia/*/lib")
# These variables would control the driver or Python, and change a user's results.
STEERING = ("CUDA_", "PYTHON", "JITWARM_", "TEST_")


class Failed(Exception):
    """The program cannot be fetched or run here."""


def run(command, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False, **more)
    if done.returncode:
        raise Failed("%s: status %d: %s" % (" ".join(command[:3]), done.returncode, done.stdout[-600:]))
    return done.stdout


# ---- packages


class Packages:
    """Wheels of PyPI and packages of Debian, unpacked into one folder for each program."""

    def __init__(self, store):
        self.store = store
        self.apt = os.path.join(store, "apt")

    def unpacked(self, bed):
        """The folder of a bed's packages; it gets its name when it is whole."""
        wanted = (bed.get("wheels", "") + "\n" + bed.get("debs", "")).split()
        folder = os.path.join(self.store, "unpacked", "%s-%s" % (bed.get("packages", bed["name"]), hashlib.sha256(" ".join(wanted).encode()).hexdigest()[:8]))
        if not os.path.isdir(folder):
            new = os.path.join(self.store, "unpacked", ".%s.new" % bed["name"])
            shutil.rmtree(new, ignore_errors=True)
            os.makedirs(new)
            for name in bed.get("wheels", "").split():
                self.add_wheel(name, bed, new)
            debs = bed.get("debs", "").split()
            if debs:
                self.add_debs(debs, new)
            os.rename(new, folder)
        return folder

    def add_wheel(self, requirement, bed, folder):
        platforms = bed.get("platforms", "").split() or PLATFORMS
        with tempfile.TemporaryDirectory(dir=self.store) as scratch:
            run([sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:",
                 "--python-version", bed.get("python", "3.11"), *(word for tag in platforms for word in ("--platform", tag)), "-d", scratch,
                 requirement])
            for wheel in glob.glob(os.path.join(scratch, "*.whl")):
                with zipfile.ZipFile(wheel) as archive:
                    archive.extractall(folder)
        for data in glob.glob(os.path.join(folder, "*.data/purelib/*")) + glob.glob(os.path.join(folder, "*.data/platlib/*")):
            os.rename(data, os.path.join(folder, os.path.basename(data)))

    def apt_command(self, program, *words):
        where = {"Dir::Etc::SourceList": self.apt + "/sources.list", "Dir::Etc::SourceParts": "/dev/null", "Dir::State": self.apt,
                 "Dir::State::Lists": self.apt + "/lists", "Dir::State::Status": self.apt + "/status", "Dir::Cache": self.apt + "/cache",
                 "APT::Architecture": "amd64", "APT::Sandbox::User": "", "Acquire::Languages": "none", "Debug::NoLocking": "1"}
        return [program, *(word for name, value in where.items() for word in ("-o", "%s=%s" % (name, value))), *words]

    def apt_lists(self):
        """Debian 12's lists, in a private state folder: the system's own stay as they are."""
        if glob.glob(self.apt + "/lists/*Packages*"):
            return
        for folder in ("lists/partial", "cache/archives/partial"):
            os.makedirs(os.path.join(self.apt, folder), exist_ok=True)
        says = run(["bash", "-c", '. "$0"; debian_mirror; debian_keyring', os.path.join(ROOT, "scripts/lib.sh")]).split()
        if not says:
            raise Failed("no Debian mirror in this machine's apt sources")
        signed = " signed-by=" + says[1] if len(says) > 1 else ""
        with open(self.apt + "/sources.list", "w") as file:
            file.write("deb [arch=amd64%s] %s bookworm main contrib non-free\n" % (signed, says[0]))
        open(self.apt + "/status", "w").close()
        run(self.apt_command("apt-get", "-qq", "update"))

    def add_debs(self, names, folder):
        self.apt_lists()
        with tempfile.TemporaryDirectory(dir=self.store) as scratch:
            run(self.apt_command("apt-get", "-qq", "download", *names), cwd=scratch)
            for deb in glob.glob(os.path.join(scratch, "*.deb")):
                run(["dpkg-deb", "-x", deb, folder])


# ---- one program


def load_bed(name):
    """Settings, a line "---", and a script for bash that runs the program: an exit status among `status` means that it got
    as far as the phantom lets it, which executes no kernels."""
    parser = configparser.ConfigParser(interpolation=None)
    try:
        with open(os.path.join(BEDS, name + ".bed")) as file:
            settings, _, script = file.read().partition("\n---\n")
    except FileNotFoundError:
        raise SystemExit("programs.py: no such program: %s (see --list)" % name) from None
    parser.read_string(settings)
    return {**parser["program"], "name": name, "run": script}


def entries(cache):
    """The entries of a cache by name, with the hash of their bytes and their time."""
    found = {}
    for path in glob.glob(os.path.join(cache, "?/?/" + "?" * 14)):
        with open(path, "rb") as file:
            found["".join(path.split(os.sep)[-3:])] = (hashlib.sha256(file.read()).hexdigest(), os.stat(path).st_mtime_ns)
    return found


def sums(found):
    return {name: value[0] for name, value in found.items()}


class Runner:
    def __init__(self, build, bed, packages, scratch):
        self.bed, self.scratch, self.packages = bed, scratch, packages
        self.jitwarm = os.path.join(build, "src/jitwarm")
        self.under = [os.path.join(ROOT, "scripts/with-driver.sh"), "-B", build, "-d", bed["driver"], bed["gpu"], "--"]
        os.symlink(packages, os.path.join(scratch, "packages"))
        libraries = [path for pattern in (*LIBRARIES, *bed.get("libs", "").split())
                     for path in glob.glob(os.path.join(scratch, pattern)) if glob.glob(path + "/*.so*")]
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(STEERING)}
        self.environment.update(LD_LIBRARY_PATH=":".join(libraries), PYTHONPATH=packages, PYTHONDONTWRITEBYTECODE="1", PACKAGES=packages,
                                BUILD=build, CUDA_CACHE_MAXSIZE="4294967296", JITWARM_STATE=os.path.join(scratch, "state"),
                                HOME=os.path.join(scratch, "home"))
        for name in ("JITWARM_DRIVERS", "XDG_CACHE_HOME"):
            self.environment[name] = os.environ.get(name) or os.path.expanduser({
                "JITWARM_DRIVERS": "~/.cache/jitwarm/drivers", "XDG_CACHE_HOME": "~/.cache"}[name])
        self.prime_paths = [path for pattern in bed["prime"].split() for path in sorted(glob.glob(os.path.join(packages, pattern)))]
        self.options = bed.get("options", "").split()
        if not self.prime_paths:
            raise Failed("nothing like %s in the packages" % bed["prime"])

    def cache(self, name):
        path = os.path.join(self.scratch, name)
        os.makedirs(path, exist_ok=True)
        return path

    def command(self, name, command, good=(0,), **variables):
        """Runs with the cache of this name; returns its output, seconds, and seconds of a processor."""
        home = os.path.join(self.scratch, "home")
        shutil.rmtree(home, ignore_errors=True)  # a program's own cache is no part of this
        os.makedirs(home)
        began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        with open(os.path.join(self.scratch, "stderr"), "w+", errors="replace") as messages:
            done = subprocess.run([*self.under, *command], cwd=home, text=True, errors="replace", check=False, stdout=subprocess.PIPE,
                                  stderr=messages, timeout=7200, stdin=subprocess.DEVNULL,
                                  env={**self.environment, "CUDA_CACHE_PATH": self.cache(name), **variables})
            messages.seek(0)
            said = messages.read()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode not in good:
            raise Failed("%s ended with status %d: %s" % (command[0], done.returncode, (done.stdout + said)[-1500:]))
        return done.stdout, time.monotonic() - began, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def program(self):
        return ["bash", "-e", "-c", self.bed["run"]]

    def start(self, name, **variables):
        good = [int(status) for status in self.bed.get("status", "0").split()]
        said, wall, processor = self.command(name, self.program(), good, **variables)
        expected = self.bed.get("says", "")
        if not re.search(expected, said):
            raise Failed("the program did not say %s: %s" % (expected, said[-800:]))
        return {"entries": len(entries(self.cache(name))), "wall_s": wall, "processor_s": processor}

    def check(self, name):
        said, _, _ = self.command(name, [self.jitwarm, "check", "--json", *self.options, *self.prime_paths], (0, 1, 2))
        document = json.loads(said)
        return {key: document[key] for key in ("warm", "cold", "cannot", "link", "left_out", "predicted_cpu_seconds", "predicted_cache_bytes")}

    def prime(self, name, *options):
        what = options or [*self.options, *self.prime_paths]
        said, wall, processor = self.command(name, [self.jitwarm, "prime", "--json", *what], (0, 2))
        document = json.loads(said)
        return {"entries": len(entries(self.cache(name))), "wall_s": wall, "processor_s": processor, "cold": document["cold"],
                "opaque": '"opaque":\ttrue' in said}


def measure(runner):
    """What the promises come to, and which of them are broken."""
    bed, broken, result = runner.bed, [], {}
    made = set()

    def promise(held, text):
        if not held:
            broken.append(text)

    def first_start(kind, **variables):
        result[kind] = runner.start(kind, **variables)
        print("  %s: %d entries, %.1f s" % (kind, result[kind]["entries"], result[kind]["wall_s"]), flush=True)
        return sums(entries(runner.cache(kind)))

    result["check"] = runner.check("primed")
    print("  predicted: %(cold)d cold, %(cannot)d cannot, %(left_out)d left out" % result["check"], flush=True)
    result["prime"] = runner.prime("primed")
    primed = entries(runner.cache("primed"))
    print("  primed: %d entries, %.1f s" % (len(primed), result["prime"]["wall_s"]), flush=True)
    promise(len(primed) == result["check"]["cold"], "check said %d, prime made %d" % (result["check"]["cold"], len(primed)))
    promise(not result["prime"]["opaque"], "entries have other names than predicted")
    again = runner.prime("primed")
    promise(not again["cold"] and entries(runner.cache("primed")) == primed, "a second prime found something to do")
    promise(runner.check("primed")["cold"] == 0, "check calls something cold after prime")

    cold = first_start("cold")
    made = cold.keys() - primed.keys()
    result["made"] = len(made)
    promise(not made or bed.get("makes") == "yes", "%d entries of a cold start are not primed: %s" % (len(made), " ".join(sorted(made)[:3])))
    promise(all(cold[name] == primed[name][0] for name in cold.keys() & primed.keys()), "an entry has other bytes than a cold start's")

    shutil.copytree(runner.cache("primed"), runner.cache("start") + "/.", dirs_exist_ok=True)
    runner_before = entries(runner.cache("start"))
    first_start("start")
    after = entries(runner.cache("start"))
    result["added"] = len(after.keys() - runner_before.keys())
    promise(after.keys() - runner_before.keys() <= made, "the first start added %d entries" % result["added"])
    promise(all(after[name] == value for name, value in runner_before.items()), "the first start wrote an entry again")

    if bed.get("eager") == "yes":
        eager = first_start("eager", CUDA_MODULE_LOADING="EAGER")
        promise(eager.keys() <= primed.keys() | made, "an eager start makes %d that are not primed" % len(eager.keys() - primed.keys()))
        promise(all(eager[name] == primed[name][0] for name in eager.keys() & primed.keys()), "an eager start's entry has other bytes")
        result["eager"]["all"] = primed.keys() <= eager.keys()
    if made or len(cold) < len(primed):
        recording = os.path.join(runner.scratch, "recording.json")
        runner.command("recording", [runner.jitwarm, "run", "-q", "--record", recording, *runner.prime_paths, "--", *runner.program()],
                       [int(status) for status in bed.get("status", "0").split()])
        primed_recording = runner.prime("recorded", "--recording", recording)
        with open(recording) as file:
            texts = json.load(file)["texts"]
        primed_recording.update(bytes=os.path.getsize(recording), texts=len(texts), ptx_bytes=sum(text["size_bytes"] for text in texts))
        print("  recorded: %(entries)d entries; %(bytes)d bytes with %(texts)d texts of %(ptx_bytes)d" % primed_recording, flush=True)
        recorded = sums(entries(runner.cache("recorded")))
        promise(recorded == cold or (bed.get("varies") == "yes" and recorded.items() <= sums(primed).items()),
                "a recording primes other entries than a cold start makes")
        again = first_start("recorded")
        result["recorded"] = primed_recording
        promise(again == recorded or bed.get("varies") == "yes", "a start after priming a recording added entries")
    return result, broken


# ---- the table


def seconds(value):
    return "%.0f s" % value if value >= 9.95 else "%.1f s" % value


def row(bed, result):
    check, prime, cold, start = (result[kind] for kind in ("check", "prime", "cold", "start"))
    notes = []
    if result["broken"]:
        notes.append("BROKEN")
    if result["made"]:
        notes.append("%d made while it runs" % result["made"])
    if "recorded" in result:
        notes.append("`record`: %d" % result["recorded"]["entries"])
    if "eager" in result:
        notes.append("loaded eagerly: %d" % result["eager"]["entries"])
    if check["cannot"]:
        notes.append("%d cannot" % check["cannot"])
    if check["left_out"]:
        notes.append("%d when used" % check["left_out"])
    return "| %s | %s, %s | %d | %d · %s | %d · %s | +%d · %s | %s |" % (
        bed["title"], bed["gpu"], bed["driver"], check["cold"], cold["entries"], seconds(cold["processor_s"]),
        prime["entries"], seconds(prime["processor_s"]), result["added"], seconds(start["processor_s"]), "; ".join(notes))


def table(results):
    lines = ["| program | GPU, driver | predicted | cold start | primed | first start after | more |", "|---|---|---|---|---|---|---|"]
    for name in names():
        path = os.path.join(results, name + ".json")
        if os.path.exists(path):
            with open(path) as file:
                lines.append(row(load_bed(name), json.load(file)))
        else:
            print("programs.py: no result of %s: its row is left out" % name, file=sys.stderr)
    return "\n".join(lines) + "\n"


def write_document(results):
    with open(TABLE) as file:
        notes, title, _ = file.read().partition("| program |")
    if not title:
        raise SystemExit("programs.py: no table in " + TABLE)
    text = notes + table(results)
    with open(TABLE, "w") as file:
        file.write(text)


def names():
    return sorted(os.path.basename(path)[:-len(".bed")] for path in glob.glob(os.path.join(BEDS, "*.bed")))


def try_one(name, packages, options):
    """0, 1 or 2, as the program's exit status."""
    bed = load_bed(name)
    print(name, flush=True)
    try:
        folder = packages.unpacked(bed)
        if options.fetch:
            return 0
        with tempfile.TemporaryDirectory(prefix="programs-") as scratch:
            result, broken = measure(Runner(os.path.abspath(options.build), bed, folder, scratch))
    except (Failed, subprocess.TimeoutExpired) as error:
        print("  FAILED: %s" % error)
        return 2
    for text in broken:
        print("  BROKEN: " + text)
    result["broken"] = broken
    with open(os.path.join(options.store, "results", name + ".json"), "w") as file:
        json.dump(result, file, indent=1)
    return 1 if broken else 0


def main():
    parser = argparse.ArgumentParser(usage=__doc__, add_help=False)
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    parser.add_argument("--build", default=os.path.join(ROOT, "build/release"))
    parser.add_argument("--store", default=os.environ.get("JITWARM_REAL_PROGRAMS") or os.path.join(cache, "jitwarm/programs"))
    for flag in ("--fetch", "--list", "--document"):
        parser.add_argument(flag, action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    results = os.path.join(options.store, "results")
    if options.list:
        for name in names():
            print("%s %-24s %s" % ("*" if os.path.exists(os.path.join(results, name + ".json")) else " ", name, load_bed(name)["title"]))
        return 0
    if options.document:
        write_document(results)
        return 0
    os.makedirs(os.path.join(options.store, "unpacked"), exist_ok=True)
    os.makedirs(results, exist_ok=True)
    packages = Packages(os.path.abspath(options.store))
    return max(try_one(name, packages, options) for name in options.names or names())


if __name__ == "__main__":
    sys.exit(main())
