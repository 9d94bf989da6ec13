# On a machine without NVIDIA's driver library, other traces of the driver and of GPUs decide which remedy is named.
is_wine && skip "nvcuda.dll is always there under Wine"
export JITWARM_SYSTEM_ROOT=$work/root JITWARM_PCI_DEVICES=
mkdir -p "$work/root/dev" "$work/root/proc/sys/kernel"
run "0|2" status
grep -q "no NVIDIA driver: " "$out" || skip "this machine has the driver"
out_lacks "; "

# The driver says nothing of a file that cannot be read.
sample=$(dirname "$(dirname "${JITWARM##* }")")/tests/framework/libsample_framework.so
head -c 5000 "$sample" >cut.so
run 3 scan cut.so
err_has "cut.so: the file is cut off"
err_one_line
run "0|2" scan "$sample"
err_has ": the output shows only the contents of the files; “--target "
# Who pipes a text into doctor without “-” sees it; a job whose standard input is a pipe does not.
for both in "--both 80" 80; do
	# shellcheck disable=SC2086
	echo text | TERM=xterm timeout 200 python3 "$cases/../on-terminal.py" $both $JITWARM doctor >"$work/shown" 2>&1 || true
	[[ $(grep -c "“jitwarm doctor -” reads the text that is piped into it" "$work/shown") == "$([[ $both == 80 ]] && echo 0 || echo 1)" ]] ||
		fail "$both: $(cat "$work/shown")"
done
# A mistyped word is reported before the missing driver.
run 64 prime --allow-unsigned "$work"
# The command that which names without a GPU has an answer.
for asked in "--platform windows torch" "--json --driver 550 torch==2.7.1"; do
	snapshot run 64 which $asked
	command=$(sed -n 's/.*for example: “jitwarm \(.*\)”; see.*/\1/p' "$err")
	snapshot run "0|1|2" $command
done
run 2 prime --store "$work" "$work"
run 0 run -- true
err_has "no program can use a GPU here: no NVIDIA driver: "

# jitwarm knows the modules that a GPU's driver would compile without a driver.
(
	with_simdriver sm_86
	environment "$work/coded" 1.0 && empty_environment "$work/active"
	mkdir "$work/place" && cp "$sample" "$work/place"
	JITWARM=${JITWARM##* }
	run 1 find --target sm_86 "$work/place"
	out_has "up to 8 modules"
	snapshot run 2 find --target sm_86 --driver 12.4 "$work/place"
) || exit 1

# find names the packages with device code, frameworks first, and no environment that only has files of such a kind.
many=$work/environments/many
environment "$many" 1.0
cp "$sample" "$work/k.so"
for name in torch torchvision aaa-cublas; do
	dist_info "$(site_of "$many")" $name 2.0 "${name//-/_}/k.so"
	cp "$sample" "$(site_of "$many")/${name//-/_}/k.so"
done
empty_environment "$work/environments/plain"
dist_info "$(site_of "$work/environments/plain")" distlib 0.3 distlib/t64.exe
printf MZ >"$(site_of "$work/environments/plain")/distlib/t64.exe"
cp -r "$work/place" "$work/environments/place"
run 2 find "$work/environments" "$work/environments/place"
out_has "environments/many   torch 2.0, torchvision 2.0, aaa-cublas 2.0, frame 1.0"
out_has "environments/place  1 file" "no device code in 1 other environment or program"
out_lacks "plain"
run 2 find --json "$work/environments/many"
json 'd["places"][0]["packages"] == ["torch 2.0", "torchvision 2.0", "aaa-cublas 2.0", "frame 1.0"] and d["places"][0]["images"] == 4'

JITWARM_PCI_DEVICES=10de:2484@0000:01:00.0 snapshot run 2 status
# The next step has an answer: an environment without device code is not scanned.
run 2 status -e "$work/active"
out_has "Next    see which versions of a package run on another GPU: jitwarm which --target rtx4090 torch"
snapshot run 2 status -e "$work/coded"
run 2 status -e "$work/active"
out_lacks "Python  "
snapshot run 2 doctor -e "$work/active"
run 2 doctor -e "$work/coded"
out_has "here, “jitwarm scan --target rtx4090 --environment $work/coded” shows what it would compile"
JITWARM_PCI_DEVICES=10de:2484@0000:01:00.0 snapshot run 2 status -e "$work/coded"
# Each example names the GPU that is here and a driver that runs it, and no other GPU.
: >"$work/x.so"
for each in 2484:sm_86:550.163.01 2b85:sm_120:580 1021:sm_35:470.256.02 ffff:rtx4090:550.163.01; do
	IFS=: read -r device gpu driver <<<"$each"
	export JITWARM_PCI_DEVICES=10de:$device@0000:01:00.0
	snapshot run "1|2" doctor "$work/x.so"
	run 2 prime "$work/x.so"
	err_has "jitwarm make --target $gpu --driver $driver"
	snapshot run 2 check "$work/x.so"
	snapshot run 0 tune
done
# Without a name, the advice names the environment, not a package that may be missing.
snapshot run 2 doctor
snapshot run 2 prime
err_has " -o FILE.jwpack”"
unset JITWARM_PCI_DEVICES
touch "$work/root/dev/nvidiactl"
snapshot run 2 status
snapshot run 2 status --json
json '"--gpus all" in d["why_no_gpu"]'
snapshot run 2 prime "$work"
printf '5.15.153.1-microsoft-standard-WSL2\n' >"$work/root/proc/sys/kernel/osrelease"
snapshot run 2 status

# For a driver whose entry names are unknown, import says that it cannot judge the entries.
. "$cases/../pack-entries.sh"
pack_entry "$work/made" 1 "Apr  8 202512:10:18" 86
run 0 export --all --cache "$work/made" -o "$work/a.jwpack"
# Only root makes an index that all accounts may write to.
differs_for ACCOUNT snapshot run 0 import --allow-unsigned --cache "$work/other" "$work/a.jwpack"
mkdir "$work/unknown" && printf 'no driver' >"$work/unknown/libcuda.so.1"
LD_LIBRARY_PATH=$work/unknown differs_for ACCOUNT snapshot run 0 import --allow-unsigned --cache "$work/another" "$work/a.jwpack"
