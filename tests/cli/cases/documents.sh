# docs/json.md describes every member of every document.
documented() {
	python3 - "$out" "$cases/../../../docs/json.md" <<'PYTHON' || fail "docs/json.md does not say everything"
import json, re, sys
d = json.load(open(sys.argv[1], encoding="utf-8"))
text = open(sys.argv[2], encoding="utf-8").read()
assert d["schema"] == next(iter(d.values())), "schema is not the first member"
section = text.split("## " + d["schema"] + "\n")
assert len(section) == 2, d["schema"]
words = set(re.findall(r"`(?:[\w.\[\]-]+\.)?([a-z0-9_]+)`", section[1].split("\n## ")[0])) | {"schema"}
if d["schema"] == "jitwarm.prime/1":
    words |= {"warm", "cold", "carried", "cannot", "link"}  # "modules … left_out: as in check"
named = re.compile(r"(sm|compute)_[0-9]+[af]?$|.*[^a-z0-9_].*")  # keys that are data
def walk(item, maps=("libraries", "by_driver", "other")):
    if isinstance(item, dict):
        for key, value in item.items():
            if not named.match(key) and key not in words:
                sys.exit(f"{d['schema']}: {key}")
            if key not in maps:
                walk(value)
    elif isinstance(item, list):
        for value in item:
            walk(value)
walk(d)
PYTHON
}
run 0 --version --json
documented
run 64 help nosuch --json
documented
printf '.version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() { ret; }\n' >"$work/kernel.ptx"
run 0 scan --json --modules --target sm_86 --driver 12.4 "$work/kernel.ptx"
documented
with_simdriver sm_86
run 0 status --json
documented
run 0 prime --json "$sample"
documented
run 0 record --json -o r.json "$sample" -- "$app"
documented
run 0 cache list --json
documented
run 0 cache verify --json
documented
if has_command check; then
	run "0|1" check --json "$sample"
	documented
	run 1 check --explain --json --cache "$work/empty" "$sample"
	documented
fi
