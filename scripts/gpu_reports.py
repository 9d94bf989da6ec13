#!/usr/bin/env python3
"""gpu_reports.py cases REPORT | gpu_reports.py text REPORT...

What gpu-check.sh wrote on real machines (data/gpu-checks), for driver-matrix.sh: `cases` prints a report's cases as the
conformance suite's own document, `text` a section of Markdown about the machines: programs started cold and primed, and
priming with more and more workers.
"""
import json
import sys


def read(path):
    with open(path) as file:
        report = json.load(file)
    if report.get("schema") != "jitwarm.gpu-check/1":
        raise SystemExit("gpu_reports.py: %s: not a report of gpu-check.sh" % path)
    return report


def print_cases(report):
    driver = report["driver"]
    head = {"cuda": driver["cuda"], "date": driver["stamp"][:11], "time": driver["stamp"][11:],
            "gpus": [gpu["target"] for gpu in report["gpus"]]}
    rows = [json.dumps({"name": case["name"], "outcome": case["outcome"], "why": case["reason"] or ""})
            for case in report["conformance"]["cases"]]
    # A case a line, as the suite writes it.
    print(json.dumps(head)[:-1] + ",\n \"cases\": [\n  " + ",\n  ".join(rows) + "\n]}")


def megabytes(size):
    return "–" if size is None else "%.0f MB" % (size / 1e6)


def started(row):
    return "%.1f s, %d compiled" % (row["seconds"], row["added"] + row["rewritten"]) if row else "–"


def print_text(report):
    gpus = ", ".join("%s (%s)" % (gpu["name"], gpu["target"]) for gpu in report["gpus"])
    print("\n### %s, driver %s\n" % (gpus, report["driver"]["version"]))
    print("%s, %d cores; `scripts/gpu-check.sh` of jitwarm %s.\n" %
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


def main(words):
    if len(words) == 2 and words[0] == "cases":
        print_cases(read(words[1]))
    elif len(words) > 1 and words[0] == "text":
        for path in words[1:]:
            print_text(read(path))
    else:
        print("usage: " + __doc__.splitlines()[0], file=sys.stderr)
        return 64
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
