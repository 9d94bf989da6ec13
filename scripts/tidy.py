#!/usr/bin/env python3
"""tidy.py [--all] [--deep] [FILE ...]   clang-tidy over the sources of src that Linux compiles (or FILE); prints findings, exit status 1 with any

clang-tidy takes half of all the time that linting takes, and says the same of the same text. So a file without a finding is
remembered in ~/.cache/jitwarm/tidy by a hash of clang-tidy's version, .clang-tidy, the command that compiles the file, and
the text of the file and of all that it includes; it is looked at again when one of these has changed. --all looks at each.
Nineteen parts of twenty of the time are the static analyzer's, which follows each way through a function. It ends with a function after 30,000
states; with --deep, which takes four times as long (nightly.sh), after clang's own 225,000.
Needs build/release, with what ninja knows of the included files.
"""
import hashlib
import json
import os
import shlex
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/release"
REMEMBERED = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "jitwarm/tidy"
KEPT_DAYS = 30
SHALLOWER = [f"-extra-arg={word}" for word in ("-Xclang", "-analyzer-config", "-Xclang", "max-nodes=30000")]


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@lru_cache(maxsize=None)
def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def included_files():
    """For each object as ninja names it the files that it was compiled from."""
    files, current = {}, None
    for line in output("ninja", "-C", str(BUILD), "-t", "deps").splitlines():
        if line.startswith(" "):
            files[current].append((BUILD / line.strip()).resolve())
        elif ":" in line:
            current = line.split(":", 1)[0]
            files[current] = []
    return files


def name_of(path):
    return str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)


def keys(sources, extra):
    """For each source the hash by which it is remembered; None where ninja does not know what it includes."""
    common = output("clang-tidy", "--version") + (ROOT / ".clang-tidy").read_text() + " ".join(extra)
    files, found = included_files(), dict.fromkeys(sources)
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        source = name_of((Path(entry["directory"]) / entry["file"]).resolve())
        command = shlex.split(entry["command"])
        needed = files.get(command[command.index("-o") + 1], [])
        if source in found and needed and all(path.exists() for path in needed):
            text = [common, " ".join(command).replace(str(ROOT), "")] + [f"{name_of(path)} {digest(path)}" for path in needed]
            found[source] = hashlib.sha256("\n".join(text).encode()).hexdigest()
    return found


def findings(source, key, extra):
    done = subprocess.run(["clang-tidy", "-quiet", "-extra-arg=-Wno-unknown-warning-option", *extra, "-p", str(BUILD), source],
                          cwd=ROOT, capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if "warning:" in line or "error:" in line]
    if done.returncode != 0 and not lines:
        lines = [f"{source}: clang-tidy ended with {done.returncode}: {done.stderr.strip()[-200:]}"]
    if not lines and key:
        (REMEMBERED / key).touch()
    return lines


def main():
    arguments = sys.argv[1:]
    again, extra = "--all" in arguments, [] if "--deep" in arguments else SHALLOWER
    sources = [name for name in arguments if not name.startswith("--")] or [
        name for name in output("git", "-C", str(ROOT), "ls-files", "src/*.c").split() if not name.startswith("src/os/win32/")]
    REMEMBERED.mkdir(parents=True, exist_ok=True)
    for mark in REMEMBERED.iterdir():
        if time.time() - mark.stat().st_mtime > KEPT_DAYS * 86400:
            mark.unlink(missing_ok=True)
    left = []
    for source, key in keys(sources, extra).items():
        if key and not again and (REMEMBERED / key).exists():
            (REMEMBERED / key).touch()
        else:
            left.append((source, key))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        lines = {line for found in pool.map(lambda pair: findings(*pair, extra), left) for line in found}
    print("\n".join(sorted(lines)), end="\n" if lines else "")
    print(f"tidy.py: {len(left)} of {len(sources)} files looked at", file=sys.stderr)
    return 1 if lines else 0


sys.exit(main())
