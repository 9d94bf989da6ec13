#!/usr/bin/env python3
"""gpu-check.py [--json FILE] [--quick] [--library FILE [--start COMMAND]] [-B BUILD-FOLDER]
gpu-check.py cases REPORT | gpu-check.py text REPORT...

Finds out, on a machine with an NVIDIA GPU, whether its driver does what jitwarm relies on, and how fast priming is:

  - driver, CUDA, GPUs, machine
  - the conformance suite (tests/conformance): every fact about the driver's cache that jitwarm builds on
  - the sample framework: cold start, `jitwarm prime`, start (which must compile nothing), prime again
  - priming with 1, 2, 4 ... workers, up to all cores: seconds, and memory of a worker

A table comes on standard output, everything in detail goes to FILE (gpu-check.json without --json). The cache that the
driver and your programs use is neither read nor written: all of it happens in a temporary directory.

  --library FILE    also a library or wheel of yours; the scaling is then measured with it
  --start COMMAND   how a program starts that loads that library (for sh); it is started cold and primed
  --quick           under a minute: the cases about keys and values only, and no steps between one worker and all
  -B BUILD-FOLDER   default: build/release, which is built if it is not there

Without a GPU it can be tried under scripts/with-driver.sh, as its test does. For driver-matrix.sh, `cases` prints a report's cases as
the conformance suite's own document, and `text` a section of Markdown about the reports' machines.

Exit status: 0 everything is as jitwarm expects; 1 something differs (the table says what); 2 no driver or no GPU; 3 the build
failed; 64 wrong usage.
"""
import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# The caller may control the driver with these here; any other variable named CUDA_... would change the measurement.
KEPT = ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER")


class Trouble(Exception):
    """Nothing can be measured; the text says why."""


class Bench:
    """Programs under test, and directories that take the place of the user's."""

    def __init__(self, build, scratch):
        self.jitwarm = os.path.join(build, "src/jitwarm")
        self.conformance = os.path.join(build, "tests/conformance/conformance")
        self.sample = os.path.join(build, "tests/framework/libsample_framework.so")
        self.sample_app = os.path.join(build, "tests/framework/framework-app")
        self.scratch = scratch
        for path in (self.jitwarm, self.conformance, self.sample, self.sample_app):
            if not os.path.exists(path):
                raise Trouble("%s is not built" % path)

    def fresh(self, name):
        path = os.path.join(self.scratch, name)
        shutil.rmtree(path, ignore_errors=True)
        os.mkdir(path)
        return path

    def run(self, command, cache, **settings):
        """Output, exit status and wall seconds of a command whose driver uses the directory `cache`."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith("CUDA_") or k in KEPT}
        environment.update(CUDA_CACHE_PATH=cache, JITWARM_STORE="0", JITWARM_STATE=os.path.join(self.scratch, "state"),
                           TMPDIR=self.scratch, NO_COLOR="1", CUDA_CACHE_MAXSIZE="4294967296", **settings)
        began = time.monotonic()
        try:
            done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, timeout=3600)
        except subprocess.TimeoutExpired:
            raise Trouble("%s: no end after an hour" % " ".join(command))
        text = [part.decode("utf-8", "replace") for part in (done.stdout, done.stderr)]
        return text[0], text[1], done.returncode, round(time.monotonic() - began, 3)

    def ask(self, cache, *arguments):
        """A document of jitwarm's."""
        output, errors, status, seconds = self.run([self.jitwarm, *arguments, "--json"], cache)
        try:
            return dict(json.loads(output), exit_status=status, wall_seconds=seconds)
        except ValueError:
            raise Trouble("jitwarm %s: status %d: %s" % (arguments[0], status, errors.strip()[-400:]))


