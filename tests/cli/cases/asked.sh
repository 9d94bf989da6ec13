# What people type: versions of packages, environments that are not active, offsets that another command has printed, and half a
# command.
with_simdriver sm_86
environment "$work/env" 2.1
empty_environment "$work/other"
export VIRTUAL_ENV=$work/env

for asked in frame frame==2.1 frame==2.1.0 "frame==2.*" "frame[cuda]==2.1" "frame>=2" "Frame[cuda] >= 2, < 3" "frame~=2.0" "frame!=2.0" frame=2; do
	run 0 scan --json --target sm_86 "$asked"
	json 'len(d["files"]) == 1'
done
run 3 scan --target sm_86 frame==2.0
err_one_line
err_has "frame==2.0: version 2.1 is installed in "
run 3 check --target sm_86 "frame==3.*"
err_has "frame==3.*: version 2.1 is installed in "
run 3 check --target sm_86 "frame<2.1"
err_has "frame<2.1: version 2.1 is installed in "
run 3 scan --target sm_86 "fraem>=2.1"
err_has "did you mean frame?"
# One name is one package: the second one is not passed over in silence.
run 3 scan --target sm_86 "frame,other"
err_has "frame,other: "

# Each command that takes packages takes the environment that they are in.
export VIRTUAL_ENV=$work/other
run 3 scan --target sm_86 frame
run 0 scan --target sm_86 --environment "$work/env" frame
run 1 check --environment "$work/env" frame
run 1 prime -n --environment "$work/env" frame
run 0 tune --environment "$work/env" frame
run 0 run --environment "$work/env" --record "$work/recording.json" frame -- "$app"
run 0 export --environment "$work/env" -o "$work/frame.jwpack" frame
run 0 startup enable --print --environment "$work/env" frame
out_has "$work/env"
run 0 startup enable --print --environment "$work/env" "frame>=2"
is_wine || out_has "frame>=2" # there in XML
run 0 check --environment "$work/env" "frame>=2"
run 3 check --environment "$work/env" "frame>=3"
run 0 export --environment "$work/env" -o "$work/frame.jwpack" "frame>=2"
run 3 scan --target sm_86 --environment "$work/absent" frame
err_one_line
rm -r "$work/cache"

# Every offset of a module that the GPU's driver would take, as scan prints it, and none between.
run 0 scan --json --modules --target sm_86 "$sample"
offsets=$(python3 -c 'import json, sys; print(*[m["offset"] for m in json.load(open(sys.argv[1]))["files"][0]["modules"]])' "$out")
taken=0
for offset in $offsets; do
	run "1|3" prime -n --json --only "$offset" "$sample"
	if [[ $ended == 1 ]]; then
		json 'd["modules"] == 1'
		taken=$((taken + 1))
	fi
done
((taken == 8)) || fail "$taken offsets were taken, not 8"
# A module that is in several places is one, from wherever it is named; what is known of the files by now changes nothing.
PYTHONPATH=$cases/../../framework python3 - "$work" <<'PYTHON'
import sys
import fatbin
ptx = lambda name: fatbin.container(fatbin.entry(fatbin.PTX, 52, fatbin.ptx_payload(
    b".version 6.3\n.target sm_52\n.address_size 64\n.visible .entry %s()\n{\n\tret;\n}\n" % name)))
open(sys.argv[1] + "/twice.fatbin", "wb").write(ptx(b"twice") + ptx(b"once") + ptx(b"twice"))
open(sys.argv[1] + "/again.fatbin", "wb").write(ptx(b"longer_than_the_other_ones") + ptx(b"once"))
PYTHON
listed() { # FILE: sets `places`
	run 0 scan --json --modules --target sm_86 "$1"
	mapfile -t places < <(python3 -c 'import json, sys; print(*[m["offset"] for m in json.load(open(sys.argv[1]))["files"][0]["modules"]], sep="\n")' "$out" | tr -d '\r')
}
run 1 prime -n --json "$work/twice.fatbin" "$work/again.fatbin"
json 'd["modules"] == 3'
listed "$work/twice.fatbin"
((${#places[@]} == 3)) || fail "${#places[@]} modules"
for offset in "${places[@]}"; do
	run 1 prime -n --json --only "$offset" "$work/twice.fatbin"
	json 'd["modules"] == 1'
done
run 1 prime -n --json --only "${places[0]}" --only "${places[2]}" "$work/twice.fatbin"
json 'd["modules"] == 1'
listed "$work/again.fatbin"
run 1 prime -n --json --only "${places[1]}" "$work/twice.fatbin" "$work/again.fatbin"
json 'd["modules"] == 1'
run 3 prime -n --only 1 "$sample"
err_has "“jitwarm scan --modules --json” lists where modules begin"
run 64 scan --modules --target sm_86 "$sample"
err_has "--modules lists them with --json"

# What is said of one module is not said of the program.
first=${offsets%% *}
run 0 prime --only "$first" "$sample"
out_has "Only what --only names was compiled"
out_lacks "nothing left to compile"
run 0 prime --only "$first" "$sample"
out_has "Warm: the only module that --only names is in the cache."
run 1 check "$sample"
out_has "7 of 8 modules are cold"
rm -r "$work/cache"

# Half a command
run 64 cache
err_has "“cache” needs a second word: list, verify, prune"
run 64 startup enabel
err_has "no command is called “startup enabel”; it takes: enable, disable, status"

# A prime that has waited for another one ends with a word.
rm -rf "$work/cache" "$work/gate"
: >"$work/gate"
export SIMDRIVER_FAULT=wait:.entry SIMDRIVER_GATE=$work/gate
begin prime --no-store "$sample"
await test -e "$work/cache/.jitwarm-holder"
# shellcheck disable=SC2086
$JITWARM prime --no-store "$sample" >"$work/second.out" 2>"$work/second.err" </dev/null &
second=$!
await grep -q 'waiting for it to finish' "$work/second.err"
rm "$work/gate"
wait "$begun" || fail "the first prime ended with $?"
wait "$second" || fail "the second prime ended with $?"
grep -q 'Warm: the other run has compiled all of them.' "$work/second.out" || fail "the second prime said: $(cat "$work/second.out")"
unset SIMDRIVER_FAULT SIMDRIVER_GATE
