#!/usr/bin/env python3
"""make-site.py JITWARM [-o FOLDER]   writes the table of releases and GPUs as pages into FOLDER (build/table), for make-documents.sh site

A page for each package (releases x GPU generations), one for each GPU generation (packages x newest release that runs), and a first page
with a search. Each answer is what “jitwarm which --json” says, so the pages are made again after a change of data/wheels.txt or of a rule.
Plain HTML and CSS: only the search needs JavaScript, and no page loads a file from elsewhere.
"""

import argparse
import html
import json
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
GPUS = [("sm_61", "GTX 10", "Pascal"), ("sm_70", "V100", "Volta"), ("sm_75", "RTX 20, T4", "Turing"), ("sm_80", "A100", "Ampere"),
        ("sm_86", "RTX 30, A10", "Ampere"), ("sm_89", "RTX 40, L4", "Ada"), ("sm_90", "H100", "Hopper"), ("sm_100", "B200", "Blackwell"),
        ("sm_120", "RTX 50", "Blackwell")]
PLATFORMS = {"linux": "Linux x86-64", "windows": "Windows", "linux-aarch64": "Linux arm64"}
DRIVERS = ["470", "525", "535", "550", "570"]
NEWEST = "580"  # also newer drivers
ENVIRONMENT = {**os.environ, "JITWARM_STATE": "/nonexistent"}  # the list answers, and not what --ask has kept on this machine

CSS = """:root{color-scheme:light dark;--line:#d0d5dd;--faint:#667085;--runs:#d1f0d9;--compiles:#fde7b8;--fails:#fbd3d0;--cpu:#e4e7ec}
@media(prefers-color-scheme:dark){:root{--line:#3a4150;--faint:#98a2b3;--runs:#17492a;--compiles:#5c4207;--fails:#651f1b;--cpu:#2d3442}}
body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:0 auto;padding:1rem}
table{border-collapse:collapse;width:100%;font-size:.9rem}
caption{text-align:left;font-weight:600;padding:.5rem 0}
th,td{border:1px solid var(--line);padding:.3rem .5rem;text-align:left;vertical-align:top}
td small{display:block;color:var(--faint);overflow-wrap:anywhere}
.runs{background:var(--runs)}.compiles{background:var(--compiles)}.fails{background:var(--fails)}.cpu_only{background:var(--cpu)}
.words{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
code{overflow-wrap:anywhere}input{font:inherit;width:100%;max-width:30rem;padding:.4rem;box-sizing:border-box}
ul.found{padding-left:1.2rem}footer{color:var(--faint);font-size:.85rem;margin-top:2rem}
@media(max-width:48rem){table,tbody,tr,td,tbody th,caption{display:block}thead{position:absolute;clip-path:inset(50%);width:1px;height:1px;overflow:hidden}
tbody th{border-bottom:0;margin-top:.6rem}td{border-top:0}td::before{content:attr(data-head) ": ";font-weight:600}}"""

SEARCH = """const box=document.querySelector("input"),items=[...document.querySelectorAll("ul.found li")],none=document.querySelector("#none");
box.addEventListener("input",()=>{const words=box.value.toLowerCase().split(/\\s+/).filter(Boolean);let shown=0;
for(const item of items){const text=item.dataset.words;item.hidden=!words.every(word=>text.includes(word));shown+=!item.hidden}
none.hidden=shown>0});"""


def ask(jitwarm, platform, package, driver=None):
    """Releases by GPU: {"sm_86": [release, …]}, and the date of the list."""
    answers, date = {}, ""
    for sm, _, _ in GPUS:
        words = [jitwarm, "which", "--json", "--all", "--platform", platform, "--target", sm] + (["--driver", driver] if driver else []) + [package]
        document = json.loads(subprocess.run(words, capture_output=True, text=True, env=ENVIRONMENT).stdout or "{}")
        if document.get("schema") == "jitwarm.which/1":
            answers[sm], date = document["answers"][0]["releases"], document["date"]
    return answers, date


def minutes(seconds):
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def part(release):
    """What of a release that runs does not, as “which” says it; empty if all of it does."""
    if release["answer"] not in ("runs", "compiles"):
        return ""
    newer = f"{release['newer']} needs driver {release['needs'].split()[0]}" if "newer" in release else ""
    without = f"without {release['without']}" if "without" in release else ""
    return ", ".join(filter(None, (without, newer)))