class GpuMemory(threading.Thread):
    """Looks at the GPUs' used memory, for as long as nvidia-smi has an answer. How much it grows is `grown_bytes`."""

    def __init__(self):
        super().__init__(daemon=True)
        self.over = threading.Event()
        self.first = self.look()
        self.most = self.first

    @staticmethod
    def look():
        command = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=20)
            return [int(line) << 20 for line in done.stdout.split()] if done.returncode == 0 else None
        except (OSError, ValueError, subprocess.TimeoutExpired):
            return None

    def run(self):
        while self.first and not self.over.wait(0.25):
            now = self.look()
            if now and len(now) == len(self.most):
                self.most = [max(pair) for pair in zip(now, self.most)]

    def grown_bytes(self):
        """Ends the looking. Memory that other programs take meanwhile counts as well."""
        self.over.set()
        self.join()
        return sum(self.most) - sum(self.first) if self.first else None


def entries(cache):
    """The driver's entries by name, with what changes when one is rewritten."""
    result = {}
    for folder, _, files in os.walk(cache):
        for file in files:
            path = os.path.join(folder, file)
            if re.fullmatch(r"[0-9a-f]/[0-9a-f]/[0-9a-f]{14}", os.path.relpath(path, cache)):
                status = os.stat(path)
                result[path] = (status.st_size, status.st_mtime_ns, status.st_ino)
    return result


def describe_machine():
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    module = None
    try:
        with open("/proc/driver/nvidia/version") as file:
            module = file.readline().strip()
    except OSError:
        pass
    return {"system": "%s %s %s" % (platform.system(), platform.release(), platform.machine()),
            "cores": len(os.sched_getaffinity(0)), "memory_bytes": memory, "kernel_module": module,
            "phantom": os.environ.get("PHANTOM_GPU")}


def describe_driver(bench, cache):
    status = bench.ask(cache, "status")
    if not status["gpus"]:
        raise Trouble(status.get("why_no_gpu") or "no GPU")
    gpus = [{key: gpu[key] for key in ("name", "target", "memory_bytes")} for gpu in status["gpus"]]
    return {"gpus": gpus, "driver": status["driver"]}


def run_conformance(bench, quick):
    families = ["key", "value"] if quick else []
    output, errors, status, seconds = bench.run([bench.conformance, *families], bench.fresh("conformance"),
                                                CONFORMANCE_TIMES="1")
    cases = []
    for line in output.splitlines():
        case = re.fullmatch(r"(ok|FAIL|skip) +([^(]*?)(?: \((.*)\))?", line)
        if case:
            cases.append({"name": case[2], "outcome": case[1], "reason": case[3]})
        elif cases and re.fullmatch(r" +[0-9.]+ s", line):
            cases[-1]["seconds"] = float(line.split()[0])
    counts = {word: sum(case["outcome"] == word for case in cases) for word in ("ok", "FAIL", "skip")}
    # A suite that ends early has not passed, whatever its cases say.
    whole = bool(re.search(r"^\d+ passed, \d+ failed", output, re.M))
    return {"families": families or "all", "whole": whole, "exit_status": status, "seconds": seconds, "cases": cases,
            "passed": counts["ok"], "failed": counts["FAIL"], "skipped": counts["skip"], "errors": errors.strip()[-2000:]}


def start_program(bench, command, cache):
    before = entries(cache)
    output, errors, status, seconds = bench.run(command, cache)
    after = entries(cache)
    return {"seconds": seconds, "exit_status": status, "entries": len(after), "added": len(after.keys() - before.keys()),
            "rewritten": sum(after[name] != before[name] for name in after.keys() & before.keys()),
            "last_line": (output.strip().splitlines() or [""])[-1][:200],
            "errors": errors.strip()[-400:] if status else ""}


def follow(bench, library, command):
    """A library's whole story: cold start, prime, start, prime again."""
    story = {"library": os.path.basename(library)}
    if command:
        story["cold_start"] = start_program(bench, command, bench.fresh("cold"))
    cache = bench.fresh("primed")
    story["prime"] = bench.ask(cache, "prime", library)
    if command:
        story["primed_start"] = start_program(bench, command, cache)
    story["again"] = bench.ask(cache, "prime", library)
    return story


