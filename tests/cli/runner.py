"""runner.py ACTION FOLDER EVENT [INPUT=VALUE]...   runs a composite action as GitHub's runner does in a job inside a container

ACTION is the folder of action.yml, EVENT the JSON of the event, with its name as "event_name". FOLDER keeps what a runner keeps: temp/,
cache/ (that of actions/cache), summary.md and outputs.json. Exit status: that of the first step that fails; 64 if a runner refuses the action.
"""
import hashlib, json, os, pathlib, re, shutil, subprocess, sys

import yaml

TOKEN = re.compile(r"\s*(?:'((?:[^']|'')*)'|(\|\||&&|==|!=|!|\(|\))|([A-Za-z_][\w.-]*))")
PYTHON = {"||": " or ", "&&": " and ", "!": " not ", "true": "Value(True)", "false": "Value(False)", "null": "Value(None)"}


class Value:
    """A value of an expression: null, the empty string and false are equal, and so are strings that differ in case."""

    def __init__(self, value):
        self.value = value

    def __bool__(self):
        return bool(self.value)

    def __eq__(self, other):
        one, two = (v.value.lower() if isinstance(v.value, str) else v.value or "" for v in (self, other))
        return one == two

    def __str__(self):
        return "" if self.value is None else str(self.value).lower() if isinstance(self.value, bool) else str(self.value)


def refuse(words):
    print(f"runner: {words}", file=sys.stderr)
    sys.exit(64)


def evaluate(text, contexts):
    """Returns the value of an expression."""
    at, python = 0, ""
    while text[at:].strip():
        token = TOKEN.match(text, at)
        if not token:
            refuse(f"not an expression: {text}")
        string, operator, name = token.groups()
        at = token.end()
        if name and name not in PYTHON:
            value = contexts
            for part in name.split("."):
                value = value.get(part) if isinstance(value, dict) else None
            if name.split(".")[0] not in contexts:
                refuse(f"no context: {name}")
            python += f"Value({value!r})"
        else:
            python += PYTHON.get(operator or name, operator) if string is None else f"Value({string!r})"
    result = eval(python, {"Value": Value})
    return result if isinstance(result, Value) else Value(result)


def expand(text, contexts):
    return re.sub(r"\$\{\{(.*?)\}\}", lambda found: str(evaluate(found[1], contexts)), str(text))


def is_wanted(step, contexts):
    condition = str(step.get("if", "true")).strip()
    if condition.startswith("${{") and condition.endswith("}}"):
        condition = condition[3:-2]
    return bool(evaluate(condition, contexts))


def read_outputs(path):
    lines = path.read_text().splitlines()
    for line in lines:
        if "=" not in line:
            refuse(f"not a line of GITHUB_OUTPUT: {line}")
    return dict(line.split("=", 1) for line in lines)


def run_block(step, contexts, folder, action, number):
    if step.get("shell") != "bash":
        refuse("a run of a composite action names its shell")
    files = {name: folder / f"file-{name}-{number}" for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_ENV", "GITHUB_PATH")}
    for path in files.values():
        path.write_text("")
    script = folder / f"step-{number}.sh"
    script.write_text(expand(step["run"], contexts) + "\n")
    environment = {**os.environ, "CI": "true", "GITHUB_ACTIONS": "true", "GITHUB_ACTION_PATH": str(action), "GITHUB_WORKSPACE": os.getcwd(),
                   "GITHUB_EVENT_NAME": contexts["github"]["event_name"], "GITHUB_REPOSITORY": contexts["github"]["repository"],
                   "RUNNER_OS": "Linux", "RUNNER_TEMP": str(folder / "temp"), **{name: str(path) for name, path in files.items()},
                   **{name: expand(value, contexts) for name, value in step.get("env", {}).items()}}
    ended = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", script], env=environment, stdin=subprocess.DEVNULL).returncode
    with open(folder / "summary.md", "a") as summary:
        summary.write(files["GITHUB_STEP_SUMMARY"].read_text())
    return ended, read_outputs(files["GITHUB_OUTPUT"])


def use_cache(step, contexts, folder):
    """Does what actions/cache/restore and actions/cache/save do: a cache is found by its key and by its paths."""
    given = {name: expand(value, contexts) for name, value in step["with"].items()}
    paths = [pathlib.Path(line.strip()) for line in given["path"].splitlines() if line.strip()]
    version = hashlib.sha256(given["path"].replace(str(folder), "").encode()).hexdigest()[:8]
    if not given["key"]:
        refuse("actions/cache: no key")
    place = folder / "cache"
    place.mkdir(exist_ok=True)
    if step["uses"].startswith("actions/cache/save@"):
        cache = place / f"{given['key']}@{version}"
        if not any(path.exists() for path in paths):
            print("Warning: Path Validation Error: no cache is being saved")
        elif cache.exists():
            print("Warning: Unable to reserve cache: another job may be creating it")
        else:
            cache.mkdir()
            for path in filter(pathlib.Path.exists, paths):
                shutil.copy2(path, cache)
        return {}
    keys = [given["key"], *given.get("restore-keys", "").split()]
    for key in keys:
        found = sorted(place.glob(f"{key}*@{version}"), key=os.path.getmtime)
        if found:
            for path in paths:
                path.parent.mkdir(parents=True, exist_ok=True)
                if (found[-1] / path.name).exists():
                    shutil.copy2(found[-1] / path.name, path)
            return {"cache-hit": str(found[-1].name == f"{given['key']}@{version}").lower()}
    return {}


def main(action, folder, event, *inputs):
    action, folder, event = pathlib.Path(action).resolve(), pathlib.Path(folder), json.loads(event)
    document = yaml.safe_load((action / "action.yml").read_text())
    shutil.rmtree(folder / "temp", ignore_errors=True)
    (folder / "temp").mkdir(parents=True)
    given = dict(one.split("=", 1) for one in inputs)
    if set(given) - set(document["inputs"]):
        refuse(f"unexpected inputs: {set(given) - set(document['inputs'])}")
    # In a container, runner.temp is the host's name of the folder, which the container lacks; RUNNER_TEMP is right.
    contexts = {"github": {"repository": "owner/project", "event_name": event["event_name"], "event": event},
                "inputs": {name: given.get(name, one.get("default", "")) for name, one in document["inputs"].items()},
                "runner": {"temp": str(folder / "not-in-the-container")}, "steps": {}}
    for number, step in enumerate(document["runs"]["steps"]):
        outputs, ended = {}, 0
        if is_wanted(step, contexts):
            if "run" in step:
                ended, outputs = run_block(step, contexts, folder, action, number)
            elif re.match(r"actions/cache/(save|restore)@v\d+$", step["uses"]):
                outputs = use_cache(step, contexts, folder)
            else:
                refuse(f"an action that this runner lacks: {step['uses']}")
        if "id" in step:
            contexts["steps"][step["id"]] = {"outputs": outputs}
        if ended:
            sys.exit(ended)
    results = {name: expand(one["value"], contexts) for name, one in document.get("outputs", {}).items()}
    (folder / "outputs.json").write_text(json.dumps(results))


main(*sys.argv[1:])