def cell(release):
    """The class of a cell, its short text, and its words for people who do not see it."""
    answer, why, rest = release["answer"], release.get("why", ""), part(release)
    rest = f"; {rest}" if rest else ""
    if answer == "runs" and "declared_by" in release:
        return answer, "runs", f"runs, by {release['declared_by']}'s build script"
    if answer == "runs":
        return answer, "runs", "runs" + rest
    if answer == "compiles":
        most = minutes(release["start_seconds"]["high"])
        return answer, f"compiles, up to {most}", f"compiles its kernels, up to {most}{rest}"
    if answer == "cpu_only":
        return answer, "CPU only", "has no device code: it runs on the CPU"
    if answer == "fails":
        lacks = f"it needs {release['lacks']}, which has {why}" if "lacks" in release else why
        return answer, "fails", f"fails: it requires {release['pin']}, which fails: {why}" if "pin" in release else f"fails: {lacks}"
    return answer, "–", "has no wheel for this platform" if answer == "no_wheel" else "is not in the list"


def label_of(release):
    """The label of a build that is not on PyPI: cu126; or nothing."""
    return release["version"].partition("+")[2] if "declared_by" in release else ""


def rows_of(answers, drivers, label):
    """Releases of PyPI, or builds with a label; those with equal cells share a row: [(first, last, {sm: release}, driver)], newest first."""
    rows = []
    for at, release in enumerate(answers["sm_86"]):
        releases = {sm: answers[sm][at] for sm in answers}
        # A release that was not examined may be inferred for one GPU and unknown for another.
        if any(one["answer"] in ("unknown", "no_wheel") for one in releases.values()) or label_of(release) != label:
            continue
        shown = [(*cell(one)[:2], part(one)) for one in releases.values()] + [drivers.get(release["version"], "")]
        if rows and rows[-1][4] == shown:
            rows[-1][1] = release["version"]
        else:
            rows.append([release["version"], release["version"], releases, drivers.get(release["version"], ""), shown])
    return rows


def oldest_drivers(jitwarm, platform, package, newest):
    """The oldest of DRIVERS with which a release runs on some GPU on which it runs with the newest one."""
    oldest = {}
    for driver in reversed(DRIVERS):
        answers, _ = ask(jitwarm, platform, package, driver)
        for sm, releases in answers.items():
            for old, new in zip(releases, newest[sm]):
                if old["answer"] in ("runs", "compiles") and new["answer"] in ("runs", "compiles"):
                    oldest[new["version"]] = driver + "+"
    for releases in newest.values():
        for release in releases:
            if release["answer"] in ("runs", "compiles"):
                oldest.setdefault(release["version"], NEWEST + "+")
    return oldest


