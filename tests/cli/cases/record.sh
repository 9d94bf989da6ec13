# run --record writes down what a command has compiled; prime --recording compiles just that.
differs_for WINDOWS
snapshot run 64 run --record r.json
is_wine || snapshot run 0 run --record ls.json ls -d . # Windows has no such program
rm -f ls.json
run 64 run --record r.json --
err_has "write it after “--”"
snapshot run 3 prime --recording "$work/nosuch.json"
printf '{"schema":"jitwarm.recording/9"}' >"$work/newer.json"
snapshot run "2|3" prime --recording "$work/newer.json"
printf '{"schema":"jitwarm.prime/1"}' >"$work/foreign.json"
snapshot run 3 prime --recording "$work/foreign.json"
! is_emulated || skip "under an emulator no file is seen in a process that starts"
program=$JITWARM
with_simdriver sm_86
shell=(sh -c) nothing=(true)
! is_wine || shell=(cmd /c) nothing=(cmd /c rem)
entries() { find "$work/cache" -path "$work/cache/?/?/*" -type f 2>/dev/null | wc -l; }

# The recorder looks at processes while they run, and sees no files of one that ends before a busy machine lets it look. Therefore compiling
# takes a while here.
recorded() { SIMDRIVER_COST=4 run "$@"; }

# The command's own status and output are kept.
snapshot run 7 run --record r.json -- "${shell[@]}" 'echo hello&& exit 7'
json_file() { python3 -c "import json,sys; d=json.load(open('$1')); sys.exit(0 if ($2) else 1)" || fail "$1: not so: $2"; }
run 0 prime --recording r.json
run 0 check --recording r.json
out_has "Nothing to compile: the driver compiles none of these files for these GPUs."
json_file r.json 'd["schema"] == "jitwarm.recording/2" and d["command"] == "'"${shell[0]}"'" and d["modules"] == d["files"] == []'
is_wine || run 143 run --record r.json -- sh -c 'kill -TERM $$' # Windows has no signals
snapshot run 127 run --record r.json -- "$work/nosuch"
run 0 run --record r.json --json -- "${shell[@]}" 'echo hello'
json 'd["schema"] == "jitwarm.command/1" and d["exit_status"] == 0 and d["modules"] == 0'
err_has hello
# The folder is removed while the command runs.
for ends in 3 5; do
	mkdir gone
	run $ends run --record gone/r.json -- "${shell[@]}" "$(is_wine && echo 'rmdir gone &' || echo 'rmdir gone;') exit $((ends == 5 ? 5 : 0))"
done
# The command is started even if its cache cannot be read.
if ! is_wine; then
	for verb in "run --record nothing.json" run; do
		# shellcheck disable=SC2016,SC2086
		for status in 0 5; do
			rm -f "$work/cache"
			snapshot run "$((status ? status : 3))" $verb -- sh -c 'rm -rf "$CUDA_CACHE_PATH" && ln -s "$CUDA_CACHE_PATH" "$CUDA_CACHE_PATH" && exit '$status
		done
	done
	[[ ! -e nothing.json ]] || fail "a recording without what was compiled"
	rm -f "$work/cache"
fi

# The modules that the command compiled are recorded and warm; the command itself saw an empty cache.
run 0 prime "$sample"
before=$(entries)
recorded 0 run --json --record r.json -- "$app"
json 'd["modules"] == d["in_files"] == d["there"] == '"$before"' and d["added"] == 0 and len(d["files"]) == 1'
json_file r.json 'all(m["known_before"] for m in d["modules"]) and d["driver"]["stamp"]'
rm -rf "$work/cache"
recorded 0 run --json --record r.json -- "$app"
json 'd["added"] == d["modules"] == '"$before"' and d["refused"] == 0'
json_file r.json "d['files'][0]['path'].endswith('$(basename "$sample")') and {m['form'] for m in d['modules']} == {'load', 'link'}"
run 0 check "$sample"
run 0 cache verify --json --cache "$work/cache"
json 'd["damaged"] == d["files_without_row"] == d["rows_without_file"] == 0'
[[ -z $(ls -A "$work/state/runs") ]] || fail "left: $(ls -A "$work/state/runs")"

