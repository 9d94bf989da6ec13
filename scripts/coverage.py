#!/usr/bin/env python3
"""coverage.py [--least PERCENT] [--files] [CTEST-OPTION...]

Builds with gcc's counters into build/coverage, runs the tests that need no driver of NVIDIA's, and prints which share of the branches
and lines of src (without what works on Windows alone) they took, by room; --files prints each file. What a process counted is lost where
it was killed, or where a limit or a lack of memory stopped the counters themselves (build/coverage/lost.txt), so that the true share is a
little higher. CTEST-OPTION: other tests, as “-R unit-”; “-N”: none, what earlier runs counted. Tests that fail are reported and counted all
the same; torture lets the counters' own code lack memory, which ends some trials.

Exit status: 0; 1 less than PERCENT of the branches were taken, or it does not build; 2 wrong usage, or no gcov.
"""
import argparse, collections, concurrent.futures, json, os, shutil, subprocess, sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = ROOT + "/build/coverage"

# Only Windows calls these: they work on the Task Scheduler.
WINDOWS_ALONE = {"src/setup/logon_task.c"}


def counted(notes):
    """What gcov says of one object: without a .gcda, that nothing of it ran."""
    said = subprocess.run(["gcov", "--json-format", "--branch-probabilities", "--stdout", notes], cwd=BUILD, capture_output=True)
    return [json.loads(line) for line in said.stdout.splitlines() if line.startswith(b"{")]


def build_and_run(options):
    # A cache of compiled objects would bring in counters of another folder.
    environment = dict(os.environ, CCACHE_DISABLE="1", CMAKE_C_COMPILER_LAUNCHER="", SNAPSHOT="")  # stored outputs hold sizes of libraries
    os.makedirs(BUILD, exist_ok=True)
    for words in (["gcc", "-O1", "-c", ROOT + "/tests/coverage/ends.c", "-o", BUILD + "/ends.o"],
                  ["cmake", "-S", ROOT, "-B", BUILD, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_C_COMPILER=gcc",
                   "-DCMAKE_C_FLAGS=--coverage -O0 -fprofile-update=atomic", "-DCMAKE_C_COMPILER_LAUNCHER=",
                   "-DCMAKE_EXE_LINKER_FLAGS=%s/ends.o -Wl,--wrap=_exit,--wrap=uv_process_kill" % BUILD],
                  ["cmake", "--build", BUILD]):
        subprocess.run(words, env=environment, stdout=subprocess.DEVNULL, check=True)
    # Standard error belongs to the tested program. Other accounts' processes count, too, if they can write to this folder.
    environment["GCOV_ERROR_FILE"] = BUILD + "/lost.txt"
    open(BUILD + "/lost.txt", "w").close()
    subprocess.run([BUILD + "/src/jitwarm", "--version"], env=environment, stdout=subprocess.DEVNULL, check=True)
    for folder, _, names in os.walk(BUILD):
        for name in names:
            if name.endswith(".gcda") or name == "lost.txt":
                os.chmod(os.path.join(folder, name), 0o666)
    # Programs that link the library would include the counters.
    options = options or ["-LE", "driver", "-E", "^library-(statics|static|cmake-static)$", "-j", str(os.cpu_count())]
    done = subprocess.run(["nice", "ctest", "--timeout", "1800", *options], cwd=BUILD, env=environment, stdout=subprocess.PIPE, text=True)
    print("\n".join(done.stdout.splitlines()[-40:]), flush=True)
    if done.returncode:
        print("coverage.py: some tests failed", file=sys.stderr)


def counts():
    """{(path, line): runs} and {(path, line, branch): times taken}"""
    notes = [os.path.join(folder, name) for folder, _, names in os.walk(BUILD + "/src") for name in names if name.endswith(".gcno")]
    lines, branches = collections.Counter(), collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for documents in pool.map(counted, notes):
            for document in documents:
                for file in document["files"]:
                    path = os.path.relpath(os.path.join(document["current_working_directory"], file["file"]), ROOT)
                    if not path.startswith("src/") or path.startswith("src/os/win32/") or path in WINDOWS_ALONE:
                        continue
                    # An object may exist twice, for the program and for a library: a branch was taken if one of them took it.
                    for line in file["lines"]:
                        at = path, line["line_number"]
                        lines[at] = max(lines[at], line["count"])
                        for i, branch in enumerate(line["branches"]):
                            branches[at + (i,)] = max(branches[at + (i,)], branch["count"])
    return lines, branches


def share(found, of):
    mine = [count for at, count in found.items() if at[0].startswith(of)]
    return sum(count > 0 for count in mine), len(mine)


def show(name, of, lines, branches):
    taken, all_of = share(branches, of)
    ran, lines_of = share(lines, of)
    if lines_of:
        print("%-36s %6d of %6d branches %5.1f %%   %6d of %6d lines %5.1f %%" %
              (name, taken, all_of, 100 * taken / max(all_of, 1), ran, lines_of, 100 * ran / lines_of))
    return 100 * taken / max(all_of, 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage=argparse.SUPPRESS, allow_abbrev=False)
    parser.add_argument("--least", type=float, default=0)
    parser.add_argument("--files", action="store_true")
    args, options = parser.parse_known_args()
    if not shutil.which("gcov"):
        print("coverage.py: no gcov: install gcc", file=sys.stderr)
        return 2
    build_and_run(options)
    lines, branches = counts()
    shown = {at[0] for at in lines} if args.files else {"/".join(at[0].split("/")[:2]) + "/" for at in lines}
    for place in sorted(shown):
        show(place.rstrip("/"), place, lines, branches)
    return int(show("src", "src/", lines, branches) < args.least)


if __name__ == "__main__":
    sys.exit(main())