def page(title, body, date, script=""):
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><link rel="icon" href="data:,">
<title>{html.escape(title)}</title><style>{CSS}</style></head>
<body><nav><a href="index.html">All packages and GPUs</a> · <a href="../index.html">jitwarm</a></nav>
<main><h1>{html.escape(title)}</h1>
{body}</main>
<footer>Wheels of PyPI, and builds of PyTorch's index (2.14.1+cu126) by its build scripts. List of {date}. What a cell says is what
<code>jitwarm which</code> says.</footer>
{f"<script>{script}</script>" if script else ""}</body></html>
"""


def table(caption, heads, rows):
    head = "".join(f'<th scope="col">{html.escape(text)}</th>' for text in heads)
    return f"<table><caption>{html.escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>\n"


def judged_cell(head, release):
    kind, short, words = cell(release)
    rest = part(release)
    small = f'<small aria-hidden="true">{html.escape(rest)}</small>' if rest else ""
    return (f'<td class="{kind}" data-head="{html.escape(head)}"><span aria-hidden="true">{short}</span>{small}'
            f'<span class="words">{html.escape(words)}</span></td>')


def package_page(package, by_platform, date):
    body = "<p>Green runs, amber compiles at the first start (the time is that of one core), red fails, grey has no device code.</p>\n"
    for platform, (answers, drivers) in by_platform.items():
        rows = []
        labels = {label_of(release) for release in answers["sm_86"]}
        by_label = [row for label in sorted(labels, key=lambda label: -int(label[2:] or 9999)) for row in rows_of(answers, drivers, label)]
        for first, last, releases, driver, _ in by_label:
            name = first if first == last else f"{first} – {last.partition('+')[0]}"
            rows.append(f'<tr><th scope="row">{name}</th><td data-head="driver">{driver or "–"}</td>' +
                        "".join(judged_cell(gpu, releases[sm]) for sm, gpu, _ in GPUS if sm in releases) + "</tr>")
        if rows:
            body += table(f"{package} on {PLATFORMS[platform]}", ["Release", "Driver"] + [gpu for sm, gpu, _ in GPUS if sm in answers], rows)
    body += f"<p>On your machine: <code>jitwarm which {package}</code></p>\n"
    return page(f"Which {package} runs on which NVIDIA GPU?", body, date)


def newest(releases):
    """The newest release that runs, else the newest that compiles."""
    for kinds in (("runs",), ("compiles",)):
        for release in releases:
            if release["answer"] in kinds:
                return release
    return next((release for release in releases if release["answer"] not in ("unknown", "no_wheel")), None)


def gpu_page(sm, gpu, family, packages, date):
    rows = []
    for package, by_platform in packages.items():
        cells = ""
        for platform in PLATFORMS:
            release = newest(by_platform[platform][0][sm]) if sm in by_platform.get(platform, ({}, {}))[0] else None
            if not release:
                cells += f'<td data-head="{PLATFORMS[platform]}">–</td>'
                continue
            kind, short, words = cell(release)
            cells += (f'<td class="{kind}" data-head="{PLATFORMS[platform]}">{release["version"]} <small aria-hidden="true">{short}</small>'
                      f'<span class="words">{html.escape(words)}</span></td>')
        rows.append(f'<tr><th scope="row"><a href="{package}.html">{package}</a></th>{cells}</tr>')
    body = table(f"The newest release of each package that runs on {gpu} ({sm}, {family})", ["Package", *PLATFORMS.values()], rows)
    return page(f"What runs on {gpu} ({sm})?", body, date)


def first_page(packages, date):
    items = "".join(f'<li data-words="{sm} {gpu.lower()} {family.lower()}"><a href="{sm}.html">{gpu} ({sm}, {family})</a></li>\n' for sm, gpu, family in GPUS)
    items += "".join(f'<li data-words="{package}"><a href="{package}.html">{package}</a></li>\n' for package in packages)
    body = f"""<p>Which release of a package runs on your NVIDIA GPU, which one compiles for minutes, and which one fails.</p>
<p><label>Package or GPU: <input type="search" autocomplete="off"></label></p>
<ul class="found">
{items}</ul><p id="none" hidden>Nothing has that name. jitwarm looks at any wheel: <code>jitwarm scan --index NAME</code></p>
"""
    return page("Which version runs on my GPU?", body, date, SEARCH)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("jitwarm")
    parser.add_argument("-o", "--output", type=pathlib.Path, default=ROOT / "build/table")
    parser.add_argument("--package", action="append", help="only these packages")
    arguments = parser.parse_args()
    listed = re.findall(r"^package (\S+)$", (ROOT / "data/wheels.txt").read_text(), re.M)
    packages, date = {}, ""
    for package in arguments.package or listed:
        packages[package] = {}
        for platform in PLATFORMS:
            answers, date = ask(arguments.jitwarm, platform, package)
            if any(release["answer"] not in ("unknown", "no_wheel") for releases in answers.values() for release in releases):
                packages[package][platform] = (answers, oldest_drivers(arguments.jitwarm, platform, package, answers))
    arguments.output.mkdir(parents=True, exist_ok=True)
    pages = {f"{package}.html": package_page(package, by_platform, date) for package, by_platform in packages.items()}
    pages |= {f"{sm}.html": gpu_page(sm, gpu, family, packages, date) for sm, gpu, family in GPUS}
    pages["index.html"] = first_page(packages, date)
    for name, text in pages.items():
        (arguments.output / name).write_text(text)
    print(f"make-site.py: {arguments.output} ({len(pages)} pages)")


if __name__ == "__main__":
    main()
