# A machine without NVIDIA's driver library: what shows of the driver and of GPUs decides which way out is named.
is_wine && skip "nvcuda.dll is always there under Wine"
export JITWARM_SYSTEM_ROOT=$work/root JITWARM_PCI_DEVICES=
mkdir -p "$work/root/dev" "$work/root/proc/sys/kernel"
run "0|2" status
grep -q "no NVIDIA driver found" "$out" || skip "this machine has the driver"
out_lacks "; "

# What is typed wrongly is said first.
if has_command push; then
	for wrong in "prime --share nosuch://x" "prime --share s3://" "prime --share https://" "prime --share https://host/a?b" "prime --share s3://a/../b" \
		"prime --share-unsigned" "prime --share https://a/b --target sm_86" "pull host/x" "pull oci://" "push oci://"; do
		run 64 $wrong "$work"
	done
fi
run 2 prime --share "$work" "$work"

# What a GPU's driver would compile is known without one.
(
	with_simdriver sm_86
	mkdir "$work/place" && cp "$sample" "$work/place"
	JITWARM=${JITWARM##* }
	run 1 find --target sm_86 "$work/place"
	out_has "8 modules to compile"
	run 2 find --target sm_86 --driver 12.4 "$work/place"
	err_has "“jitwarm check” says why"
) || exit 1

JITWARM_PCI_DEVICES=10de:2484@0000:01:00.0 run 2 status
out_has "; but an NVIDIA GPU is here: install NVIDIA's driver"
unset JITWARM_PCI_DEVICES
touch "$work/root/dev/nvidiactl"
run 2 status
out_has "; but the kernel's part of the driver is here: a container needs --gpus all and NVIDIA_DRIVER_CAPABILITIES=compute,utility"
run 2 status --json
json '"NVIDIA_DRIVER_CAPABILITIES" in d["why_no_gpu"]'
run 2 prime "$work"
err_has "NVIDIA_DRIVER_CAPABILITIES"
printf '5.15.153.1-microsoft-standard-WSL2\n' >"$work/root/proc/sys/kernel/osrelease"
run 2 status
out_has "; in WSL it comes with the driver of Windows"
