"""reference.py SCHEMAS-PROGRAM [--write]   docs/reference and data/schemas are what the tables of the documents say

Exit status 1, and the differences, if they differ; --write writes them from the tables.
"""
import difflib, json, pathlib, subprocess, sys, tempfile, textwrap

root = pathlib.Path(__file__).resolve().parent.parent.parent
schemas, pages = root / "data/schemas", root / "docs/reference"
# These documents' schemas are installed; docs/reference has a page for every document.
promised = "error status check prime scan doctor export import cache-list cache-verify lint which constraints".split()


known = {}  # the names of a document's members: its name


def document_of(schema):
    """The document that an object within another one is, or has the members of."""
    return known.get(tuple(name for name in schema.get("properties", {}) if name != "schema"))


def kind(schema, many=""):
    if "enum" in schema:
        return "text" + many
    name = schema["type"]
    if isinstance(name, list):
        return " or ".join(kind({"type": one}) for one in name)
    if name == "array":
        return "array of " + kind(schema["items"], "s")
    if name == "object" and isinstance(schema["additionalProperties"], dict):
        return "object of " + kind(schema["additionalProperties"], "s")
    if document_of(schema):
        return f"`{document_of(schema)}`" if "schema" in schema["properties"] else f"object as `{document_of(schema)}`"
    return {"string": "text", "integer": "whole number", "boolean": "true or false"}.get(name, name) + many


def meaning(schema):
    text = schema.get("description", "")
    assert "container" not in text, f"“piece of code”, since a container is Docker's to readers: {text}"
    if not all(f"`{name}`" in text for name in schema.get("enum", [])):
        text += ": " * bool(text) + ", ".join(f"`{name}`" for name in schema["enum"])
    return text


def rows(schema, path=""):
    """The members of an object, and of the objects in it: their paths, schemas, and whether they are always there."""
    if schema.get("type") == "array":
        yield from rows(schema["items"], path[:-1] + "[].")
    elif schema.get("type") == "object" and isinstance(schema["additionalProperties"], dict):
        yield from rows(schema["additionalProperties"], f"{path}{schema['propertyNames']['title']}.")
    elif not path or not document_of(schema):
        for name, member in schema.get("properties", {}).items():
            if name != "schema":
                yield path + name, member, name in schema["required"]
                yield from rows(member, f"{path}{name}.")


def table(schema):
    lines = ["| member | type | meaning |", "|---|---|---|"]
    for path, member, always in rows(schema):
        lines.append(f"| `{path}` | {kind(member)}{'' if always else ', or absent'} | {meaning(member)} |")
    return lines


def paragraphs(text):
    for paragraph in text.split("\n\n") if text else []:
        yield from [textwrap.fill(paragraph, 128, break_on_hyphens=False, break_long_words=False), ""]


def section(schema):
    lines = [f"# {schema['title']}", "", *paragraphs(schema.get("description"))]
    for form in schema.get("anyOf", [schema]):
        if form is not schema:
            lines += paragraphs(form.get("description"))
        lines += [*table(form), ""]
    return lines + list(paragraphs(schema.get("$comment")))


def generate(program):
    """The files by their paths, in the order in which the program names them."""
    with tempfile.TemporaryDirectory() as folder:
        names = subprocess.run([program, folder], check=True, stdout=subprocess.PIPE, text=True).stdout.split()
        texts = {name: pathlib.Path(folder, name).read_text(encoding="utf-8") for name in names}
    files = {schemas / name: texts[name] for name in (f"jitwarm.{one}-1.json" for one in promised)}
    documents = [json.loads(text) for text in texts.values()]
    for schema in documents:
        known[tuple(name for name in schema.get("anyOf", [schema])[0]["properties"] if name != "schema")] = schema["title"]
    for schema in documents:
        lines = "\n".join(section(schema)).rstrip("\n") + "\n"
        files[pages / f"{schema['title'].removeprefix('jitwarm.').split('/')[0]}.md"] = lines
    return files


def main():
    files, failed = generate(sys.argv[1]), False
    write = sys.argv[2:] == ["--write"]
    for path in {*schemas.glob("*.json"), *pages.glob("*.md")} - set(files):
        print(f"{path}: no document is described there")
        failed = True
        if write:
            path.unlink()
    for path, text in files.items():
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        if before != text:
            failed = True
            if write:
                path.write_text(text, encoding="utf-8")
                continue
            sys.stdout.writelines(difflib.unified_diff(before.splitlines(True), text.splitlines(True), str(path), "as the tables say"))
    if failed and not write:
        print("\nnot as the tables say: scripts/make-documents.sh writes them")
    return failed and not write


sys.exit(main())