def worker_counts(cores, quick):
    steps = [] if quick else [1 << i for i in range(1, 12) if 1 << i < cores]
    return sorted({1, *steps, cores})


def measure_scaling(bench, library, cores, quick):
    rows = []
    for count in worker_counts(cores, quick):
        memory = GpuMemory()
        memory.start()
        report = bench.ask(bench.fresh("scaling"), "prime", library, "-j", str(count))
        grown = memory.grown_bytes()
        row = {key: report[key] for key in ("workers", "compiled", "failed", "seconds", "compile_seconds", "longest_seconds",
                                            "peak_worker_bytes", "peak_supervisor_bytes", "wall_seconds")}
        row["gpu_bytes_per_worker"] = grown // max(report["workers"], 1) if grown is not None else None
        rows.append(dict(row, jobs=count))
    return rows


def objections(report):
    """What is not as jitwarm expects, a line each."""
    driver = report["driver"]
    suite = report["conformance"]
    found = ["case failed: %s (%s)" % (case["name"], case["reason"]) for case in suite["cases"] if case["outcome"] == "FAIL"]
    if not suite["whole"] or suite["exit_status"] not in (0, 1):
        found.append("the conformance suite did not reach its end: %s" % suite["errors"][-200:])
    if driver.get("stamp") != driver["stamp_read"]:
        found.append("the stamp of this driver's entries is not the one that its library holds: '%s', '%s'" %
                     (driver.get("stamp"), driver["stamp_read"]))
    for story in report["libraries"]:
        name, prime, again = story["library"], story["prime"], story["again"]
        if prime["opaque"]:
            found.append("%s: the driver's entries are not under the names that jitwarm predicts" % name)
        if prime["failed"] or prime["unchanged"] or prime["undone"]:
            found.append("%s: %d modules failed, %d left no entry, %d were not tried" %
                         (name, prime["failed"], prime["unchanged"], prime["undone"]))
        if again["cold"] > prime["failed"] + prime["unchanged"]:
            found.append("%s: prime finds %d modules cold that it has just primed" % (name, again["cold"]))
        for key in ("cold_start", "primed_start"):
            if story.get(key, {}).get("exit_status"):
                found.append("%s: %s: the program ended with status %d" %
                             (name, key.replace("_", " "), story[key]["exit_status"]))
        start = story.get("primed_start")
        if start and start["added"] + start["rewritten"]:
            found.append("%s: the start after prime compiled %d modules anew" % (name, start["added"] + start["rewritten"]))
    sample = report["libraries"][0]
    if not re.fullmatch(r"compiled 0 of \d+", sample["primed_start"]["last_line"]):
        found.append("the sample program says: %s" % sample["primed_start"]["last_line"])
    if not sample["cold_start"]["added"]:
        found.append("the sample program's cold start left nothing in the driver's cache")
    return found


def mib(size):
    return "-" if size is None else "%d MiB" % (size >> 20)


def show_machine(report):
    driver, machine = report["driver"], report["machine"]
    for gpu in report["gpus"]:
        print("GPU      %(name)s (%(target)s)" % gpu + ", " + mib(gpu["memory_bytes"]))
    stamp = driver.get("stamp") or "unknown"
    print("Driver   %s, CUDA %s, stamp %s %s (%s)" %
          (driver.get("version"), driver.get("cuda"), stamp[:11], stamp[11:], driver.get("stamp_trust")))
    print("Machine  %s, %d cores, %s%s" % (machine["system"], machine["cores"], mib(machine["memory_bytes"]),
                                           "; the GPU is the phantom" if machine["phantom"] else ""))


def show_conformance(suite):
    print("Cases    %(passed)d passed, %(failed)d failed, %(skipped)d skipped (%(seconds).0f s)" % suite)
    for case in suite["cases"]:
        if case["outcome"] != "ok":
            print("         %-4s %s%s" % (case["outcome"], case["name"], " (%s)" % case["reason"] if case["reason"] else ""))


