#!/usr/bin/env python3
"""repository.py JITWARM   the files by which a code host shows and runs a repository: .github, action.yml and SECURITY.md. Each is valid
under its published schema (check-jsonschema brings them; setup.sh --all fetches it), names no host and runs no script that is not here."""
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMAS = [("action.yml", "vendor.github-actions"), ("actions/*/action.yml", "vendor.github-actions"), (".github/workflows/*.yml", "vendor.github-workflows"),
           (".github/workflows/*.yml", "custom.github-workflows-require-timeout"), (".github/dependabot.yml", "vendor.dependabot"), (".github/ISSUE_TEMPLATE/config.yml", "vendor.github-issue-config"),
           (".github/ISSUE_TEMPLATE/[!c]*.yml", "vendor.github-issue-forms")]
failures = []
texts = {path: path.read_text(encoding="utf-8") for path in [*ROOT.glob(".github/**/*.*"), ROOT / "action.yml", *ROOT.glob("actions/*/action.yml"), ROOT / "SECURITY.md"]}
for path, text in texts.items():
    for address in re.findall(r"https?://\S+", text):
        failures.append(f"{path.name} names a host: {address}")
    for name in re.findall(r"(?<![\w./])(?:\./|\$GITHUB_ACTION_PATH/(?:\.\./\.\./)?)?((?:scripts|packaging|docs|tests|\.ci)/[\w./-]*\w)", text):
        if not (ROOT / name).exists():
            failures.append(f"{path.name}: there is no {name}")
fault = texts[ROOT / ".github/ISSUE_TEMPLATE/fault.yml"]
if "jitwarm doctor --report" not in fault or "--report" not in subprocess.run([sys.argv[1], "doctor", "--help"], capture_output=True, text=True, check=True).stdout:
    failures.append("fault.yml asks for what jitwarm doctor does not print")

tools = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "jitwarm/check-jsonschema"
check = [sys.executable, "-m", "check_jsonschema"]
environment = {**os.environ, "PYTHONPATH": str(tools)}
there = subprocess.run([*check, "--version"], env=environment, capture_output=True, check=False).returncode == 0
for pattern, schema in SCHEMAS if there else []:
    paths = sorted(map(str, ROOT.glob(pattern)))
    if not paths:
        failures.append(f"no {pattern}")
        continue
    done = subprocess.run([*check, "--builtin-schema", schema, *paths], env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        failures.append(done.stdout + done.stderr)
if failures:
    sys.exit("\n".join(failures))
if not there:
    print(f"skipped: no check-jsonschema in {tools}: the schemas are left out")
    sys.exit(77)
print(f"{len(texts)} files, {len(SCHEMAS)} schemas")
