# If the driver refuses a module, prime says why once and remembers it by its key, which includes the driver. check, doctor and prime agree;
# prime compiles it again only if the file is named. A damaged memory of refusals counts as none.
with_simdriver sm_86
varies text "not enough memory for so many workers"
mkdir "$work/folder"
ptx() { printf '.version 7.0\n.target sm_70\n.address_size 64\n.visible .entry %s() { ret; %s\n' "$1" "$2"; }
ptx good '}' >"$work/folder/good.ptx"
ptx bad '' >"$work/folder/bad.ptx"
bad=$work/folder/bad.ptx why='the driver refuses 1 module: CUDA_ERROR_INVALID_PTX'

run 1 check --json "$work/folder"
json 'd["cold"] == 2 and not d["failing"]'
differs_for WINDOWS snapshot run 2 prime --json "$work/folder"
snapshot run 2 check --json "$work/folder"
snapshot run 2 check "$work/folder"
out_lacks 'Next: jitwarm prime'
snapshot run 2 check "$bad"
out_lacks "will fail"
run 2 check --target sm_86 "$bad"
out_has "$bad: $why"
# Another GPU means another key.
run 1 check --json --target sm_75 "$bad"
json 'd["cold"] == 1'
# The same PTX in another file is the same module.
cp "$bad" "$work/copy.ptx"
run 2 check "$work/copy.ptx"
out_has "$work/copy.ptx: $why"
differs_for WINDOWS snapshot run 2 doctor --json --no-probe "$work/folder"
json 'any(f["id"] == "refused" for f in d["findings"]) and not any(f["id"] in ("cold", "no-code", "driver-old") for f in d["findings"])'

differs_for WINDOWS snapshot run 2 prime --json "$work/folder"
snapshot run 2 prime -n "$work/folder"
run 2 prime --json "$bad"
json 'd["failed"] == d["cold"] == 1 and d["refused"] == 0'

# A module that the driver now accepts is compiled if it is named, and its refusal is forgotten.
ptx later '}' >"$work/folder/later.ptx"
SIMDRIVER_FAULT=error:later snapshot run 2 prime --json "$work/folder"
run 2 prime --json "$work/folder"
json 'd["refused"] == 2 and d["cold"] == 0'
run 0 prime --json "$work/folder/later.ptx"
json 'd["compiled"] == 1'
run 2 check --json "$work/folder"
json 'd["warm"] == 2 and len(d["failing"]) == 1'
find "$CUDA_CACHE_PATH" -path '*/?/?/*' -type f -delete
run 1 check --json "$work/folder"
json 'd["cold"] == 2 and len(d["failing"]) == 1'

# A crashed worker or a lack of memory says nothing about the module.
ptx crashes '}' >"$work/folder/crashes.ptx"
SIMDRIVER_FAULT='crash:crashes;oom:later' differs_for WINDOWS differs_for SANITIZERS snapshot run 1 prime --json --no-store "$work/folder"
run 1 check --json "$work/folder"
json 'd["cold"] == 2 and len(d["failing"]) == 1'

# A damaged memory of refusals is ignored.
for ledger in "$JITWARM_STATE"/ledger-*[0-9a-f]; do
	(($(wc -c <"$ledger") < 200)) || fail "a large ledger"
	head -c 30 "$ledger" >"$work/part" && cp "$work/part" "$ledger"
done
run 1 check --json "$bad"
json 'd["cold"] == 1 and not d["failing"]'
