# check --explain and prime's own word: why is it cold?
with_simdriver sm_86
# Who took all of them is known by births of files, of which Wine does not tell.
wiped=wiped emptied=deleted
! is_wine || wiped=gone emptied=gone
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
run 0 prime "$lib"
out_has "Why: 8 modules: never primed."
run 0 check --explain --json "$lib"
reasons ''

: >"$(entry 1)"
rm "$(entry 8)"
run 1 check --explain --json "$lib"
reasons '("damaged", 1), ("deleted", 1)'
run 0 prime --json "$lib"
json '"damaged" in d["why"] and "deleted" in d["why"] and d["compiled"] == 2'
run 0 prime --json "$lib"
json '"why" not in d'

# What was emptied by hand, and what a driver wiped: it found fewer rows than the index counts.
rm -r "$work/cache"/*
run 1 check --explain --json "$lib"
reasons '("'$emptied'", 8)'
run 0 prime "$lib"
sleep 0.02 # a birth that the clock tells from the next one
rm -r "$work/cache"/? "$work/cache/index"
run 1 check --explain --json "$lib"
reasons '("'$wiped'", 8)'
run 1 prime --dry-run "$lib"
out_has "Why: 8 modules: $(is_wine && echo gone from the cache || echo wiped by the driver)"
run 0 prime "$lib"
rm -r "$work/cache"
run 1 check --explain --json "$lib"
reasons '("'$emptied'", 8)'
run 0 prime "$lib"

# Too small a limit: all went at another program's insert, which took an index of ours as it is.
find "$work/cache" -path "$work/cache/?/?/*" -type f -delete
printf '\x41\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0' | dd of="$work/cache/index" conv=notrunc status=none
CUDA_CACHE_MAXSIZE=1000 run 2 check --explain --json "$lib"
reasons '("evicted", 8)'
json '"CUDA_CACHE_MAXSIZE" in d["causes"][0]["text"]'
run 0 prime "$lib"

# Another GPU, whose entries are not there.
with_simdriver sm_89
run 1 check --explain --json "$lib"
reasons '("gpu", 8)'
json 'd["causes"][0]["target"] == "sm_89" and "sm_86" in d["causes"][0]["text"]'
with_simdriver sm_86

# Another version of the library: one module has changed.
python3 - "$lib" <<'PYTHON'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
at = data.index(b".visible .entry")
data[at - 1] = ord(" ")
open(sys.argv[1], "wb").write(data)
PYTHON
touch -d '2020-01-01' "$lib"
run 1 check --explain --json "$lib"
json 'sum(c["modules"] for c in d["causes"] if c["reason"] == "file") >= 1 and {c["reason"] for c in d["causes"]} == {"file"}'

# Another driver: what jitwarm remembers tells, and without that the cache itself.
rm -rf "$work/cache" "$work/state"
SIMDRIVER_STAMP='Jun 25 202401:14:48' run 0 prime "$sample"
rm -rf "$work/state/drivers"
run 1 check --explain --json "$sample"
reasons '("driver", 8)'
json '"has changed from 555.58.02 to " in d["causes"][0]["text"]'
run 1 prime --dry-run "$sample"
out_has "Why: 8 modules: the driver has changed from 555.58.02 to"
rm -rf "$work/state"
run 1 check --explain --json "$sample"
reasons '("driver", 8)'

# What was recorded is remembered too, whatever name the file goes by. Under an emulator no file is seen in a process that starts.
if ! is_emulated; then
	rm -rf "$work/state" "$work/cache"
	run 0 record -o r.json -- "$app"
	rm -rf "$work/cache"
	cd "$(dirname "$sample")"
	run 1 check --explain --json "./$(basename "$sample")"
	reasons '("'$emptied'", 8)'
	cd "$work"
fi

# A damaged ledger is none.
run 0 prime "$sample"
for ledger in "$work"/state/ledger-*; do printf garbage >"$ledger"; done
rm -rf "$work/cache"
run 1 check --explain --json "$sample"
reasons '("never", 8)'

# What another driver would find is not remembered as this one's.
. "$cases/../drivers.sh"
remembered() { find "$work/state" -name 'ledger-*' ! -name ledger-lock; }
anew
driver_535_309
run 0 prime "$sample"
driver_550
rm $(remembered)
run 0 check --driver 535.309.01 "$sample"
[[ -z $(remembered) ]] || fail "check --driver was remembered"