# A warm module that was evicted for the recording is cold again.
rm -rf "$work/cache"
for number in 1 2 3 4 5 6; do printf '.version 7.0\n.target sm_70\n.address_size 64\n.visible .entry other%d()\n{\n\tret;\n}\n' "$number" >"$work/other$number.ptx"; done
run 0 prime "$sample"
limit=$(find "$work/cache" -path "$work/cache/?/?/*" -type f -printf '%s\n' | awk '{ sum += $1 - 28 } END { print sum + 100 }')
rm -rf "$work/cache"
run 0 prime --no-store "$work"/other?.ptx
CUDA_CACHE_MAXSIZE=$limit snapshot recorded 1 run --json --record r.json -- "$app"
# Modules of another driver do not count as warm.
rm -rf "$work/cache"
SIMDRIVER_STAMP='Jan  1 202301:02:03' JITWARM_STATE=$work/former run 0 prime --no-store "$work"/other?.ptx
CUDA_CACHE_MAXSIZE=$limit recorded 0 run --json --record r.json -- "$app"
json 'd["evicted"] > 0 and d["cooled"] == 0'
CUDA_CACHE_MAXSIZE=$limit snapshot run 5 run --record nothing.json -- "${shell[@]}" 'exit 5'

# After a wipe, prime with the recording makes the next start compile nothing.
rm -rf "$work/cache"
run 0 prime --recording r.json --json
json 'd["compiled"] == d["recorded"] == '"$before"' and d["recorded_missing"] == 0'
app_compiles 0
run 0 prime --recording r.json --json
json 'd["compiled"] == 0 and d["warm"] == '"$before"

# For an unattended run, another recording means another run, and so does a changed recording.
cp r.json other.json
snapshot run 0 prime --if-changed --recording r.json
snapshot run 0 prime --if-changed --recording r.json
run 0 prime --if-changed --recording other.json
out_has "Changed: first run"
echo >>other.json
snapshot run 0 prime --if-changed --recording other.json

# prime compiles only the recorded part; named files take the place of recorded ones.
python3 - <<'PYTHON'
import json
d = json.load(open("r.json"))
d["modules"] = [m for m in d["modules"] if m["form"] == "load"][:2]
d["files"][0]["path"] = "/gone/sample_framework.lib"
json.dump(d, open("part.json", "w"))
PYTHON
rm -rf "$work/cache"
snapshot run 1 prime --recording part.json --json
run 0 prime --recording part.json --json "$sample"
json 'd["compiled"] == 2'
[[ $(entries) == 2 ]] || fail "$(entries) entries"

# A recording names files, never folders to search or a path out of a package. A package's name means the package, even if a folder here has
# that name.
names() { # STATUS PATH PACKAGE
	python3 - "$2" "$3" <<'PYTHON'
import json, sys
d = json.load(open("r.json"))
d["files"][0].pop("package", None)
d["files"][0].update({"path": sys.argv[1]}, **({"package": sys.argv[2]} if sys.argv[2] else {}))
json.dump(d, open("named.json", "w"))
PYTHON
	rm -rf "$work/cache"
	run "$1" prime --recording named.json
	[[ $(entries) == 0 ]] || fail "compiled: $(entries)"
}
mkdir -p "$work/frame" && cp "$sample" "$work/frame/"
file=$(basename "$sample")
is_wine || for named in /: "$work/frame:" "$work/../$(basename "$work")/frame/$file:" "$work/frame/*:" "$work/fr?me/$file:" "$work/fram[e]/$file:" "frame/$file:" \
	"$file:../../.." "$file:." "$file:$work/frame" "../$file:frame" "$file:frame/lib" "$file:fr*"; do
	snapshot names 3 "${named%%:*}" "${named#*:}"
done
snapshot names 1 "$file" frame
snapshot names 1 "frame/$file" frame
rm -r "$work/frame"

