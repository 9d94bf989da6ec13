# Versions, inactive environments, offsets from another command's output and half a command work as typed, or the message says what to type.
differs_for WINDOWS
with_simdriver sm_86
environment "$work/env" 2.1
empty_environment "$work/other"
export VIRTUAL_ENV=$work/env

for asked in frame frame==2.1 frame==2.1.0 "frame[cuda]==2.1" "Frame[cuda] == 2.1"; do
	run 0 scan --json --target sm_86 "$asked"
	json 'len(d["files"]) == 1'
done
run 3 scan --target sm_86 frame==2.0
err_one_line
err_has "frame==2.0: version 2.1 is installed in "
for asked in "frame>=2" "frame==2.*" "frame==2.1,<3" "frame~=2.0"; do
	snapshot run 3 check --target sm_86 "$asked"
done
snapshot run 3 scan --target sm_86 fraem==2.1
# A name with a comma is one package, so that its second half is not ignored in silence.
snapshot run 3 scan --target sm_86 "frame,other"

# Each command that takes packages also takes the environment that they are in.
export VIRTUAL_ENV=$work/other
snapshot run 3 scan --target sm_86 frame
run 0 scan --target sm_86 --environment "$work/env" frame
snapshot run 1 check --environment "$work/env" frame
snapshot run 1 prime -n --environment "$work/env" frame
snapshot run 0 tune --environment "$work/env" frame
snapshot run 0 run --environment "$work/env" --record "$work/recording.json" frame -- "$app"
snapshot run 0 export --environment "$work/env" -o "$work/frame.jwpack" frame
snapshot run 0 startup enable --print --environment "$work/env" frame
snapshot run 0 startup enable --print --environment "$work/env" frame==2.1
is_wine || out_has "frame==2.1" # Wine's XML has it
run 0 check --environment "$work/env" frame==2.1
snapshot run 3 check --environment "$work/env" frame==3
snapshot run 0 export --environment "$work/env" -o "$work/frame.jwpack" frame==2.1
snapshot run 3 scan --target sm_86 --environment "$work/absent" frame
rm -r "$work/cache"

# The first word of a two-word command is an error.
snapshot run 64 cache
snapshot run 64 startup on
snapshot run 64 startup enabel

# A prime that has waited for another one says how it ended.
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
grep -q 'Warm: the other run has compiled all modules.' "$work/second.out" || fail "the second prime said: $(cat "$work/second.out")"
unset SIMDRIVER_FAULT SIMDRIVER_GATE
