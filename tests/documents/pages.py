#!/usr/bin/env python3
"""pages.py JITWARM   checks README*.md, CONTRIBUTING.md, SECURITY.md and the pages of docs/: every link leads to a file and, behind #, to a
heading of it, every section has text, every page is in packaging/site/mkdocs.yml, what is copied out of the image is in it, every
command in a block or between backticks has a name and options that the program's help lists, and a page in another language has the same parts, commands, links, names and numbers as the
English one. It leads to pages of that language where there are such, and ends where the English page begins to speak to those who work on
jitwarm (DEVELOPERS)."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [*sorted(ROOT.glob("README*.md")), ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").rglob("*.md"))]
DEVELOPERS = "<!-- From here on for those who work on jitwarm, in English alone -->"
# A page in that language may have letters of these scripts, besides ASCII and signs.
LETTERS = {"ko": r"[가-힣]"}
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


def check_sections(page, text):
    """A heading that the next heading of its level or a higher one follows at once has no text."""
    for level, head, following in re.findall(r"^(#+) (.*)\n+(?=(#+ )|\Z)", re.sub(r"^```.*?^```", "-", text, flags=re.S | re.M), re.M):
        if len(following) <= len(level) + 1:
            failures.append(f"{page.name}: the section “{head}” is empty")


def help_of(words):
    if words not in helps:
        done = subprocess.run([program, *words, "--help", "--all"], capture_output=True, text=True, check=False, env={"LC_ALL": "C.UTF-8"})
        helps[words] = done.stdout if done.returncode == 0 else None
    return helps[words]


def check_command(page, line):
    line = re.split(r"\s#\s|\s*[|>&;]", re.sub(r'"[^"]*"|\\$', "", line))[0]
    words = line.split()[1:]
    own = words[: words.index("--")] if "--" in words else words
    names = tuple(word for word in own[:2] if re.fullmatch(r"[a-z]+", word))
    texts = next((found for found in (help_of(names), help_of(names[:1])) if found and "  -h, --help" in found), None)
    # A group such as “key” is named without one of its commands.
    if not own or own[0] in ("--version", "COMMAND") or len(own) == 1 and help_of(names):
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
    check_sections(page, text)
    for line in re.findall(r"^(?: {4,8}|\$ | +\$ |RUN |> (?:\.\\)?)(jitwarm(?:w\.exe)?(?: .*)?)$", text, re.M):
        check_command(page, line)
    for line in re.findall(r"(?<!`)`(jitwarm [^`\n]*)`", text):
        # The troubleshooting page lists messages, too, and an ellipsis stands for any command.
        if not re.match(r"jitwarm (does not|cannot|…) ", line):
            check_command(page, line)

def lead(page, target, language):
    """Where a link leads, as the English page has it; a page that there is in LANGUAGE has to be named in it."""
    path, _, anchor = target.partition("#")
    there = (page.parent / path).resolve() if path else page
    if language and there.parent == ROOT / "docs" / language:
        return f"docs/{there.name}"
    if language and there.parent == ROOT / "docs" and (ROOT / "docs" / language / there.name).exists():
        return f"docs/{there.name} in English"
    name = str(there.relative_to(ROOT))
    return f"{name}#{anchor}" if anchor and not translated(name) else name


def translated(name):
    return any(ROOT.glob(name.replace("docs/", "docs/??/")))


def essence(page, language):
    """What a page has in every language: levels of headings, commands, links, names, and numbers."""
    text = page.read_text().split(DEVELOPERS)[0]
    blocks = re.findall(r"^ *```console\n(.*?)^ *```", text, re.S | re.M)
    commands = [re.split(r"\s+#\s", line)[0].strip() for block in blocks for line in block.splitlines() if re.match(r" *[$>] ", line)]
    plain = re.sub(r"^ *```.*?^ *```", "", text, flags=re.S | re.M)
    links = [target if re.match(r"[a-z]+:", target) else lead(page, target, language)
             for target in re.findall(r"\]\(([^)\s]+)\)", text) if not target.startswith("README")]
    return {"headings": re.findall(r"^(#+) ", plain, re.M), "commands": commands, "links": links,
            "names": sorted(re.findall(r"`[^`\n]+`", plain)), "numbers": sorted(re.findall(r"(?<![\w.])\d+(?![\w.]\d)", plain), key=int)}


def check_language(page, english, language):
    for (kind, has), wanted in zip(essence(page, language).items(), essence(english, "").values()):
        if has != wanted:
            more, less = [thing for thing in has if thing not in wanted], [thing for thing in wanted if thing not in has]
            failures.append(f"{page.relative_to(ROOT)} has other {kind} than {english.name}: {more or has}, not {less or wanted}")
    strange = re.sub(r"[\x00-\x7f“”…·→×½–]|" + LETTERS[language], "", page.read_text().replace("[한국어]", ""))
    if strange:
        failures.append(f"{page.relative_to(ROOT)} has letters of another script: {strange}")


for page in sorted(ROOT.glob("README.*.md")):
    check_language(page, ROOT / "README.md", page.name.split(".")[1])
for page in sorted((ROOT / "docs").glob("??/*.md")):
    check_language(page, ROOT / "docs" / page.name, page.parent.name)

for page in PAGES:
    for path in re.findall(r"COPY --from=(?:registry\.example/)?jitwarm(?::latest)? (\S+)", page.read_text()):
        if path != "/jitwarm":
            failures.append(f"{page.relative_to(ROOT)}: the image has /jitwarm, not {path}")

# The page that a newcomer reads first is short: words outside comments, addresses and tags.
visible = re.sub(r"<!--.*?-->|<[^>]+>|\]\([^)]*\)", "", (ROOT / "README.md").read_text(), flags=re.S)
if (words := len(re.findall(r"[^\s|·]*\w[^\s|·]*", visible))) > 600:
    failures.append(f"README.md has {words} words, and 600 at most")

navigation = set(re.findall(r": ((?:[a-z]+/)?[a-z-]+\.md)$", (ROOT / "packaging/site/mkdocs.yml").read_text(), re.M))
for page in sorted((ROOT / "docs").rglob("*.md")):
    name = str(page.relative_to(ROOT / "docs"))
    if name not in navigation:
        failures.append(f"packaging/site/mkdocs.yml does not list {name}")
print("\n".join(failures) or f"{len(PAGES)} pages, {len(helps)} commands")
sys.exit(bool(failures))
