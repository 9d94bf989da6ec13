# GPUs and drivers are known by the names that people use, impossible pairs are refused, and this machine's GPU is known before it was ever
# asked.
differs_for WINDOWS
mkdir "$work/lib"
printf '.version 7.0\n.target sm_50\n.address_size 64\n.visible .entry k()\n{\n\tret;\n}\n' >"$work/lib/a.ptx"
seen() { json "list(d['files'][0]['verdicts']) == '$1'.split()"; }

while IFS=: read -r asked wanted; do
	run 0 scan --json --target "$asked" lib
	seen "$wanted"
done <<'CASES'
rtx4090:sm_89
RTX 4090:sm_89
h100:sm_90
a6000:sm_86
sm86:sm_86
8.6:sm_86
sm_86,sm_89:sm_86 sm_89
NVIDIA GeForce RTX 3070 Ti Laptop GPU:sm_86
CASES
run 0 scan --json --target all --driver 12.4 lib
seen "sm_50 sm_52 sm_60 sm_61 sm_70 sm_75 sm_80 sm_86 sm_89 sm_90"
run 64 scan --target "rtx 4091" lib
err_one_line
err_has "did you mean rtx4090?"
if ! is_wine; then # Wine always has nvcuda.dll
	snapshot run 64 scan --target native lib
	snapshot run 64 export --arch native
	run 0 scan lib
	err_has "“--target rtx4090” shows what the driver would compile for that GPU"
fi

for driver in 580 580.95.05 12.8; do
	run 0 scan --json --target rtx4090 --driver $driver lib
	json 'd["files"][0]["verdicts"]["sm_89"]["jit"] == 1'
done
snapshot run 2 check --target rtx4090 --driver 580 --cache cache lib
out_lacks "too new"
snapshot run 2 make --target rtx4090 --driver 580.1.1 -o x.jwpack lib

# Verdicts do not need names of entries: a dry run goes on, and says that it cannot recognise anything warm.
for driver in 580 580.95.05 12.8; do
	run 2 make -n --json --target rtx4090 --driver $driver lib
	json 'd["modules"] == d["cold"] == 1'
	err_has ", and cannot tell which modules are warm; “jitwarm make” needs the driver's library or profile (--driver FILE)"
done
run 1 make -n --target rtx4090 --driver 550.163.01 lib
out_has "1 of 1 module to compile"
out_lacks "The cache limit is" # this machine's
snapshot run 1 make -n --json --target rtx4090 --driver 550.163.01 lib
err_lacks "unknown"
snapshot run 64 make --target rtx4090 --driver 550.163.01 lib
snapshot run 2 make --target rtx4090 --driver 580 -o x.jwpack lib
[[ ! -e x.jwpack ]] || fail "a pack was written"

# Without a GPU, each command that can go on says how.
if ! is_wine; then
	snapshot run 2 check lib
	run 2 prime -n lib
	err_has "“jitwarm make --target rtx4090 --driver 550.163.01 --fetch -o FILE.jwpack lib”"
	cp -r lib wheel.whl
	# The examples are for the GPU that was named.
	run 2 prime -n --gpu rtx5090 lib wheel.whl
	err_has "“jitwarm make --target sm_120 --driver 580.159.04 --fetch -o FILE.jwpack lib wheel.whl”"
	rm -r wheel.whl
	snapshot run 64 make -o "a b.jwpack" lib --target rtx4090
	run 2 prime lib
	err_has "--target rtx4090"
	snapshot run 0 tune lib
fi

# For PTX that is too new, the report names the driver that reads it.
sed 's/version 7.0/version 9.0/' lib/a.ptx >"$work/new.ptx"
run 2 scan --target sm_86 --driver 12.8 new.ptx
out_has "1 piece of code is unusable (too new: it needs driver 580 (CUDA 13.0) or newer)"
for time in first second; do
	snapshot run 2 check --target sm_86 --driver 550.163.01 new.ptx
done
sed 's/version 7.0/version 9.9/' lib/a.ptx >"$work/newest.ptx"
snapshot run 2 check --target sm_86 --driver 550.163.01 newest.ptx
out_lacks "needs driver"

# These pairs do not exist.
for pair in sm_120:550 sm_52:590 sm_70:590 sm_80:440; do
	snapshot run 2 scan --target "${pair%:*}" --driver "${pair#*:}" lib
	grep -qE "does not run ${pair%:*}|no longer runs ${pair%:*}" "$err" || fail "$(cat "$err")"
	run 2 check --target "${pair%:*}" --driver "${pair#*:}" lib
	err_one_line
	run 2 make --target "${pair%:*}" --driver "${pair#*:}" -o x.jwpack lib
	grep -qE "does not run ${pair%:*}|no longer runs ${pair%:*}" "$err" || fail "$(cat "$err")"
