"""validate.py FOLDER [--begin]   every document that the tests have seen (keep.sh) is valid under its schema in data/schemas, if it has one,
and the counts of a check are the sums over its GPUs

Exit status 1 where one is not, 77 without the Python package jsonschema. --begin empties the folder.
"""
import collections, json, pathlib, shutil, sys

folder = pathlib.Path(sys.argv[1])
if sys.argv[2:] == ["--begin"]:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    sys.exit(0)

try:
    from jsonschema import Draft202012Validator
except ImportError:
    print("skipped: the Python package jsonschema is not installed (scripts/setup.sh --tests)")
    sys.exit(77)



def wrong_sums(document):
    """The counts of a check that are not the sums over its GPUs."""
    gpus = document["gpus"]
    for key in document.keys() & set().union(*gpus):
        if isinstance(document[key], int) and document[key] != sum(gpu[key] for gpu in gpus):
            yield f"{key} is {document[key]}, and that of its GPUs {[gpu[key] for gpu in gpus]}"


schemas = {}
for path in sorted((pathlib.Path(__file__).resolve().parent.parent.parent / "data/schemas").glob("*.json")):
    schema = json.loads(path.read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    schemas[schema["title"]] = Draft202012Validator(schema)

seen, failed, wrong = collections.Counter(), 0, []
for path in sorted(folder.glob("*.json")):
    document = json.loads(path.read_text(encoding="utf-8"))
    name = document["schema"]
    seen[name] += 1
    errors = list(schemas[name].iter_errors(document)) if name in schemas else []
    if next(iter(document)) != "schema":
        errors.append("“schema” is not the first member")
    if name.startswith("jitwarm.check/"):
        errors += wrong_sums(document)
    for error in errors[:5]:
        where = getattr(error, "json_path", "")
        wrong.append(f"{path}: {name} {where}: {getattr(error, 'message', error)[:400]}")
    failed += bool(errors)
print(", ".join(f"{count} {name}" for name, count in seen.items()) or "no documents")
print(f"{sum(seen.values())} documents, {failed} not valid")
print("\n".join(wrong), end="\n" * bool(wrong))
sys.exit(failed > 0)
