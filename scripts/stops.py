#!/usr/bin/env python3
"""stops.py [-v] [ENTRY-ROOT [VERDICT-ROOT]]   counts the functions that take one entry from a worker into the cache, and one
path to its verdict.

Builds the program once more in build/stops with -finstrument-functions, unoptimised, and primes the sample framework of
build/release under the simulated driver with one worker; tests/bench/stops.c notes each function that is entered and left.

  entry    the functions of src/work, src/driver and src/cache that are entered while ENTRY-ROOT (take_collected) is: each once
  verdict  the functions that are open when plan_judge is entered, from VERDICT-ROOT (plan_build) down to it

-v lists them.
"""
import os
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/stops"
PROGRAM = BUILD / "src/jitwarm"
ROOMS = ("work", "driver", "cache")


def run(*command, **options):
    return subprocess.run([str(word) for word in command], check=True, text=True, capture_output=True, **options).stdout


def build():
    BUILD.mkdir(parents=True, exist_ok=True)
    run("cc", "-O1", "-c", ROOT / "tests/bench/stops.c", "-o", BUILD / "stops.o")
    run("cmake", "-S", ROOT, "-B", BUILD, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug", "-DJITWARM_TESTS=OFF",
        "-DCMAKE_C_FLAGS=-finstrument-functions", f"-DCMAKE_EXE_LINKER_FLAGS={BUILD / 'stops.o'}")
    run("cmake", "--build", BUILD)


def prime(scratch):
    """The events of the process that supervised a run: (entered, function)."""
    (scratch / "trace").mkdir()
    library = ROOT / "build/release/tests/framework/libsample_framework.so"
    run(ROOT / "scripts/with-simdriver.sh", "-B", ROOT / "build/release", "sm_86", "--", PROGRAM, "prime", "--jobs", "1", library,
        env={**os.environ, "STOPS": str(scratch / "trace"), "JITWARM_STATE": str(scratch / "state"),
             "CUDA_CACHE_PATH": str(scratch / "cache")})
    longest = max((scratch / "trace").iterdir(), key=lambda path: path.stat().st_size)
    for event, in struct.iter_unpack("<Q", longest.read_bytes()):
        yield chr(event & 255) == ">", event >> 8


def functions():
    """Of each function's address: its name and its file below src."""
    names = {}
    for line in run("nm", "--defined-only", PROGRAM).splitlines():
        address, kind, name = line.split()
        if kind in "tT":
            names[int(address, 16)] = name
    places = run("addr2line", "-e", PROGRAM, input="\n".join(hex(address) for address in names)).splitlines()
    return {address: (name, place.split("/src/")[-1].split(":")[0]) for (address, name), place in zip(names.items(), places)}


def count(events, known, entry_root, verdict_root):
    stack, within, entry, verdict = [], set(), [], []
    for entered, address in events:
        if address not in known:
            continue
        name, place = known[address]
        if not entered:
            stack.pop()
            # The last complete call counts: the first one has to make the cache, which later ones find.
            if name == entry_root:
                entry, within = sorted(within), set()
            continue
        stack.append(name)
        if any(open_function == entry_root for open_function in stack) and place.split("/")[0] in ROOMS and place.endswith(".c") \
                and not name.startswith(("cursor_", "load_", "store_", "range_fits")):
            within.add(f"{place}: {name}")
        if name == "plan_judge" and verdict_root in stack:
            verdict = stack[stack.index(verdict_root):]
    return entry, verdict


def main():
    words = [word for word in sys.argv[1:] if word != "-v"]
    if any(word.startswith("-") for word in words):
        sys.exit(__doc__)
    entry_root, verdict_root = (words + ["take_collected", "plan_build"][len(words):])[:2]
    build()
    with tempfile.TemporaryDirectory() as scratch:
        entry, verdict = count(prime(Path(scratch)), functions(), entry_root, verdict_root)
    for name, stops in (("entry", entry), ("verdict", verdict)):
        print(f"{name}: {len(stops)} functions")
        if "-v" in sys.argv:
            print("   ", "\n    ".join(stops))


if __name__ == "__main__":
    main()
