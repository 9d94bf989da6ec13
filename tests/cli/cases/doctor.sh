# doctor: each fault is made for real, found with its evidence, and gone after its fix; healthy set-ups have no finding.
program=$JITWARM
with_simdriver sm_86
# A folder for temporary files would be a finding of its own.
place=$(mktemp -d /var/tmp/jitwarm-doctor.XXXXXX) || skip "no /var/tmp"
trap 'rm -rf "$place"' EXIT
fresh() { rm -rf "$place/cache"; export CUDA_CACHE_PATH=$place/cache; }
warm() { fresh; run 0 prime --quiet "$sample"; }
# found STATUS IDS ARGUMENT…: just these findings
found() {
	local status=$1 ids=$2
	shift 2
	run "$status" doctor --json "$@"
	json "[f['id'] for f in d['findings']] == '$ids'.split()"
	json 'all(f["evidence"] and f["fix"] and "\n" not in f["evidence"] + f["fix"] for f in d["findings"])'
}
says_of() { json "all(t in next(f for f in d['findings'] if f['id'] == '$1')['$2'] for t in [r'''$3'''])"; }
healthy() { found 0 "" "$@"; }

# ---- ten healthy set-ups
fresh
healthy
warm
healthy "$sample"
json 'd["probe"] == "hit" and d["warm"] == 8 and d["cold"] == 0'
json '__import__("os").path.isfile(posix(d["probe_entry"]).removeprefix("Z:"))'
healthy "$sample" --no-probe
json 'd["probe"] == "not asked" and "probe_entry" not in d'
CUDA_CACHE_MAXSIZE=2147483648 healthy "$sample"
CUDA_CACHE_DISABLE=0 CUDA_FORCE_PTX_JIT=0 CUDA_FORCE_JIT=1 healthy "$sample"
environment "$place/venv" 1.2
VIRTUAL_ENV=$place/venv healthy
json 'd["warm"] == 8'
VIRTUAL_ENV=$place/venv healthy frame
mkdir "$place/plain" && printf 'no code\n' >"$place/plain/readme.txt" && cp "$sample" "$place/plain"
healthy "$place/plain"
with_simdriver sm_86,sm_86
export CUDA_CACHE_PATH=$place/cache
healthy "$sample"
JITWARM=$program
with_simdriver sm_86
export CUDA_CACHE_PATH=$place/cache
if ! is_wine; then
	unset CUDA_CACHE_PATH
	HOME=$place healthy
	HOME=$place run 0 prime --quiet "$sample"
	HOME=$place healthy "$sample"
	ln -s "$place/cache" "$place/link"
	CUDA_CACHE_PATH=$place/link healthy "$sample"
	export CUDA_CACHE_PATH=$place/cache
fi
run 0 doctor "$sample"
out_has "All is well: 8 modules in the cache"
out_has "loads it from its cache"

# ---- usage
run 64 doctor --report --json
run 64 doctor --pid 1 "$sample"
run 64 doctor --pid 1 --user root
run 64 doctor --pid 0

# ---- not primed; --fix primes
CUDA_CACHE_PATH=$place/never found 1 cold "$sample"
says_of cold evidence "never primed"
fresh
found 1 cold "$sample"
says_of cold evidence "deleted"
json 'd["findings"][0]["command"] == ["prime", d["findings"][0]["command"][1]] and d["cold"] == 8'
app_compiles 8
rm -rf "$place/cache"
run 0 doctor --fix "$sample"
out_has "Fix     jitwarm prime "
out_has "$(basename "$sample")"
app_compiles 0
rm -rf "$place/cache"
run 0 doctor --fix --json "$sample"
json 'd["findings"] == [] and len(d["fixed"]) == 1 and "prime" in d["fixed"][0]'