def show_story(story):
    print("\n%s" % story["library"])
    rows = [("cold start", story.get("cold_start")), ("prime", story["prime"]), ("start", story.get("primed_start")),
            ("prime again", story["again"])]
    for name, row in rows:
        if row and "added" in row:
            print("  %-12s %8.2f s   %d entries added, %d rewritten" % (name, row["seconds"], row["added"], row["rewritten"]))
        elif row:
            print("  %-12s %8.2f s   %d cold, %d compiled, %d failed" %
                  (name, row["wall_seconds"], row["cold"], row["compiled"], row["failed"]))


def show_scaling(library, rows):
    print("\nPriming %s\n  workers  seconds  of one worker's  compiling  longest  a worker's memory  and on the GPU" % library)
    for row in rows:
        ratio = row["seconds"] / rows[0]["seconds"] if rows[0]["seconds"] else 1
        print("  %7d  %7.2f  %15.2f  %9.2f  %7.2f  %17s  %14s" %
              (row["workers"], row["seconds"], ratio, row["compile_seconds"], row["longest_seconds"],
               mib(row["peak_worker_bytes"]), mib(row["gpu_bytes_per_worker"])))


def measure(bench, arguments):
    version = bench.run([bench.jitwarm, "--version"], bench.fresh("none"))[0].strip()
    report = {"schema": "jitwarm.gpu-check/1", "jitwarm": version, "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
              "quick": arguments.quick, "machine": describe_machine()}
    report.update(describe_driver(bench, bench.fresh("none")))
    # The sample's prime comes first: after it, jitwarm has the stamp from an entry that the driver made.
    report["libraries"] = [follow(bench, bench.sample, [bench.sample_app])]
    read = report["driver"]
    report["driver"] = dict(describe_driver(bench, bench.fresh("none"))["driver"], stamp_read=read.get("stamp"))
    show_machine(report)
    report["conformance"] = run_conformance(bench, arguments.quick)
    show_conformance(report["conformance"])
    show_story(report["libraries"][0])
    if arguments.library:
        command = ["/bin/sh", "-c", arguments.start] if arguments.start else None
        report["libraries"].append(follow(bench, os.path.abspath(arguments.library), command))
        show_story(report["libraries"][1])
    library = os.path.abspath(arguments.library) if arguments.library else bench.sample
    report["scaling"] = {"library": os.path.basename(library),
                         "rows": measure_scaling(bench, library, report["machine"]["cores"], arguments.quick)}
    show_scaling(**report["scaling"])
    report["objections"] = objections(report)
    return report


def read_report(path):
    with open(path) as file:
        report = json.load(file)
    if report.get("schema") != "jitwarm.gpu-check/1":
        raise SystemExit("gpu-check.py: %s: not a report of this script" % path)
    return report


def print_cases(report):
    driver = report["driver"]
    head = {"cuda": driver["cuda"], "date": driver["stamp"][:11], "time": driver["stamp"][11:],
            "gpus": [gpu["target"] for gpu in report["gpus"]]}
    rows = [json.dumps({"name": case["name"], "outcome": case["outcome"], "why": case["reason"] or ""})
            for case in report["conformance"]["cases"]]
    # Each case is one line, as the suite writes it.
    print(json.dumps(head)[:-1] + ",\n \"cases\": [\n  " + ",\n  ".join(rows) + "\n]}")


def megabytes(size):
    return "–" if size is None else "%.0f MB" % (size / 1e6)


def started(row):
    return "%.1f s, %d compiled" % (row["seconds"], row["added"] + row["rewritten"]) if row else "–"


