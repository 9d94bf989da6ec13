# check --explain and prime say why a module is cold.
with_simdriver sm_86
reasons() { json "sorted((c['reason'], c['modules']) for c in d['causes']) == sorted([$1])"; }
entry() { find "$work/cache" -path "$work/cache/?/?/*" -type f | sort | sed -n "$1p"; }
lib=$work/lib.so
cp "$sample" "$lib"

run 1 check --json "$lib"
json '"causes" not in d'
run 1 check --explain --json "$lib"
json 'd["modules"] == 8'
reasons '("never", 8)'
run 1 check --explain "$lib"
out_has "8: never primed"
out_has "Next: jitwarm prime $(native "$lib")"
with_simdriver sm_86,sm_90
snapshot run 1 check --explain "$lib"
with_simdriver sm_86
run 0 prime "$lib"
out_has "Why: 8 modules: never primed."
snapshot run 0 check --explain --json "$lib"
reasons ''

: >"$(entry 1)"
rm "$(entry 8)"
snapshot run 1 check --explain --json "$lib"
reasons '("damaged", 1), ("deleted", 1)'
snapshot run 0 prime --json "$lib"
run 0 prime --json "$lib"
json '"why" not in d'

rm -r "$work/cache"/*
run 1 check --explain --json "$lib"
reasons '("deleted", 8)'
run 1 prime --dry-run "$lib"
out_has "Why: 8 modules: deleted by a user, a program or another driver"
run 0 prime "$lib"
# The limit is too small.
rm "$(entry 1)"
CUDA_CACHE_MAXSIZE=1000 snapshot run 2 check --explain --json "$lib"
json '{c["reason"] for c in d["causes"]} == {"evicted"} and "the cache limit is" in d["causes"][0]["text"]'
# The index's total is larger than its rows by more than the limit.
printf '\0\0\0\x40\1\0\0\0' | dd of="$work/cache/index" bs=1 seek=8 conv=notrunc status=none
snapshot run 1 check --explain --json "$lib"
json '[c["reason"] for c in d["causes"]] == ["evicted"] and "counts bytes that no entry has" in d["causes"][0]["text"]'
snapshot run 0 prime "$lib"

# In another version of the library, one module has changed.
python3 - "$lib" <<'PYTHON'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
at = data.index(b".visible .entry")
data[at - 1] = ord(" ")
open(sys.argv[1], "wb").write(data)
PYTHON
touch -d '2020-01-01' "$lib"
snapshot run 1 check --explain --json "$lib"

# Another driver runs: jitwarm remembers the former one.
rm -rf "$work/cache" "$work/state"
SIMDRIVER_STAMP='Jun 25 202401:14:48' run 0 prime "$sample"
rm -rf "$work/state/drivers"
snapshot run 1 check --explain --json "$sample"
reasons '("driver", 8)'
run 1 prime --dry-run "$sample"
out_has "Why: 8 modules: the driver has changed from 555.58.02 to"

# A recorded module is remembered too, whatever the file's name is. Under an emulator, the recorder sees no files of a process that starts.
if ! is_emulated; then
	rm -rf "$work/state" "$work/cache"
	SIMDRIVER_COST=1 run 0 run --record r.json -- "$app" # long enough for the recorder to look at it
	rm -rf "$work/cache"
	cd "$(dirname "$sample")"
	run 1 check --explain --json "./$(basename "$sample")"
	reasons '("deleted", 8)'
	cd "$work"
fi

# A damaged ledger is ignored.
run 0 prime "$sample"
for ledger in "$work"/state/ledger-*; do printf garbage >"$ledger"; done
rm -rf "$work/cache"
run 1 check --explain --json "$sample"
reasons '("never", 8)'

# Another driver's refusals are not reported as this driver's.
. "$cases/../drivers.sh"
remembered() { find "$work/state" -name 'ledger-*' ! -name ledger-lock; }
anew
driver_535_309
run 0 prime "$sample"
driver_550
rm $(remembered)
run 0 check --driver 535.309.01 "$sample" # one piece of code is packed with zstd, so a part of the file fails
[[ -z $(remembered) ]] || fail "check --driver was remembered"
