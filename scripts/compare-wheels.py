#!/usr/bin/env python3
"""Compares what “jitwarm which” says of releases with what “jitwarm scan” says of their wheels.

    compare-wheels.py --jitwarm JITWARM --stored FILE              with the answers of scans that FILE holds
    compare-wheels.py --jitwarm JITWARM --draw 30 [--seed SEED]    fetches wheels, a third of them inferred ones, and scans them
    compare-wheels.py --jitwarm JITWARM PACKAGE==VERSION... [--store FILE]  those; --store writes their answers
    compare-wheels.py --jitwarm JITWARM --refresh FILE             after a change of a rule: scans the wheels of FILE again, and writes it

Each release is asked about on nine GPUs under six drivers. A wheel that is fetched is deleted once it was scanned. Exit status: 0 all are
equal, 1 a line for each answer that differs.
"""

import argparse
import importlib.util
import json
import pathlib
import random
import subprocess
import sys
import tempfile

GPUS = ["gtx1080", "v100", "rtx2080", "a100", "rtx3070", "rtx4090", "h100", "b200", "rtx5090"]
DRIVERS = ["470", "525", "535", "550", "570", "580"]
INFERRED_IN = 3
ROOT = pathlib.Path(__file__).resolve().parent.parent

spec = importlib.util.spec_from_file_location("list_wheels", ROOT / "scripts/list-wheels.py")
list_wheels = importlib.util.module_from_spec(spec)
spec.loader.exec_module(list_wheels)


def ask(jitwarm, *words):
    answer = subprocess.run([jitwarm, *words], capture_output=True, text=True)
    document = json.loads(answer.stdout or "{}")
    if document.get("schema") == "jitwarm.error/1" or not document:
        return {}
    return document


def scan(jitwarm, paths):
    """By driver and GPU: the verdict, whether some of it is named, the driver that is needed, the seconds of a start."""
    answers = {}
    for driver in DRIVERS:
        for total in ask(jitwarm, "scan", "--json", "--target", ",".join(GPUS), "--driver", driver, *paths).get("totals", []):
            answers[f"{driver} {total['target']}"] = [total["verdict"], total["lacking"] > 0, total.get("needs", ""),
                                                      round(total["forecast"]["start_seconds"]["likely"], 1)]
    return answers


def listed(jitwarm, package, version, platform):
    answers = {}
    for driver in DRIVERS:
        for gpu in GPUS:  # there is no answer for a GPU that the driver does not run
            for answer in ask(jitwarm, "which", "--json", "--all", "--target", gpu, "--driver", driver, "--platform", platform, package).get("answers", []):
                for release in answer["releases"]:
                    if release["version"] == version:
                        answers[f"{driver} {answer['target']}"] = release
    return answers


def differs(scanned, release):
    """Why a release is not what the scan of its wheel says, or None."""
    verdict, part, needs, _ = scanned
    answer = release["answer"]
    if verdict == "unsure":
        return None
    if verdict == "no-code":
        return None if answer == "cpu_only" else "the scan found no code"
    # The scan of a wheel does not know the package that the wheel requires, nor what CuPy makes while it runs.
    if answer == "fails" and (release.get("pin") or release.get("lacks") or release["why"].startswith("CuPy ")):
        return "the scan: fails by itself" if verdict == "fails" else None
    if (verdict == "fails") != (answer == "fails"):
        return f"the scan: {verdict}"
    if verdict == "fails":
        # The scan names the driver that any file needs, the list that of the file which decides.
        if release.get("needs", "") not in ("", needs) or (needs and not release.get("needs") and not release["why"].startswith("no ")):
            return f"the scan: needs {needs or 'no other driver'}"
        return None
    # The parts that need a newer driver, and those without which the release runs, are named by the scan of its wheel.
    if part != ("newer" in release or "library" in release):
        return f"the scan: {'some' if part else 'none'} of it is named"
    return None


def compare(jitwarm, case):
    answers, wrong = listed(jitwarm, case["package"], case["version"], case["platform"]), 0
    for key, scanned in case["answers"].items():
        release = answers.get(key, {"answer": "no answer"})
        why = differs(scanned, release)
        if why:
            print(f"{case['package']} {case['version']} {case['platform']}, {key}: {release['answer']} {release.get('needs', '')}; {why}")
            wrong += 1
    return wrong


def look(jitwarm, package, version, platform):
    wheels = [wheel for wheel in list_wheels.list_wheels(package) if wheel.version == version and wheel.system == platform]
    with tempfile.TemporaryDirectory(prefix="compare-wheels.") as folder:
        paths = list_wheels.fetch_all(package, max(wheels, key=list_wheels.Wheel.rank), folder)
        return {"package": package, "version": version, "platform": platform, "file": paths[0].name, "answers": scan(jitwarm, paths)}


def draw(count, seed):
    """Releases of the list; one in three is one that was inferred."""
    looked, inferred, package = [], [], ""
    for line in (ROOT / "data/wheels.txt").read_text().splitlines():
        words = line.split()
        if words[0] == "package":
            package = words[1]
        elif words[0] in ("wheel", "same"):
            (looked if words[0] == "wheel" else inferred).append((package, words[1], words[2]))
    chosen = random.Random(seed)
    return chosen.sample(looked, count - count // INFERRED_IN) + chosen.sample(inferred, count // INFERRED_IN)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jitwarm", required=True)
    parser.add_argument("--stored", type=pathlib.Path)
    parser.add_argument("--store", type=pathlib.Path)
    parser.add_argument("--refresh", type=pathlib.Path)
    parser.add_argument("--draw", type=int, default=0)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("release", nargs="*")
    arguments = parser.parse_args()
    cases = []
    if arguments.stored:
        cases = [json.loads(line) for line in arguments.stored.read_text().splitlines()]
    seed = arguments.seed if arguments.seed is not None else random.randrange(1 << 30)
    if arguments.draw:
        print(f"seed {seed}")
    releases = [(*release.split("=="), "linux") for release in arguments.release] + (draw(arguments.draw, seed) if arguments.draw else [])
    if arguments.refresh:
        arguments.store = arguments.refresh
        releases += [(case["package"], case["version"], case["platform"]) for case in map(json.loads, arguments.refresh.read_text().splitlines())]
    wrong = sum(compare(arguments.jitwarm, case) for case in cases)
    for package, version, platform in releases:
        try:
            case = look(arguments.jitwarm, package, version, platform)
        except RuntimeError as why:
            print(f"{package} {version} {platform}: {why}", file=sys.stderr)
            continue
        cases.append(case)
        wrong += compare(arguments.jitwarm, case)
    if arguments.store:
        arguments.store.write_text("".join(json.dumps(case, separators=(",", ":")) + "\n" for case in cases))
    print(f"{len(cases)} wheels, {sum(len(case['answers']) for case in cases)} answers, {wrong} differ")
    return 1 if wrong or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
