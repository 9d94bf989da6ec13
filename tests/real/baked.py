#!/usr/bin/env python3
"""baked.py [OPTION]... [NAME...]   real programs whose libraries are baked, under every driver that is here

For each program (a file in tests/real/programs that has `baked = yes` or `baked = only`; without a name, all of them), on a GPU of the phantom:

  prime   `jitwarm prime --all` into an empty cache, under the driver that the file names
  bake    `jitwarm bake -o`; the copies replace the libraries in a copy of the packages that shares their files. A second one must find
          nothing to do, and the packages themselves must not change
  start   under each driver that bake promises (`drivers`), the baked program three times: with an empty cache, with CUDA_CACHE_DISABLE=1, and
          without HOME, CUDA_CACHE_PATH and any folder that can be written; on each GPU of --target. It must end as it should, make no entry, and never open
          the library that compiles and links. `start = load` in the file: for libraries that no program can be started with here,
          `forced` hands each container to the driver; `start = scan`: baked by ptxas (`--target`) for a GPU that the
          phantom is not, and `jitwarm scan` must find nothing to compile; `start = nothing`: there must be nothing to bake for
          the GPUs, by `jitwarm bake --dry-run`
  below   under a driver that is older than promised, a start, which must fail

Options:
  --build DIR     the build of jitwarm, tests/phantom and tests/real (default: build/release)
  --store DIR     where packages and results are kept, some GB (default: $JITWARM_REAL_PROGRAMS, else ~/.cache/jitwarm/programs)
  --target GPUS   bake for these GPUs, by ptxas, and not by the driver (a name of its own for the result)
  --ptxas FILE    with them, or `start = scan`: this compiler
  --nvjitlink NAME  with them: what links
  --keep          keep what is compiled in the store, and take it from there: what takes hours may be ended, and goes on
  --jobs N        so many workers
  --document      write the results at hand into tests/real/baked.txt, and run none

The drivers are those in $JITWARM_DRIVERS (default ~/.cache/jitwarm/drivers). Exit status: 0; 1 where a promise is broken; 2 where a
program could not be fetched or run.
"""
import argparse
import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import programs

# Runs a command with a root that is read-only except for one folder.
READ_ONLY = 'mount --bind / / && mount --bind "$0" "$0" && mount -o remount,bind,ro / && exec "$@"'
CONTROL_S = 60
TABLE = os.path.join(programs.HERE, "baked.txt")


def drivers():
    store = os.environ.get("JITWARM_DRIVERS") or os.path.expanduser("~/.cache/jitwarm/drivers")
    return sorted(name for name in os.listdir(store) if re.fullmatch(r"[0-9.]+", name))


def numbers(release):
    return [int(part) for part in release.split(" ")[0].split(".")]


def hashes(folder):
    found = {}
    for above, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(above, name)
            if not os.path.islink(path):
                with open(path, "rb") as file:
                    found[os.path.relpath(path, folder)] = hashlib.file_digest(file, "sha256").hexdigest()
    return found


