# --progress json prints objects up to the last one, whose `current` is the file, in each command that has it, and never blocks the work.
# tests/elsewhere has the commands that use a package index.
with_simdriver sm_86
objects() { # ARGUMENT…
	rm -rf "$work/cache"
	run "0|1" "$@"
	python3 -c 'import json, re, sys
lines = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8") if line.startswith("{")]
names = {re.split(r"[\\/]", line["current"])[-1] for line in lines if "current" in line}
assert lines and lines[-1]["done"] == lines[-1]["total"] and names == {re.split("/", sys.argv[2])[-1]}, lines
' "$err" "$sample" || fail "the objects of $*"
}
objects prime --quiet --progress json "$sample"
objects prime --progress json --budget-time 5m "$sample"
if ! is_wine; then
	mkdir "$work/12.4"
	# shellcheck disable=SC2016
	printf '#!/bin/sh\n[ "$1" != --version ] || { echo "ptxas: NVIDIA (R) Ptx optimizing assembler"; echo "Cuda compilation tools, release 12.4, V12.4.1"; exit; }\nsleep "${PTXAS_SLEEP-0}"; echo >>%q; exit 3\n' "$work/asked" >"$work/12.4/ptxas"
	chmod +x "$work/12.4/ptxas"
	making="make --target sm_86 --driver 550.163.01 --ptxas $work/12.4/ptxas -o $work/made.jwpack"
	# shellcheck disable=SC2086
	snapshot objects $making --progress json "$sample"
	mkdir -p "$work/root/proc/driver/nvidia"
	echo "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.309.01  Mon Jan" >"$work/root/proc/driver/nvidia/version"
	varies run "--help" # cli-help has these texts
	run 0 --help
	have=
	for command in $(sed -nE 's/^  ([a-z]+( [a-z]+)?)  .*/\1/p' "$out" | tr ' ' /); do
		snapshot run 0 ${command/\// } --help --all
		! says "$out" --progress || have+=" $command"
	done
	[[ $have == " prime scan which make lint compiler/fetch" ]] || fail "commands with --progress:$have"
fi

# stalled SIGNAL ARGUMENT…: nobody reads the output. With SIGNAL 0 everything is compiled all the same, objects are dropped, and the last
# one waits; another signal ends the run.
stalled() {
	rm -rf "$work/cache" "$work/asked"
	mkdir "$work/cache"
	python3 - "$work/cache" "$@" <<'P' || fail "nobody reads: $*"
import fcntl, glob, json, os, subprocess, sys, time
cache, number, command = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
ours, theirs = os.pipe()
fcntl.fcntl(theirs, fcntl.F_SETFL, os.O_NONBLOCK)
try:
    while os.write(theirs, b"#" * 1023 + b"\n"):
        pass
except BlockingIOError:
    fcntl.fcntl(theirs, fcntl.F_SETFL, 0)
run = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=theirs)
os.close(theirs)
def await_that(what, is_so):
    end = time.time() + 180
    while not is_so():
        if time.time() > end:
            run.kill()
            sys.exit(f"in vain: {what}")
        time.sleep(0.02)
entries = lambda: sum(os.path.isfile(path) for path in glob.glob(cache + "/?/?/*"))
if number:
    time.sleep(1)
    run.send_signal(number)
    await_that("the end", lambda: run.poll() is not None)
    sys.exit(run.returncode != 128 + number)
await_that("the entries", lambda: entries() >= 7 or "make" in command and os.path.exists("asked") and os.path.getsize("asked") >= 7)
with os.fdopen(ours) as pipe:
    lines = [json.loads(line) for line in pipe.read().splitlines() if line.startswith("{")]
sys.exit(run.wait() > 1 or not lines or lines[-1]["done"] != lines[-1]["total"])
P
}
if ! is_wine; then
	for command in prime "$making"; do
		# shellcheck disable=SC2086
		stalled 0 $JITWARM $command --progress json "$sample"
		rm -rf "$work/stalled"
		# shellcheck disable=SC2086
		SIMDRIVER_COST=4000 PTXAS_SLEEP=4 stalled 2 $JITWARM $command -j 1 --progress json "$sample"
	done
	# shellcheck disable=SC2086
	SIMDRIVER_COST=4000 stalled 15 $JITWARM prime -j 1 --progress json "$sample"
fi

# The last object counts what failed.
rm -rf "$work/cache"
SIMDRIVER_FAULT=error:sample_choice snapshot run 2 prime --progress json "$sample"
[[ $(grep '^{' "$err" | tail -n 1) == *'"failed":1,'* ]] || fail "no failed module in the last object"
