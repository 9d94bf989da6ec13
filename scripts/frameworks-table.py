#!/usr/bin/env python3
"""frameworks-table.py [--write] JITWARM [RELEASE...]   asks the package index again for what the table of docs/frameworks.md says

A RELEASE is NAME==VERSION or NAME==VERSION@windows; without one: all that the table has. A new one is added; to leave one out, delete its
line. `jitwarm scan --index` fetches each wheel once, 12 GB in all, and keeps one at a time. What cannot be fetched is a line that says why.

Prints what differs from the table. --write puts it into the English page and the Korean one. Exit status: 1 where something differs and
--write is not given.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import time

DOCS = pathlib.Path(__file__).resolve().parent.parent / "docs"
PAGES = (DOCS / "frameworks.md", DOCS / "ko/frameworks.md")
TABLE = re.compile(r"(?<=<!-- generated -->\n).*?(?=<!-- end -->)", re.S)
PYTHONS = ("3.12", "3.10", "3.8", "3.6")
GPUS = ("GTX 1080", "V100", "RTX 2080", "A100", "RTX 3070", "RTX 4090", "H100", "B200", "RTX 5090")


def minutes(seconds):
    low, high = max(1, round(seconds["low"] / 60)), round(seconds["high"] / 60)
    if seconds["high"] < 60:
        return "under 1 min"
    return f"{low}-{high} min" if seconds["low"] and low < high else f"{'' if seconds['low'] else 'up to '}{high} min"


def cell(total, verdicts):
    """One GPU. From which driver on it holds is said where with an older one less is loaded, or a program fails."""
    lacking = sum(not any(one[kind] for kind in ("native", "compatible", "jit")) and one["nothing"] + one["cannot"] > 0 for one in verdicts)
    if lacking == len(verdicts) or not any(one[kind] for one in verdicts for kind in ("native", "compatible", "jit", "link")):
        return "no code"
    parts = []
    if total["modules"] or not total["left_out"]:
        parts.append(str(total["modules"]))
    if total["modules"]:
        parts.append(minutes(total["forecast"]["start_seconds"]))
    if total["left_out"]:
        parts.append(f"{total['left_out']} when used")
    if lacking:
        parts.append(f"no code in {lacking} of {len(verdicts)}")
    if total["driver_from"] and (total["fails_to"] or total["older_differ"]):
        parts.append(f"{total['driver_from']}+")
    return " · ".join(parts)


def ask(jitwarm, release):
    """The cells of a release, or one that says why there are none."""
    wanted, _, platform = release.partition("@")
    targets = ",".join(name.lower().replace(" ", "") for name in GPUS)
    for python in PYTHONS:  # the first for which there is a wheel
        run = subprocess.run([jitwarm, "scan", "--json", "--quiet", "--index", wanted, "--platform", platform or "linux", "--python", python, "--target", targets],
                             stdout=subprocess.PIPE, env={**os.environ, "LC_ALL": "C.UTF-8"}, check=False)
        document = json.loads(run.stdout or json.dumps({"error": f"jitwarm ends with status {run.returncode}"}))
        if "Could not find a version" not in document.get("error", ""):
            break
    if "error" in document:
        return ["no wheel" if "Could not find a version" in document["error"] else document["error"].replace("|", "/")]
    if not document["files"]:
        return ["no device code"]
    return [cell(total, [one["verdicts"][total["target"]] for one in document["files"]]) for total in document["totals"]]


def read(text):
    rows = [[field.strip() for field in line.strip("|").split("|")] for line in TABLE.search(text)[0].splitlines()[2:]]
    return {name: [one for one in cells if one] for name, *cells in rows}


def written(rows):
    def order(name):
        return [(not part.isdigit(), int(part) if part.isdigit() else 0, part) for part in re.split(r"(\d+)", name)]
    lines = [["wheel", *GPUS], ["---"] * (len(GPUS) + 1)] + [[name, *rows[name]] for name in sorted(rows, key=order)]
    return "".join("| " + " | ".join(line + [""] * (len(GPUS) + 1 - len(line))) + " |\n" for line in lines)


def differences(name, old, new):
    if len(old) != len(GPUS) or len(new) != len(GPUS):
        return [] if old == new else [f"{name}: {'; '.join(new)} (the table: {'; '.join(old) or 'not in it'})"]
    return [f"{name}, {gpu}: {after} (the table: {before})" for gpu, before, after in zip(GPUS, old, new) if before != after]


def main(arguments):
    write = arguments[:1] == ["--write"]
    jitwarm, *releases = arguments[write:] or sys.exit(__doc__)
    rows = read(PAGES[0].read_text())
    begun, changed = time.monotonic(), []
    for number, release in enumerate(releases or list(rows), 1):
        print(f"{number} of {len(releases or rows)}: {release}", file=sys.stderr)
        cells = ask(jitwarm, release)
        changed += differences(release, rows.get(release, []), cells)
        rows[release] = cells
    print("\n".join(changed) or "nothing differs")
    print(f"{time.monotonic() - begun:.0f} s", file=sys.stderr)
    for page in PAGES if write else ():
        page.write_text(TABLE.sub(lambda _: written(rows), page.read_text()))
    return bool(changed) and not write


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