done
run 64 check --target sm_999 lib
snapshot run 2 check --json --target sm_120 --driver 550.163.01 lib

# jitwarm knows the GPU by its PCI device id before the driver was asked.
. "$cases/../pack-entries.sh"
pack_entry "$work/made" 1 "Feb 29 202423:59:58" 89
snapshot run 0 export --all --cache "$work/made" --arch "RTX 40" -o "$work/ada.jwpack"
with_simdriver sm_86

# This machine's GPU, named by the user, means this machine, also before the driver was ever asked: the answer, times and next step are the
# same.
rm -rf "$work/state"
run 1 check --target sm_86 "$sample"
named=$(cat "$out")
run 1 check "$sample"
[[ $(cat "$out") == "$named" ]] || fail "not what --target sm_86 says: $named"
out_has "Next: jitwarm prime $(native "$sample")"
state "$work/state" put speed '{"schema":"jitwarm.speed/4","rows":[{"release":1,"cuda":1,"model_ms":1e5,"real_ms":8e5}]}'
run 1 check --json "$sample"
cp "$out" "$work/unnamed"
run 1 check --json --target 8.6 "$sample"
diff -u "$work/unnamed" "$out" || fail "another answer for this machine's GPU by name"
# Several machines share no first start: check prints the longest of them, while prime has the work for all.
for command in check "make -n"; do
	snapshot run 1 $command --json --target sm_89,sm_90 --driver 550.163.01 "$sample"
	json 'd["forecast"]["start_seconds"]["likely"] == max(g["forecast"]["start_seconds"]["likely"] for g in d["gpus"]) < d["forecast"]["prime_seconds"]["likely"] * d["forecast"]["workers"]'
done
run 1 find --json --target sm_89 --driver 550.163.01 lib
start=$(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["places"][0]["start_seconds"])' "$out")
run 1 find --json --target sm_89,sm_90 --driver 550.163.01 lib
json 'str(d["places"][0]["start_seconds"]) == "'"$start"'"'
# Other GPUs beside it, and another driver, do not mean this machine.
snapshot run 1 check --target sm_86,sm_89 "$sample"
run 1 check --target sm_86 --driver 535.309.01 "$sample"
out_has "Next, unless that machine has imported a pack: jitwarm make --target sm_86 --driver 535.309.01"
run 0 prime --no-store "$sample"
run 0 check --target sm_86 "$sample"
rm -rf "$work/cache" "$work/state"
snapshot run 0 scan --json lib
seen sm_86
run 0 scan --json --target native lib
seen sm_86
# Only the entries for sm_86, not those for sm_89, are for a GPU here.
pack_entry "$work/both" 1 "Feb 29 202423:59:58" 89
pack_entry "$work/both" 2 "Feb 29 202423:59:58" 86
snapshot run 0 export --all --cache "$work/both" --arch native --json -o "$work/native.jwpack"
snapshot run 2 import --allow-unsigned "$work/ada.jwpack"
! state "$work/state" get devices >/dev/null || fail "the driver was asked"
run "0|2" status
run 2 import --allow-unsigned "$work/ada.jwpack"
out_has "architecture sm_89 (this machine has sm_86)"

# A driver that is too old for the GPU lists no GPU, and does not say why.
if ! is_wine; then
	(
		JITWARM="${JITWARM% *} env SIMDRIVER_GPUS= JITWARM_PCI_DEVICES=10de:2b85@0000:01:00.0 ${JITWARM##* }"
		export JITWARM_STATE=$work/older
		for command in status "check lib" "prime lib" "prime -n lib" "scan lib"; do
			snapshot run 2 $command
			cat "$out" >>"$err"
			err_has "does not run sm_120, which needs driver 570 (CUDA 12.8) or newer"
		done
		snapshot run 2 doctor --no-probe lib
	) || exit 1
fi

# If the id is unknown, or devices may be hidden, the driver is asked once.
state "$work/state" remove devices
CUDA_VISIBLE_DEVICES=0 run 2 import --allow-unsigned "$work/ada.jwpack"
state "$work/state" get devices >/dev/null || fail "the driver was not asked"
run 2 check --target sm_120 lib
err_has "does not run sm_120, which needs driver 570 (CUDA 12.8) or newer"
