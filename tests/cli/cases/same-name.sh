# Two modules whose entries have one name (data/same-name): an entry is a module's only if its key is that module's, and none is lost
# without a line.
has_command export || skip "no such command yet"
with_simdriver sm_86
one=$work/one.ptx two=$work/two.ptx place=$work/place
cp "$cases"/../../data/same-name/*.ptx "$work"
mkdir "$place"
# machine NAME: begins another machine of the same kind, with its own state and cache
machine() {
	mkdir -p "$work/machines/$1"
	export CUDA_CACHE_PATH=$work/machines/$1/cache JITWARM_STATE=$work/machines/$1/state
}
stays="the entry of another module has the same name, and stays"
# holds NAME: the cache has one entry, that of the module NAME
holds() {
	local found
	found=$(find "$CUDA_CACHE_PATH" -type f -path '*/?/?/*')
	[[ $(wc -l <<<"$found") == 1 ]] && grep -aq "entry $1()" "$found" || fail "the entry is not that of $1"
}

# The first module is cold while the cache has the second one's entry, also when the entries are remembered.
machine first
differs_for WINDOWS snapshot run 0 prime --store "$place" --allow-unsigned "$two"
holds two
for _ in 1 2; do
	run 1 check --json "$one"
	json 'd["cold"] == d["taken"] == 1 and d["warm"] == d["damaged"] == 0'
	run 0 check --json "$two"
	json 'd["warm"] == 1 and d["taken"] == 0'
done
snapshot run 1 check "$one"
run 1 prime "$one"
err_has "$stays"
holds two
# An export of the first module does not have the entry of the second.
run 2 export -o "$work/one.jwpack" "$one"
err_has "holds nothing of what was named"
differs_for WINDOWS snapshot run 0 export -o "$work/two.jwpack" "$two"

# A machine whose cache has the first one's entry keeps it: prime and import say so.
machine second
run 0 prime --no-store "$one"
holds one
run 1 prime "$two"
err_has "$stays"
snapshot run 1 prime --store "$place" --allow-unsigned "$two"
holds one
snapshot run 2 import --allow-unsigned "$work/two.jwpack"
holds one
run 0 check "$one"
run 1 check "$two"

# The entries of a pack in a folder are compared with the module.
machine third
run 0 prime --store "$place" --allow-unsigned "$one" --json
json 'd["compiled"] == 1 and "from_folder" not in d'
holds one

# The modules of one plan are two.
machine second
run 1 check --json "$one" "$two"
json 'd["modules"] == 2 and d["warm"] == d["cold"] == d["taken"] == 1'
machine fourth
run 1 prime -n --json "$one" "$two"
json 'd["modules"] == d["cold"] == 2'

# The store restores no entry of another module.
machine fifth
export JITWARM_STORE=1
run 0 prime "$two"
rm -r "$CUDA_CACHE_PATH"
run 0 prime --json "$one"
json 'd["compiled"] == 1'
holds one
