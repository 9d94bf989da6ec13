#!/usr/bin/env python3
"""coverage.py BUILD [--least PERCENT] [--files]: sums up what gcov says of src; scripts/coverage.sh calls it"""
import argparse, collections, concurrent.futures, json, os, subprocess, sys

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("build")
parser.add_argument("--least", type=float, default=0)
parser.add_argument("--files", action="store_true")
args = parser.parse_args()
root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
build = os.path.abspath(args.build)


# Elsewhere these are compiled and never called: they work on the Task Scheduler, and on variables that the registry keeps.
WINDOWS_ALONE = {"src/startup/logon_task.c", "src/tune/machine_record.c", "src/tune/registry.c"}


def counted(notes):
    """What gcov says of one object: without a .gcda, that nothing of it ran."""
    said = subprocess.run(["gcov", "--json-format", "--branch-probabilities", "--stdout", notes], cwd=build, capture_output=True)
    return [json.loads(line) for line in said.stdout.splitlines() if line.startswith(b"{")]


notes = [os.path.join(folder, name) for folder, _, names in os.walk(build + "/src") for name in names if name.endswith(".gcno")]
lines, branches = collections.Counter(), collections.Counter()
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    for documents in pool.map(counted, notes):
        for document in documents:
            for file in document["files"]:
                path = os.path.relpath(os.path.join(document["current_working_directory"], file["file"]), root)
                if not path.startswith("src/") or path.startswith("src/os/win32/") or path in WINDOWS_ALONE:
                    continue
                # An object may be there twice, for the program and for a library: a branch is taken where one of them took it
                for line in file["lines"]:
                    at = path, line["line_number"]
                    lines[at] = max(lines[at], line["count"])
                    for i, branch in enumerate(line["branches"]):
                        branches[at + (i,)] = max(branches[at + (i,)], branch["count"])


def share(found, of):
    mine = [count for at, count in found.items() if at[0].startswith(of)]
    return sum(count > 0 for count in mine), len(mine)


def show(name, of):
    taken, all_of = share(branches, of)
    ran, lines_of = share(lines, of)
    if lines_of:
        print("%-36s %6d of %6d branches %5.1f %%   %6d of %6d lines %5.1f %%" %
              (name, taken, all_of, 100 * taken / max(all_of, 1), ran, lines_of, 100 * ran / lines_of))
    return 100 * taken / max(all_of, 1)


if args.files:
    for path in sorted({at[0] for at in lines}):
        show(path, path)
else:
    for room in sorted({"/".join(at[0].split("/")[:2]) for at in lines}):
        show(room, room + "/")
whole = show("src", "src/")
sys.exit(whole < args.least)
