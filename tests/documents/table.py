#!/usr/bin/env python3
"""table.py JITWARM   the public table (scripts/make-site.py) in a headless Chromium: no console message, the search finds, each page fits 360
pixels, no page loads anything from elsewhere; twenty cells, the rows of docs/which.md, and those of README.md say what “which” says. Exit status 77: there is no Chromium."""
import importlib.util
import json
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
spec = importlib.util.spec_from_file_location("make_site", ROOT / "scripts/make-site.py")
make_site = importlib.util.module_from_spec(spec)
spec.loader.exec_module(make_site)

jitwarm, chromium = sys.argv[1], shutil.which("chromium") or shutil.which("chromium-browser")
failures = []

# The page is in an iframe as wide as a telephone. The result becomes the title, which --dump-dom prints.
HARNESS = """<!DOCTYPE html><title>-</title><script>
const pages=%s,said=[];
const load=name=>new Promise(done=>{const frame=document.createElement("iframe");frame.style="width:360px;height:600px;border:0";
 frame.onload=()=>done(frame);frame.src=name;document.body.append(frame)});
onload=async()=>{try{for(const name of pages){const frame=await load(name),inside=frame.contentDocument;
 if(inside.documentElement.scrollWidth>360)said.push(name+" is "+inside.documentElement.scrollWidth+" pixels wide");
 if(frame.contentWindow.performance.getEntriesByType("resource").length)said.push(name+" loads something");
 if(name==="index.html"){const box=inside.querySelector("input"),shown=()=>[...inside.querySelectorAll("ul.found li")].filter(one=>!one.hidden).map(one=>one.textContent);
  for(const [typed,wanted] of [["torch","torch"],["RTX 30","RTX 30, A10 (sm_86, Ampere)"]]){box.value=typed;box.dispatchEvent(new Event("input"));
   if(!shown().includes(wanted)||shown().length>3)said.push("search "+typed+": "+shown())}
  box.value="nothing such";box.dispatchEvent(new Event("input"));if(shown().length||inside.querySelector("#none").hidden)said.push("search: nothing")}
 frame.remove()}}catch(why){said.push(String(why))}
document.title="DONE "+said.join("; ")};
</script><body></body>"""