class Baked:
    """A program with libraries that are baked in a copy of its packages."""

    def __init__(self, options, bed, packages, scratch):
        self.bed, self.scratch = bed, scratch
        self.targets = options.target or (bed["gpu"] if bed.get("start") in ("scan", "nothing") else None)
        self.tools = [word for name in ("ptxas", "nvjitlink") if getattr(options, name) for word in ("--" + name, getattr(options, name))]
        # A process with a small share of a busy machine takes longer.
        self.jobs = ["--jobs", options.jobs] if options.jobs else []
        self.copy = os.path.join(scratch, "copy")
        subprocess.run(["cp", "-al", packages, self.copy], check=True)
        if options.keep:
            kept = os.path.join(options.store, "primed", bed["name"] + ("@" + self.targets if self.targets else ""))
            os.makedirs(kept, exist_ok=True)
            os.symlink(kept, os.path.join(scratch, "primed"))
            # bake's cache for another machine is removed with its run, unless it is named.
            self.tools += ["--cache", kept] if self.targets else []
        self.runner = programs.Runner(os.path.abspath(options.build), bed, self.copy, scratch)
        self.under = self.runner.under
        if self.targets:
            self.runner.under = []  # runs without a driver
        self.original = hashes(packages)
        self.packages = packages

    def jitwarm(self, *words, good=(0, 1)):
        said, wall, processor = self.runner.command("primed", [self.runner.jitwarm, *words], good, JITWARM_STORE="0", JITWARM_MODULE_TIMEOUT="6h")
        return (json.loads(said) if "--json" in words else said), wall, processor

    def how(self):
        return ["--target", self.targets, "--driver", self.bed["driver"], *self.tools] if self.targets else []

    def bake(self):
        copies = os.path.join(self.scratch, "baked")
        document, wall, processor = self.jitwarm("bake", "--json", "-o", copies, *self.jobs, *self.how(), *self.runner.prime_paths)
        if not document["files"]:
            raise programs.Failed("nothing to bake")
        failed = [one for one in document["files"] if one.get("failed")]
        if failed:
            raise programs.Failed(failed[0]["failed"])
        for one in document["files"]:
            if one.get("output"):
                os.remove(one["path"])  # a link to the package's own file
                shutil.move(one["output"], one["path"])
        names = ("modules", "baked", "linked", "no_room", "unknown", "unlinked", "uncompiled", "texts", "moved",
                 "size_before_bytes", "size_after_bytes")
        result = {name: sum(one[name] for one in document["files"]) for name in names}
        result["from"] = max((gpu.get("from", "") for one in document["files"] for gpu in one["drivers"]), key=numbers)
        result.update(wall_s=wall, processor_s=processor, files=len(document["files"]), gpus=self.targets or self.bed["gpu"])
        return result

    def gpus(self, driver):
        """The GPUs that the driver has starts on: the bed's, or those of --target."""
        every = self.targets.split(",") if self.targets else [self.bed["gpu"]]
        return [gpu for gpu in every if not (driver.startswith("470") and gpu in ("sm_89", "sm_90"))]

    def observe(self, driver, gpu, state, packages=None):
        """One start: its exit status, the entries it made, and whether it opened the compiler. With other packages than the baked
        ones, no more than its beginning."""
        out, cache = os.path.join(self.scratch, "out"), os.path.join(self.scratch, "out/cache")
        shutil.rmtree(out, ignore_errors=True)
        os.makedirs(out + "/home")
        environment = {**self.runner.environment, "JITWARM_STATE": out + "/state", "HOME": out + "/home", "CUDA_CACHE_PATH": cache}
        before = ["env", "LD_DEBUG=files", "LD_DEBUG_OUTPUT=" + out + "/opened"]
        if state == "disabled":
            environment["CUDA_CACHE_DISABLE"] = "1"
        if packages:
            environment["PACKAGES"] = environment["PYTHONPATH"] = packages
            environment["LD_LIBRARY_PATH"] = environment["LD_LIBRARY_PATH"].replace(self.runner.scratch + "/packages", packages)
            before = ["timeout", str(CONTROL_S), *before]
        if state == "bare":
            before = ["unshare", "-m", "bash", "-c", READ_ONLY, out, "env", "-u", "HOME", "-u", "CUDA_CACHE_PATH", *before[1:]]
        under = [{self.bed["driver"]: driver, self.bed["gpu"]: gpu}.get(word, word) for word in self.under]
        done = subprocess.run([*under, *before, *self.runner.program()], cwd=out, env=environment, check=False, timeout=3600,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        traces = "".join(open(path, errors="replace").read() for path in glob.glob(out + "/opened.*"))
        if not packages and "libcuda.so" not in traces:
            raise programs.Failed("the dynamic linker does not tell of libcuda: %s" % done.stdout[-600:])
        return {"status": done.returncode, "entries": len(programs.entries(cache)), "opened": "ptxjitcompiler" in traces,
                "said": done.stdout[-2000:]}

    def scan(self):
        document, _, _ = self.jitwarm("scan", "--json", "--target", self.targets, *self.runner.prime_paths)
        return {"status": 0, "entries": sum(one["modules"] for one in document["totals"]), "opened": False, "said": ""}

    def nothing(self):
        """What there is to bake for its GPUs, which must be nothing, and how large the libraries are."""
        document, _, _ = self.jitwarm("bake", "--json", "--dry-run", *self.how(), *self.runner.prime_paths)
        size = sum(os.path.getsize(path) for path in self.runner.prime_paths)
        return {"gpus": self.targets, "modules": sum(one["modules"] for one in document["files"]), "baked": 0, "linked": 0, "moved": 0,
                "texts": 0, "from": "0", "size_before_bytes": size, "size_after_bytes": size, "libraries": len(self.runner.prime_paths)}


def ended_well(bed, seen):
    return seen["status"] in [int(status) for status in bed.get("status", "0").split()] and re.search(bed.get("says", ""), seen["said"])


def measure(baked):
    bed, broken = baked.bed, []
    scan = bed.get("start") == "scan"

    def promise(held, text):
        if not held:
            broken.append(text)
            print("  BROKEN: " + text, flush=True)

    result = {"drivers": {}}
    if bed.get("start") == "nothing":
        result["bake"] = baked.nothing()
        promise(not result["bake"]["modules"], "there is something to bake: %s" % result["bake"])
        return result, broken
    if not baked.targets:
        began = time.monotonic()
        baked.jitwarm("prime", "--json", "--all", *baked.jobs, *baked.runner.prime_paths, good=(0, 1, 2))
        print("  primed: %.0f s" % (time.monotonic() - began), flush=True)
    result["bake"] = baked.bake()
    print("  baked: %(baked)d of %(modules)d, %(linked)d linked, %(moved)d moved, %(texts)d texts, %(wall_s).1f s" % result["bake"], flush=True)
    # Relocatable code that has nothing at all for the GPU: no start can link it, though drivers may open the linker.
    unlinkable = int(bed.get("unlinkable", 0))
    promise(result["bake"]["baked"] + unlinkable == result["bake"]["modules"] and result["bake"]["unlinked"] == unlinkable, "not all is baked: %s" % result["bake"])
    again, _, _ = baked.jitwarm("bake", "--json", "-n", *baked.how(), *baked.runner.prime_paths)
    promise(sum(one["modules"] for one in again["files"]) == unlinkable, "a second bake found something to do")
    promise(hashes(baked.packages) == baked.original, "the packages have changed, and not only their copy")
    if scan:
        promise(not baked.scan()["entries"], "scan finds something to compile")
    else:
        control = baked.observe(bed["driver"], bed["gpu"], "empty", baked.packages)
        promise(control["opened"], "the program opens no compiler without being baked either")
    for driver, gpu in [] if scan else [(driver, gpu) for driver in drivers() for gpu in baked.gpus(driver)]:
        below = numbers(driver) < numbers(result["bake"]["from"])
        states = result["drivers"].setdefault(driver, {})
        for state in ("empty",) if below else ("empty", "disabled", "bare"):
            where = "%s, %s, %s" % (driver, gpu, state)
            seen = states[gpu + ", " + state] = baked.observe(driver, gpu, state)
            print("  %s: status %d, %d entries, compiler %s" % (where, seen["status"], seen["entries"], "opened" if seen["opened"] else "not opened"), flush=True)
            if below:
                # If only parts are packed with zstd, a start may succeed without them.
                promise(result["bake"]["from"].startswith("550.54") or not ended_well(bed, seen) or seen["opened"], "%s is too old, and the start is as any other" % driver)
                continue
            promise(ended_well(bed, seen), "%s: status %d: %s" % (where, seen["status"], seen["said"]))
            promise(not seen["entries"] and (unlinkable or not seen["opened"]), "%s: %d entries" % (where, seen["entries"]))
    return result, broken


# ---- the table


def megabytes(bytes_):
    return "%.1f MB" % (bytes_ / 1e6)


def row(bed, result):
    bake, cells = result["bake"], []
    for driver in ("470", "525", "535", "550", "555"):
        states = next((states for name, states in result["drivers"].items() if name.startswith(driver)), None)
        if states is None:
            cells.append("–")
        elif numbers(driver) < numbers(bake["from"])[:1]:
            cells.append("not promised" if all(ended_well(bed, one) for one in states.values()) else "fails")
        else:
            cells.append("%d; %s" % (sum(one["entries"] for one in states.values()), "opened" if any(one["opened"] for one in states.values()) else "no"))
    size = "as before" if bake["size_after_bytes"] == bake["size_before_bytes"] else "+" + megabytes(bake["size_after_bytes"] - bake["size_before_bytes"])
    done = "%d of %d" % (bake["baked"], bake["modules"]) if bake["modules"] else "nothing to bake"
    count = containers(bake)
    place = "%d of %d" % (count - bake["moved"], count) if count else "–"
    return "| %s | %s, %s | %s | %d | %s | %s, %s | %s |" % (
        bed["title"] + {"load": ", each container", "scan": ", by `scan`"}.get(bed.get("start"), ""), bake["gpus"].replace(",", ", "), bed["driver"],
        done + (", %d texts" % bake["texts"] if bake["texts"] else ""), bake["linked"], place, megabytes(bake["size_before_bytes"]), size,
        " | ".join(cells))


def containers(bake):
    return bake["baked"] // (bake["gpus"].count(",") + 1)


def in_place(rows):
    """A sentence: how many containers kept their places, in all rows, and in those for several GPUs"""
    parts = []
    for text, chosen in (("in all rows", rows), ("in those for three GPUs", [one for one in rows if one.split(" | ")[1].count("sm_") == 3])):
        found = [re.match(r"(\d+) of (\d+)$", one.split(" | ")[4]) for one in chosen]
        stay, count = (sum(int(one[group]) for one in found if one) for group in (1, 2))
        if count:
            parts.append("%d of %d (%.1f %%) %s" % (stay, count, 100 * stay / count, text))
    return "Containers that stay in their places: %s." % ", ".join(parts)


def write_document(folder):
    """Rows whose results are not at hand stay as they are."""
    with open(TABLE) as file:
        notes, title, rest = file.read().partition("| program |")
    if not title:
        raise SystemExit("baked.py: no table in " + TABLE)
    lines = [line for line in (title + rest).split("\n") if line.startswith("| ")]
    rows = {tuple(line.split(" | ")[:2]): line for line in lines[1:]}
    for path in glob.glob(os.path.join(folder, "*.json")):
        with open(path) as file:
            line = row(programs.load_bed(os.path.basename(path).split(".json")[0].split("@")[0]), json.load(file))
        rows[tuple(line.split(" | ")[:2])] = line
    ordered = [rows[key] for key in sorted(rows, key=lambda key: (key[0].lower(), key[1].count("sm_"), key[1]))]
    table = "\n".join([lines[0], "|" + "---|" * 11, *ordered, "", in_place(ordered)]) + "\n"
    with open(TABLE, "w") as file:
        file.write(notes + table)


def try_one(name, packages, options):
    bed = programs.load_bed(name)
    print(name, flush=True)
    try:
        folder = packages.unpacked(bed)
        with tempfile.TemporaryDirectory(prefix="baked-", dir=options.store) as scratch:
            result, broken = measure(Baked(options, bed, folder, scratch))
    except (programs.Failed, subprocess.TimeoutExpired) as error:
        print("  FAILED: %s" % error)
        return 2
    result["broken"] = broken
    with open(os.path.join(options.store, "baked", name + ("@" + options.target.replace(",", "+") if options.target else "") + ".json"), "w") as file:
        json.dump(result, file, indent=1)
    return 1 if broken else 0


def main():
    parser = argparse.ArgumentParser(usage=__doc__, add_help=False)
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    parser.add_argument("--build", default=os.path.join(programs.ROOT, "build/release"))
    parser.add_argument("--store", default=os.environ.get("JITWARM_REAL_PROGRAMS") or os.path.join(cache, "jitwarm/programs"))
    parser.add_argument("--target")
    parser.add_argument("--ptxas")
    parser.add_argument("--nvjitlink")
    parser.add_argument("--jobs")
    for flag in ("--document", "--keep"):
        parser.add_argument(flag, action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    options.store = os.path.abspath(options.store)
    folder = os.path.join(options.store, "baked")
    if options.document:
        write_document(folder)
        return 0
    for name in (folder, os.path.join(options.store, "unpacked")):
        os.makedirs(name, exist_ok=True)
    names = options.names or programs.names(lambda bed: "baked" in bed)
    return max(try_one(name, programs.Packages(options.store), options) for name in names)


if __name__ == "__main__":
    sys.exit(main())