def print_markdown(report):
    gpus = ", ".join("%s (%s)" % (gpu["name"], gpu["target"]) for gpu in report["gpus"])
    print("\n### %s, driver %s\n" % (gpus, report["driver"]["version"]))
    print("%s, %d cores; `scripts/gpu-check.py` of jitwarm %s.\n" %
          (report["date"][:10], report["machine"]["cores"], report["jitwarm"].split()[1]))
    print("| library | cold start | `prime` | start after it | `prime` again |\n|---|---|---|---|---|")
    for story in report["libraries"]:
        prime, again = story["prime"], story["again"]
        print("| %s | %s | %.1f s, %d compiled | %s | %.2f s, %d cold |" %
              (story["library"], started(story.get("cold_start")), prime["wall_seconds"], prime["compiled"],
               started(story.get("primed_start")), again["wall_seconds"], again["cold"]))
    rows = report["scaling"]["rows"]
    print("\nPriming %s, %d modules:\n" % (report["scaling"]["library"], rows[0]["compiled"]))
    print("| workers | seconds | times faster | compiling, in all | a worker's memory | and on the GPU |\n|---|---|---|---|---|---|")
    for row in rows:
        print("| %d | %.1f | %.1f | %.1f s | %s | %s |" %
              (row["workers"], row["seconds"], rows[0]["seconds"] / row["seconds"], row["compile_seconds"],
               megabytes(row["peak_worker_bytes"]), megabytes(row["gpu_bytes_per_worker"])))


def build_release():
    """jitwarm and what is tried with it; False where that fails, which is said."""
    print("building (a minute) ...", file=sys.stderr)
    log = tempfile.NamedTemporaryFile("w+", prefix="gpu-check-", suffix=".log", delete=False)
    for command in (["cmake", "--preset", "release", "-DJITWARM_WERROR=OFF"], ["cmake", "--build", "--preset", "release", "-j", str(os.cpu_count())]):
        if subprocess.run(command, cwd=ROOT, stdout=log, stderr=subprocess.STDOUT).returncode:
            log.seek(0)
            print(*[line.rstrip() for line in log if re.search("error|CMake Error", line)][:20], sep="\n", file=sys.stderr)
            print("gpu-check.py: the build failed: see %s (scripts/setup.sh installs what it needs)" % log.name, file=sys.stderr)
            return False
    os.remove(log.name)
    return True


def wrong_usage(why):
    print("gpu-check.py: %s    (--help says more)" % why, file=sys.stderr)
    sys.exit(64)


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "cases":
        return print_cases(read_report(sys.argv[2]))
    if len(sys.argv) > 2 and sys.argv[1] == "text":
        for path in sys.argv[2:]:
            print_markdown(read_report(path))
        return 0
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage=argparse.SUPPRESS)
    parser.error = wrong_usage
    parser.add_argument("-B", dest="build", default=ROOT + "/build/release")
    parser.add_argument("--json", default="gpu-check.json")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--library")
    parser.add_argument("--start")
    arguments = parser.parse_args()
    if arguments.start and not arguments.library:
        parser.error("--start belongs to a --library")
    if arguments.build == parser.get_default("build") and not os.access(arguments.build + "/tests/conformance/conformance", os.X_OK) and \
            not build_release():
        return 3
    if not os.path.isdir(arguments.build):
        parser.error("no such build folder: " + arguments.build)
    sys.stdout.reconfigure(line_buffering=True)
    try:
        with tempfile.TemporaryDirectory(prefix="gpu-check-", ignore_cleanup_errors=True) as scratch:
            report = measure(Bench(os.path.abspath(arguments.build), scratch), arguments)
        with open(arguments.json, "w") as file:
            json.dump(report, file, indent=1)
            file.write("\n")
    except (Trouble, OSError) as why:
        print("gpu-check.py: %s" % why, file=sys.stderr)
        return 2
    print()
    for line in report["objections"]:
        print("DIFFERS: %s" % line)
    print("%s\nDetails are in %s. If you report this driver to the project, whether all is well or not, please\n"
          "attach that file; it names no user or machine, and no path but those of the driver's library and yours." %
          ("This driver does not do everything as jitwarm expects." if report["objections"] else
           "Everything is as jitwarm expects.", arguments.json))
    return 1 if report["objections"] else 0


if __name__ == "__main__":
    sys.exit(main())