with tempfile.TemporaryDirectory(prefix="table.") as folder:
    folder = pathlib.Path(folder)
    subprocess.run([sys.executable, ROOT / "scripts/make-site.py", jitwarm, "-o", folder / "table", "--package", "torch", "--package", "xgboost"], check=True,
                   stdout=subprocess.DEVNULL)
    cells = []
    for package in ("torch", "xgboost"):
        text = (folder / f"table/{package}.html").read_text()
        if re.search(r"(?:src|href)=\"(?:https?:)?//", text):
            failures.append(f"{package}.html names a file elsewhere")
        answers, date = make_site.ask(jitwarm, "linux", package)
        if f"List of {date}" not in text or "PyPI" not in text:
            failures.append(f"{package}.html lacks the index or the date")
        linux = text[text.index("on Linux x86-64</caption>"):].split("</table>")[0]
        for first, *last, row in re.findall(r'<tr><th scope="row">([^ <]+)(?: – ([^<]+))?</th>(.*?)</tr>', linux):
            words = re.findall(r'<span class="words">([^<]*)</span>', row)
            label = "".join(first.partition("+")[1:])
            last = [version + label for version in last if version]
            for (sm, _, _), said in zip(make_site.GPUS, words):
                cells += [(package, version, sm, said, answers[sm]) for version in {first, *filter(None, last)}]
    for package, version, sm, said, releases in random.Random(1).sample(cells, 20):
        release = next(one for one in releases if one["version"] == version)
        start = {"runs": "runs", "compiles": "compiles its kernels, up to", "cpu_only": "has no device code",
                 "fails": "fails: " + release.get("why", "")}[release["answer"]]
        if not said.startswith(start):
            failures.append(f"{package} {version} on {sm}: the page says “{said}”, which --json {release['answer']}")
    for package, version, sm, said, releases in cells:
        release = next(one for one in releases if one["version"] == version)
        for key in ("newer", "without"):
            if release["answer"] in ("runs", "compiles") and release.get(key, "") not in said:
                failures.append(f"{package} {version} on {sm}: the page says “{said}”, without “{release[key]}”")
    rows = re.findall(r"^\| `([^`=]+)==([^`]+)` \| `([^`]+)` \| (.*) \|$", (ROOT / "docs/which.md").read_text(), re.M)
    if len(rows) != 10:
        failures.append("docs/which.md: not ten rows")
    for package, version, how, wanted in rows:
        text = subprocess.run([jitwarm, "which", "--all", *how.split(), package], capture_output=True, text=True, env={**make_site.ENVIRONMENT, "LC_ALL": "C.UTF-8"}).stdout
        said = re.search(rf"^  (?:PyPI +)?{re.escape(version)}(?:, as [^ ]+)?  +(.*)$", text, re.M)
        if not said or said[1] != wanted:
            failures.append(f"docs/which.md: {package} {version} {how}: “{wanted}”, not “{said and said[1]}”")
    # A row of README.md: what happens, and the options and packages for “which”
    table = re.findall(r"^\| ([^|]+) \| ([^|]+) \| `(--target [^|`]+)` \|$", (ROOT / "README.md").read_text(), re.M)
    if len(table) < 6:
        failures.append(f"README.md: too few rows: {table}")
    for program, happens, how in table:
        words = [jitwarm, "which", "--platform", "linux", *how.split()]
        answer = subprocess.run(words, capture_output=True, text=True, env={**make_site.ENVIRONMENT, "LC_ALL": "C.UTF-8"})
        if "==" in how:
            said = re.search(rf"^  (?:PyPI +)?{re.escape(how.partition('==')[2])} +(.*)$", answer.stdout, re.M)
            fits = said and said[1] == happens
        else:
            newest = [one["releases"][0]["answer"] for one in json.loads(subprocess.run([*words, "--json"], capture_output=True, text=True).stdout)["answers"]]
            fits = happens == "runs: nothing to do" and set(newest) == {"runs"} and len(newest) > 5
        if not fits:
            failures.append(f"README.md: {program}: “{happens}”, but “which {how}” says {answer.stdout}")
    # The site has the table beside the page about “which”, which names it.
    answer = subprocess.run([ROOT / "scripts/make-documents.sh", "site", "-o", folder / "site", folder / "table"], capture_output=True, text=True)
    if answer.returncode != 3:  # 3: mkdocs cannot be fetched
        page = folder / "site/which/index.html"
        if answer.returncode or 'href="../table/"' not in page.read_text() or "Ten answers" not in page.read_text():
            failures.append(f"the site has no page that names the table: {answer.stdout}{answer.stderr}")
        elif not (folder / "site/table/torch.html").is_file() or not (folder / "site/index.html").is_file():
            failures.append("the site lacks the table")
    if not chromium:
        print("\n".join(failures) or "skipped: no Chromium")
        sys.exit(1 if failures else 77)
    (folder / "table/harness.html").write_text(HARNESS % json.dumps(["index.html", "torch.html", "xgboost.html", "sm_86.html"]))
    answer = subprocess.run([chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--allow-file-access-from-files",
                             f"--user-data-dir={folder}/profile", "--enable-logging=stderr", "--virtual-time-budget=20000", "--dump-dom",
                             (folder / "table/harness.html").as_uri()], capture_output=True, text=True, timeout=120)
    title = re.search(r"<title>(.*?)</title>", answer.stdout)
    if not title or not title[1].startswith("DONE"):
        failures.append(f"Chromium did not end: {answer.stderr[-500:]}")
    elif title[1] != "DONE ":
        failures.append(title[1])
    failures += [line for line in answer.stderr.splitlines() if ":CONSOLE" in line]
print("\n".join(failures) or "the table is sound")
sys.exit(1 if failures else 0)
