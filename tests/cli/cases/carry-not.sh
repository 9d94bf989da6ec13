# prime does not carry entries over from other CUDA versions, other GPUs, damaged entries or unknown drivers, and it keeps to the limit.
differs_for WINDOWS
with_simdriver sm_86
. "$cases/../drivers.sh"
export JITWARM_STORE=1

# ---- newer to older, and older to newer
driver_550
run 0 prime "$sample" --no-store
driver_535_309
snapshot run 0 prime "$sample" --no-store --json
driver_555
run 0 prime "$sample" --no-store --json
json 'd["compiled"] == 8 and "carried_over" not in d'

# ---- another architecture
with_simdriver sm_89
state "$work/state" remove devices
driver_535_216
run 1 prime "$sample" --dry-run --no-store --json
json '"carried_over" not in d'
with_simdriver sm_86

# ---- a damaged entry under another driver's stamp stays where it is
anew
driver_535_216
run 0 prime "$sample" --no-store
entry=$(find "$work/cache" -path "$work/cache/?/?/*" -type f | sort | head -1)
printf x | dd of="$entry" bs=1 seek=$(($(stat -c %s "$entry") - 1)) conv=notrunc status=none
driver_535_309
snapshot run 0 prime "$sample" --no-store --json
[[ -f $entry ]] || fail "the damaged entry is gone"

# ---- entries of a driver that no table knows are carried over if jitwarm remembers the driver, else not
anew
driver_is A 12020 'Jan  1 202101:02:03'
run 0 prime "$sample" --no-store
profile=$(find "$work/state/drivers" -name '*.json')
cp "$profile" "${profile%.json}-former.json"
driver_is B 12020 'Feb  2 202104:05:06'
run 0 prime "$sample" --no-store --json
json 'd["compiled"] == 0 and d["carried_over"]["modules"] == 8'
rm -rf "$work/state/drivers"
state "$work/state" remove devices
driver_is C 12020 'Mar  3 202107:08:09'
snapshot run 0 prime "$sample" --no-store --json

varies names ^cache/ && varies json '^(evicted|used_bytes)$' && varies text "evicted to make space|sound, " # in the order of the workers
# ---- the limit evicts the oldest entries, never the requested ones
anew
driver_535_216
run 0 prime "$sample" --no-store
limit=$(find "$work/cache" -path "$work/cache/?/?/*" -type f -printf '%s\n' | awk '{ sum += $1 } END { print sum + 20000 }')
driver_535_309
CUDA_CACHE_MAXSIZE=$limit run 0 prime "$sample" --no-store --json
json 'd["compiled"] == 0 and d["carried_over"]["modules"] == 8 and d["carried_over"]["evicted"] > 0'
run 0 check "$sample"
run 0 cache verify