# Another GPU has modules of the same containers.
JITWARM=$program
with_simdriver sm_90
run "0|1" prime --recording part.json --json "$sample"
json 'd["modules"] == 2 and d["recorded_missing"] == 0'

# A package is found by its name, wherever it is installed. A module that is in no file is reported as such.
environment "$work/venv" 1.2
JITWARM=$program
with_simdriver sm_86
export VIRTUAL_ENV=$work/venv
snapshot run 0 run --record package.json frame -- "$app"
json_file package.json 'd["files"][0] == {"path": "'"$frame_library"'", "package": "frame", "version": "1.2", "size_bytes": d["files"][0]["size_bytes"]}'
mv "$work/venv" "$work/other"
export VIRTUAL_ENV=$work/other
rm -rf "$work/cache"
run 0 prime --recording package.json --json
json 'd["compiled"] == '"$before"
printf "no code\n" >none.so
snapshot run 0 run --record none.json none.so -- "$app"
json_file none.json 'd["modules"] == [] and len(d["not_in_files"]) == '"$before"' and all(m["known_before"] for m in d["not_in_files"])'

# The command keeps the driver away from its cache: jitwarm reports what it can see, and claims nothing.
snapshot run 0 run --record r.json --json -- "${nothing[@]}"
if ! is_wine; then
	rm -rf "$HOME/.nv"
	run 0 run --record r.json --json -- env -u CUDA_CACHE_PATH "$app"
	json 'd["modules"] == 0'
	# The copy lies in memory, as whole environments do on some machines.
	in_memory=$(mktemp -d /dev/shm/jitwarm-record.XXXXXX) || in_memory=$work
	for at in "$work" "$in_memory"; do
		cp "$sample" "$at/libnvidia-ptxjitcompiler.so.1"
		named=$([[ $at == "$work" ]] || echo "$sample")
		# shellcheck disable=SC2086
		run 0 run --record r.json --json $named -- env ASAN_OPTIONS="${ASAN_OPTIONS-}:verify_asan_link_order=0:detect_leaks=0" LD_PRELOAD="$at/libnvidia-ptxjitcompiler.so.1" sleep 3
		[[ $at == "$work" ]] || rm -r "$at"
		json 'd["modules"] == 0 and d["compiler_seen"]'
		err_has "sets CUDA_CACHE_DISABLE or CUDA_CACHE_PATH itself"
	done
fi

# For PTX that the command generates, the report says which library made it and whether it was the same the last time. (The probe may be
# built with a sanitizer, which must be loaded before the simulated driver.)
probe=$(dirname "$(dirname "$sample")")/phantom/phantom-probe
if [[ -x $probe ]]; then
	printf '//\n// Generated by NVIDIA NVVM Compiler\n//\n\n.version 7.0\n.target sm_70\n.address_size 64\n.visible .entry made() { ret; }\n\0' >"$work/made.ptx"
	for known in False True; do
		ASAN_OPTIONS=${ASAN_OPTIONS-}:verify_asan_link_order=0 snapshot run 0 run --record made.json -- "$probe" load 0 "$work/made.ptx"
		json_file made.json 'd["modules"] == d["files"] == [] and len(d["texts"]) == 1 and [(m["producer"], m["form"], m["known_before"]) for m in d["not_in_files"]] == [("NVIDIA NVVM", "load", '$known')]'
	done
	# Without --record, the advised next step is to record.
	rm -rf "$CUDA_CACHE_PATH"
	ASAN_OPTIONS=${ASAN_OPTIONS-}:verify_asan_link_order=0 snapshot run 0 run -- "$probe" load 0 "$work/made.ptx"
	# No file has the module, but the recording does.
	snapshot run 0 check --recording made.json
	rm -rf "$CUDA_CACHE_PATH"
	snapshot run 1 check --recording made.json
	run 1 check --json --recording made.json
	json 'd["verdict"] == "cold" and [(f["path"], f["cold"]) for f in d["files"]] == [("made.json", 1)]'
	snapshot run 0 prime --recording made.json --json --no-store
	run 0 check --recording made.json
	ASAN_OPTIONS=${ASAN_OPTIONS-}:verify_asan_link_order=0 snapshot run 0 run --record again.json --json -- "$probe" load 0 "$work/made.ptx"
	# A recording with a text other than its checksum says, or one that names files, is refused, and nothing is changed.
	python3 -c 'import json, sys
