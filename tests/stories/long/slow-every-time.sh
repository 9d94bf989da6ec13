# Why it is slow every time: each cause is made for real, the program has its modules compiled twice in a row, doctor names the
# cause first, and without it all is well. cli-doctor* take the causes apart one by one; this is the table as a whole.
# shellcheck source=/dev/null
. "$cases/../../cli/doctors.sh"
# shellcheck source=/dev/null
. "$cases/../../cli/drivers.sh"
right=0
# slow CAUSE FINDING VARIABLE=VALUE…: with these variables, each of two starts compiles, and FINDING comes first
slow() {
	local name=$1 finding=$2
	shift 2
	for _ in 1 2; do
		simulated env "$@" "$app" >"$out" 2>"$err" || true
		! grep -q 'compiled 0 of' "$out" || fail "$name: the program compiles nothing"
	done
	(
		for one; do
			# shellcheck disable=SC2163
			case $one in -u) ;; *=*) export "$one" ;; *) unset "$one" ;; esac
		done
		run "1|2" doctor --json "$sample"
	) || exit 1
	last=("$name")
	json "[f['id'] for f in d['findings']][:1] == ['$finding']"
	right=$((right + 1))
}
warm
: >"$place/file"
slow "switched off" cache-disabled CUDA_CACHE_DISABLE=1
slow "forced PTX" jit-forced CUDA_FORCE_PTX_JIT=1
slow "an empty path" no-cache-path CUDA_CACHE_PATH=
slow "no home" no-cache-path -u CUDA_CACHE_PATH -u HOME
slow "a file in the place of the folder" cache-unwritable CUDA_CACHE_PATH="$place/file"
slow "below a device" cache-unwritable CUDA_CACHE_PATH=/dev/null/cache
fresh
slow "full" limit-small CUDA_CACHE_MAXSIZE=200000

# event CAUSE FINDING WORDS: the first start is slow, and again the start after each event
event() {
	run "1|2" doctor --json --no-probe "$sample"
	last=("$1")
	json "d['findings'][0]['id'] == '$2' and '$3' in d['findings'][0]['evidence']"
	right=$((right + 1))
}
export CUDA_CACHE_PATH=$place/never
event "the first start" cold "never primed"
fresh
driver_535_309
run 0 prime --quiet "$sample"
driver_550
event "another driver" cold "the driver has changed"
unset SIMDRIVER_CUDA SIMDRIVER_STAMP
anew
fresh
run 0 prime --quiet "$sample"
rm -rf "$place/cache"
event "a cleaner" cold "deleted"
export CUDA_CACHE_PATH=/tmp/jitwarm-volatile-$$
run 1 doctor --json --no-probe "$sample"
json '"bad-place" in [f["id"] for f in d["findings"]]'
right=$((right + 1))
fresh
printf '.version 7.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n' >"$place/newer.ptx"
run 2 doctor --json --no-probe "$place/newer.ptx"
json 'd["findings"][0]["id"] == "no-code" and d["findings"][0]["hopeless"]'
right=$((right + 1))
# Another account's prime holds the index's lock.
run 0 prime --quiet "$sample"
python3 -I -S -c 'import fcntl, sys, time
file = open(sys.argv[1], "r+b")
fcntl.lockf(file, fcntl.LOCK_EX)
open(sys.argv[2], "w").close()
time.sleep(600)' "$place/cache/index" "$place/held" &
holder=$!
await test -e "$place/held"
probed 1 probe-refused "$sample"
right=$((right + 1))
kill "$holder"
wait "$holder" 2>/dev/null || true
healthy "$sample"
echo "doctor: $right of $right causes are named"
