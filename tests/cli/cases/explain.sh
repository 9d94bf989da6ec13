# prime and doctor say why modules are cold, as far as the cache shows it.
with_simdriver sm_86
entry() { find "$work/cache" -path "$work/cache/?/?/*" -type f | sort | sed -n "$1p"; }
lib=$work/lib.so
cp "$sample" "$lib"

run 1 prime -n "$lib"
out_has "Why: 8 modules: never primed, or removed since."
run 0 prime "$lib"
run 0 prime --json "$lib"
json '"why" not in d'

# A damaged entry and one that is gone: the more frequent reason comes first.
: >"$(entry 1)"
rm "$(entry 8)" "$(entry 7)"
snapshot run 1 prime -n "$lib"
out_has "Why: 2 modules: never primed, or removed since; 1 module: damaged entry: "
snapshot run 0 prime --json --no-store "$lib"

# Another driver runs: the newest entries are the former one's, and none is this one's.
rm -rf "$work/cache" "$work/state"
SIMDRIVER_STAMP='Jun 25 202401:14:48' run 0 prime "$sample"
rm -rf "$work/state/drivers"
snapshot run 1 prime -n "$sample"
out_has "Why: 8 modules: the driver has changed from 555.58.02 to"
run 1 doctor --no-probe "$sample"
out_has "the driver has changed from 555.58.02 to"
# Once it has compiled something, it is no news any more.
cp "$sample" "$lib"
printf '.version 6.3\n.target sm_52\n.address_size 64\n.visible .entry k()\n{\n\tret;\n}\n' >"$work/k.ptx"
run 0 prime "$work/k.ptx"
run 1 prime -n "$sample"
out_has "Why: 8 modules: never primed, or removed since."
# A compiler library's entries are no driver's.
rm -rf "$work/cache"
. "$cases/../pack-entries.sh"
pack_entry "$work/cache" 1 "Jun 25 202401:14:48" 86
run 0 cache verify --repair
run 1 prime -n "$sample"
out_has "the driver has changed from 555.58.02 to"
rm -rf "$work/cache"

# A damaged ledger is ignored.
for ledger in "$work"/state/ledger-*; do printf garbage >"$ledger"; done
run 1 check --json "$sample"
json 'd["cold"] == 8'