document = json.load(open("made.json"))
document["texts"][0]["zstd"] = document["texts"][0]["zstd"][:-8] + "AAAAAAAA"
json.dump(document, open("other.json", "w"))
document = json.load(open("made.json"))
document["not_in_files"][0]["options"] = "-o " + sys.argv[1]
json.dump(document, open("names.json", "w"))' "$work/victim"
	snapshot run 3 prime --recording other.json
	run 3 check --recording other.json
	snapshot run "2|3" prime --recording names.json
	[[ ! -e $work/victim ]] || fail "a file that a recording names is written"
	# The first version of the format only says that no file has the module, and whether the cache has it.
	python3 -c 'import json
document = json.load(open("made.json"))
del document["texts"], document["not_in_files"][0]["text"]
document["schema"] = "jitwarm.recording/1"
json.dump(document, open("made.json", "w"))'
	snapshot run 0 check --recording made.json
	run 0 prime --recording made.json --json
	json 'd["modules"] == 0 and d["recorded_not_in_files"] == 1 and d["verdict"] == "warm"'
	snapshot run 0 prime --recording made.json
	find "$CUDA_CACHE_PATH" -path '*/?/?/*' -type f -delete
	snapshot run 1 prime --recording made.json
	out_lacks "Nothing to compile"
	snapshot run 1 prime -n --recording made.json --json
fi

is_wine && exit 0 # Windows has no signals, and a Ctrl-C of Unix reaches no console
# Signals reach the command, and the recording is still written.
cat >"$work/waits.sh" <<'SCRIPT'
trap 'echo caught; exit 9' TERM
: >ready
for _ in $(seq 2400); do sleep 0.05; done
SCRIPT
"$program" run --record signal.json -- sh "$work/waits.sh" >"$work/caught" 2>/dev/null &
pid=$!
for _ in $(seq 1200); do [[ -e ready ]] && break; sleep 0.05; done
kill -TERM $pid
wait $pid
[[ $? == 9 && $(cat "$work/caught") == caught && -s signal.json ]] || fail "TERM was not passed on"

# After the command's end, Ctrl-C ends jitwarm: another process holds the cache's lock, so the search for owners has not begun.
cat >"$work/holds.py" <<'PYTHON'
import fcntl, os, sys, time
index = open(sys.argv[1], "r+")
fcntl.lockf(index, fcntl.LOCK_EX)
open("held", "w").close()
end = time.monotonic() + 120
while not os.path.exists("ended.json") and time.monotonic() < end:
    time.sleep(0.05)
PYTHON
cat >"$work/tells.sh" <<'SCRIPT'
"$1"
echo $$ >number
SCRIPT
command python3 "$work/holds.py" "$work/cache/index" &
holder=$!
for _ in $(seq 1200); do [[ -e held ]] && break; sleep 0.05; done
# shellcheck disable=SC2086
$JITWARM run --record ended.json --json -- sh "$work/tells.sh" "$app" >"$out" 2>"$err" &
pid=$!
for _ in $(seq 1200); do [[ -s number ]] && ! kill -0 "$(cat number)" 2>/dev/null && break; sleep 0.05; done
kill -INT $pid
wait $pid
ended=$?
kill $holder 2>/dev/null
wait $holder
[[ $ended == 130 ]] || fail "exit status $ended, not 130"
err_has "interrupted"
json 'd["interrupted"] and d["exit_status"] == d["in_files"] == 0 and d["modules"] == '"$before"
json_file ended.json 'len(d["not_in_files"]) == '"$before"
[[ -z $(ls -A "$work/state/runs") ]] || fail "left: $(ls -A "$work/state/runs")"
