#!/usr/bin/env python3
"""files.py JITWARM   docs/files.md names every variable JITWARM_… that src reads or sets, and no other; each setting of `config` beside the
variable that sets it; and every file that `uninstall` knows as jitwarm's own in the state directory. docs/troubleshooting.md
quotes messages as po/ko.po has them."""
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
page = (ROOT / "docs/files.md").read_text()
source = "\n".join(file.read_text() for file in sorted((ROOT / "src").rglob("*.[ch]")))
failures = []


def settings(**variables):
    """The settings of `config`, with where each comes from."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("JITWARM_")} | variables
    done = subprocess.run([sys.argv[1], "config", "--json"], env=environment, capture_output=True, text=True, check=True)
    return {setting["name"]: setting.get("from") for setting in json.loads(done.stdout)["settings"]}


rows = dict(re.findall(r"^\| `(JITWARM_\w+)` \| `([a-z-]+)` \|", page, re.M))
if sorted(rows.values()) != sorted(settings()):
    failures.append(f"settings: the page has {sorted(rows.values())}, not {sorted(settings())}")
for variable, setting in rows.items():
    if settings(**{variable: {"language": "en", "max-mem": "1G"}.get(setting, "1")}).get(setting) != variable:
        failures.append(f"{variable} does not set {setting}")
named = set(re.findall(r"`(JITWARM_\w+)`", page))
literal = {text for line in source.splitlines() if not line.lstrip().startswith(("/*", "*")) for text in re.findall(r'"(JITWARM_[A-Z_]+)"', line)}
for variable in sorted(named ^ (literal | set(rows))):
    failures.append(f"{variable}: {'not in src' if variable in named else 'not on the page'}")

state = page.split("The state directory holds:")[1].split("\n## ")[0]
kept = {name for cell in re.findall(r"^\| (.*?) \|", state, re.M) for name in re.findall(r"`([^`]+)`", cell)}
own = re.search(r"\bown_files\[\] = \{(.*?)\n\};", source, re.S)[1]
files = {(folder or form).replace("%", "…") for folder, form in re.findall(r'\{"?([a-z_]*)"?,\s*"?([^"}]+)"?\}', own)}
files = {"keys" if name == "own_keys" else name for name in files}
for name in sorted(kept ^ files):
    failures.append(f"{name} in the state directory: {'uninstall does not know it' if name in kept else 'not on the page'}")

messages = ["".join(re.findall(r'"(.*)"', quoted)) for quoted in re.findall(r'^msgid ((?:".*"\n)+)', (ROOT / "po/ko.po").read_text(), re.M)]
quotes = re.findall(r"^\| `([^`]+)` \|", (ROOT / "docs/troubleshooting.md").read_text().split("## Messages from jitwarm")[1], re.M)
for quote in quotes:
    pattern = r"%\S*[a-z]".join(re.escape(part) for part in quote.removesuffix("…").split("…"))
    if not any(re.search(pattern, message) for message in messages):
        failures.append(f"docs/troubleshooting.md: no message has the words {quote}")
print("\n".join(failures) or f"{len(named)} variables, {len(files)} files, {len(quotes)} messages")
sys.exit(bool(failures) or min(len(named), len(files), len(quotes)) < 15)