# ---- settings: each fault, its finding, and what it costs; without it nothing is compiled
CUDA_CACHE_DISABLE=1 found 1 cache-disabled "$sample"
says_of cache-disabled evidence "CUDA_CACHE_DISABLE=1, set in the environment of this process"
json 'd["probe"] == "not asked"'
CUDA_CACHE_DISABLE=1 app_compiles 8
app_compiles 0
CUDA_FORCE_PTX_JIT=1 found 1 jit-forced "$sample"
CUDA_FORCE_PTX_JIT=1 app_compiles 8
CUDA_DISABLE_PTX_JIT=1 found 1 jit-disabled "$sample"
CUDA_CACHE_MAX_SIZE=2147483648 found 1 misnamed "$sample"
says_of misnamed fix CUDA_CACHE_MAXSIZE
CUDA_CACHE_PATH='' found 1 "no-cache-path cold" "$sample"
says_of cold fix "jitwarm bake"
json '"command" in d["findings"][1] and d["findings"][1]["command"] == []'
CUDA_CACHE_PATH=$place/readme found 1 cold "$sample"
: >"$place/file"
CUDA_CACHE_PATH=$place/file found 1 "cache-unwritable cold" "$sample"
says_of cache-unwritable evidence "not a directory"
if ! is_wine; then
	CUDA_CACHE_PATH=/dev/null/cache found 1 "cache-unwritable cold" "$sample"
	(unset CUDA_CACHE_PATH HOME && found 1 "no-cache-path cold" "$sample") || exit 1
	(cd "$place" && CUDA_CACHE_PATH=cache found 1 path-relative "$sample") || exit 1
	CUDA_CACHE_PATH=$work/cache found 1 "cold bad-place" "$sample"
	says_of bad-place evidence "gone after a restart"
	(unset CUDA_CACHE_PATH; HOME=/dev/null found 1 "cache-unwritable cold" "$sample") || exit 1
fi

# ---- the limit
CUDA_CACHE_MAXSIZE=1G found 1 limit-misread "$sample"
says_of limit-misread evidence "knows no units"
says_of limit-misread fix "CUDA_CACHE_MAXSIZE=1073741824"
CUDA_CACHE_MAXSIZE=200000 found 1 limit-small "$sample"
(unset CUDA_CACHE_MAXSIZE && healthy "$sample") || exit 1
rm -rf "$place/cache"
CUDA_CACHE_MAXSIZE=200000 found 1 "limit-small cold" "$sample"
CUDA_CACHE_MAXSIZE=200000 app_compiles 8
CUDA_CACHE_MAXSIZE=200000 simulated "$app" >"$out" 2>&1
out_lacks "compiled 0 of"
warm

# ---- the index and the entries; --fix repairs and compiles what is lacking
printf 'garbage' >"$place/cache/index"
found 1 index "$sample"
run 0 doctor --fix "$sample"
out_has "Fix     jitwarm cache verify --repair"
app_compiles 0
rm "$place/cache/index"
found 1 index "$sample"
says_of index evidence "deletes every entry"
run 0 doctor --fix --quiet "$sample"
out_empty
app_compiles 0
entry=$(find "$place/cache" -path "$place/cache/?/?/*" -type f -size +8k | head -n 1)
python3 - "$entry" <<'PYTHON'
import sys
with open(sys.argv[1], "r+b") as file:
    file.seek(-100, 2)
    byte = file.read(1)
    file.seek(-100, 2)
    file.write(bytes([byte[0] ^ 1]))
PYTHON
found 1 "damaged cold" "$sample"
run 0 doctor --fix --json "$sample"
json 'len(d["fixed"]) == 2 and "--repair" in d["fixed"][0]'
app_compiles 0
# Evicted, by another driver, deleted: why is in the evidence.
rm "$entry"
found 1 cold "$sample"
run 0 doctor --fix --quiet "$sample"
app_compiles 0

# ---- code that does not run here, and what a newer driver runs
printf '.version 7.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n' >"$place/newer.ptx"
found 2 no-code "$place/newer.ptx"
json 'd["findings"][0]["hopeless"] and d["findings"][0]["command"] == []'
run 2 doctor "$place/newer.ptx"
out_has "Nothing helps here"
if ! is_wine; then
	cp "$place/newer.ptx" "$place/"$'a\n 9  forged: b.ptx'
	found 2 no-code "$place/"$'a\n 9  forged: b.ptx'
	run 2 doctor "$place/"$'a\n 9  forged: b.ptx'
	! grep -q '^ 9  forged' "$out" || fail "a name made a line of its own"
	cp "$sample" "$place/it's \$(touch x).so"
	rm -rf "$place/cache"
	run 1 doctor --no-probe "$place/it's \$(touch x).so"
	out_has "it'\\''s \$(touch x).so'"
	warm
fi
printf '.version 9.0\n.target sm_50\n.address_size 64\n.visible .entry k() { ret; }\n' >"$place/isa.ptx"
found 1 driver-old "$place/isa.ptx"
says_of driver-old fix "install driver 580 (CUDA 13.0)"
found 2 no-code "$place/newer.ptx" "$sample"
rm -rf "$place/cache"
found 1 "no-code cold" "$place/newer.ptx" "$sample"
warm

