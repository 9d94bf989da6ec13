#!/usr/bin/env python3
"""pages.py JITWARM   checks README*.md, CONTRIBUTING.md and docs/*.md: every link leads to a file and, behind #, to a heading of it,
every page is in packaging/site/mkdocs.yml, every command in a block has a name and options that the program's help lists, and README
in another language has the same parts, commands, links and exit statuses."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [*sorted(ROOT.glob("README*.md")), ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
program, failures, helps = sys.argv[1], [], {}


def anchors(page):
    """The names that mkdocs and code hosts give to headings."""
    heads = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```", "", page.read_text(), flags=re.S | re.M), re.M)
    return {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", head.lower())).strip("-") for head in heads}


def check_links(page, text):
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", text)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        there = (page.parent / path) if path else page
        if not there.exists():
            failures.append(f"{page.name}: the link {target} leads nowhere")
        elif anchor and anchor not in anchors(there):
            failures.append(f"{page.name}: {there.name} has no heading #{anchor}")


def help_of(words):
    if words not in helps:
        done = subprocess.run([program, *words, "--help"], capture_output=True, text=True, check=False, env={"LC_ALL": "C.UTF-8"})
        helps[words] = done.stdout if done.returncode == 0 else None
    return helps[words]


def check_command(page, line):
    line = re.split(r"\s#\s|\s*[|>&;]", re.sub(r'"[^"]*"|\\$', "", line))[0]
    words = line.split()[1:]
    own = words[: words.index("--")] if "--" in words else words
    names = tuple(word for word in own[:2] if re.fullmatch(r"[a-z]+", word))
    texts = next((found for found in (help_of(names), help_of(names[:1])) if found and "  -h, --help" in found), None)
    if own == ["--version"] or not own:
        return
    if texts is None:
        failures.append(f"{page.name}: no command: {line}")
        return
    for option in re.findall(r"(?<!\S)--([a-z][a-z-]*)", " ".join(own)):
        if not re.search(rf"(?<!\S)--{option}(?![a-z-])", texts):
            failures.append(f"{page.name}: no option --{option}: {line}")


for page in PAGES:
    text = page.read_text()
    check_links(page, text)
    for line in re.findall(r"^(?: {4,8}|\$ | +\$ )(jitwarm(?: .*)?)$", text, re.M):
        check_command(page, line)

def essence(page):
    """What a README has in every language: levels of headings, commands, links to pages, pictures, and the numbers of exit statuses."""
    text = page.read_text()
    blocks = re.findall(r"^```console\n(.*?)^```", text, re.S | re.M)
    commands = [re.split(r"\s+#\s", line)[0] for block in blocks for line in block.splitlines()]
    links = [target for target in re.findall(r"\]\(([^)\s]+)\)", text) if not target.startswith("README")]
    plain = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
    return {"headings": re.findall(r"^(#+) ", plain, re.M), "commands": commands, "links": links,
            "names": sorted(re.findall(r"`[^`\n]+`", plain)), "numbers": re.findall(r"(?<![\w.])\d+(?![\w.]\d)", plain)}


english = essence(ROOT / "README.md")
for page in sorted(ROOT.glob("README.*.md")):
    for kind, wanted in essence(page).items():
        if wanted != english[kind]:
            failures.append(f"{page.name} has other {kind} than README.md: {wanted}, not {english[kind]}")

navigation = set(re.findall(r": ([a-z-]+\.md)$", (ROOT / "packaging/site/mkdocs.yml").read_text(), re.M))
for page in sorted((ROOT / "docs").glob("*.md")):
    if page.name not in navigation:
        failures.append(f"packaging/site/mkdocs.yml does not list {page.name}")
print("\n".join(failures) or f"{len(PAGES)} pages, {len(helps)} commands")
sys.exit(bool(failures))