# ---- no GPU
if ! is_wine; then
	(export CUDA_VISIBLE_DEVICES=; found 1 no-gpu "$sample") || exit 1
	says_of no-gpu fix "unset CUDA_VISIBLE_DEVICES"
	(JITWARM=$program JITWARM_PCI_DEVICES='' found "1|2" no-gpu "$sample") || exit 1
fi

# ---- the driver does not use the cache though nothing forbids it: another program holds the index's lock
if ! is_wine; then
	rm -rf "$place/cache"
	warm
	python3 - "$place/cache/index" "$place/held" <<'PYTHON' &
import fcntl, sys, time
file = open(sys.argv[1], "r+b")
fcntl.lockf(file, fcntl.LOCK_EX)
open(sys.argv[2], "w").close()
time.sleep(60)
PYTHON
	holder=$!
	await test -e "$place/held"
	found 1 probe-refused "$sample"
	says_of probe-refused evidence "stored no entry"
	json 'd["probe"] == "refused"'
	found 0 "" "$sample" --no-probe
	kill "$holder"
	wait "$holder" 2>/dev/null || true
	healthy "$sample"
fi

# ---- a line of a shell profile: --fix comments it out, and tune --undo restores it
if ! is_wine; then
	printf 'export CUDA_CACHE_DISABLE=1\n' >"$HOME/.profile"
	cp "$HOME/.profile" "$place/profile"
	CUDA_CACHE_DISABLE=1 found 1 cache-disabled "$sample"
	says_of cache-disabled evidence ".profile:1"
	CUDA_CACHE_DISABLE=1 run 0 doctor --fix "$sample"
	out_has "Fix     jitwarm tune --apply --remove-overrides"
	! grep -q '^export CUDA_CACHE_DISABLE' "$HOME/.profile" || fail "the line is still there"
	run 0 tune --undo
	cmp "$HOME/.profile" "$place/profile" || fail "the profile is not as it was"
	rm "$HOME/.profile"
fi

# ---- --report: pasted by strangers
fresh
USER=alice run 1 doctor --report "$sample" --no-probe
out_has '```text'
out_has "GPU     "
out_has "…/$(basename "$sample")"
out_lacks "$(dirname "$sample")"
out_lacks "$place"
warm

# ---- a running process: its variables, its libraries
if is_wine; then
	run 2 doctor --pid 4
	err_one_line
	run 2 doctor --user nobody
	err_one_line
else
	run 3 doctor --pid 99999999
	err_has "there is no process"
	CUDA_CACHE_DISABLE=1 VICTIM=x sleep 60 &
	victim=$!
	await test -r "/proc/$victim/environ"
	await grep -q sleep "/proc/$victim/comm"
	found 1 cache-disabled --pid "$victim"
	json 'd["process"]["name"] == "sleep" and not d["process"]["driver"] and d["process"]["pid"] == '"$victim"
	kill "$victim"
	wait "$victim" 2>/dev/null || true
	run 3 doctor --user no-such-account
	err_has "no such account"
fi

# ---- as root: with another account's rights and variables
# shellcheck source=/dev/null
. "$cases/../../accounts.sh"
if ! is_wine && all=$(folder_for_all); then
	trap 'rm -rf "$place" "$all"' EXIT
	cp "$program" "$all/jitwarm"
	chmod 755 "$all/jitwarm"
	JITWARM=$all/jitwarm
	unset CUDA_CACHE_PATH
	export CUDA_CACHE_DISABLE=1 JITWARM_STATE=$all/none
	run "1|2" doctor --json --user nobody
	json '"cache-unwritable" in [f["id"] for f in d["findings"]]'
	json '"cache-disabled" not in [f["id"] for f in d["findings"]]'
	unset CUDA_CACHE_DISABLE
	(cd / && exec "${as_other[@]}" env CUDA_CACHE_DISABLE=1 HOME="$all" JITWARM_STATE=/nonexistent sleep 60) &
	victim=$!
	await grep -q sleep "/proc/$victim/comm"
	run "1|2" doctor --json --pid "$victim"
	json '"cache-disabled" in [f["id"] for f in d["findings"]]'
	json '"cache-unwritable" in [f["id"] for f in d["findings"]]' # $all is root's
	kill "$victim"
	wait "$victim" 2>/dev/null || true
	# Others see neither root's processes nor its cache.
	sleep 60 &
	victim=$!
	JITWARM="${as_other[*]} $all/jitwarm"
	run 3 doctor --pid "$victim"
	err_one_line
	err_has "ermission denied"
	run 3 doctor --user root
	err_has "only root may"
	kill "$victim"
	wait "$victim" 2>/dev/null || true
fi
