# doctor finds faults of the cache and of programs' code, which this test makes for real, and no longer finds them after their fix.
# shellcheck source=/dev/null
differs_for WINDOWS
. "$cases/../doctors.sh"
warm

# ---- the index and the entries; --fix repairs and compiles what is lacking
printf 'garbage' >"$place/cache/index"
snapshot found 1 index "$sample"
snapshot run 0 doctor --fix "$sample"
app_compiles 0
rm "$place/cache/index"
snapshot found 1 index "$sample"
says_of index evidence "will delete every entry"
snapshot run 0 doctor --fix --quiet "$sample"
app_compiles 0
entry=$(find "$place/cache" -path "$place/cache/?/?/*" -type f -size +8k | sort | head -n 1)
python3 - "$entry" <<'PYTHON'
import sys
with open(sys.argv[1], "r+b") as file:
    file.seek(-100, 2)
    byte = file.read(1)
    file.seek(-100, 2)
    file.write(bytes([byte[0] ^ 1]))
PYTHON
snapshot found 1 "damaged cold" "$sample"
snapshot run 0 doctor --fix --json "$sample"
app_compiles 0
# Entries are evicted, made by another driver, or deleted: the evidence says which.
rm "$entry"
snapshot found 1 cold "$sample"
run 0 doctor --fix --quiet "$sample"
app_compiles 0

# ---- code that does not run here, and code that a newer driver runs
printf '.version 7.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n' >"$place/newer.ptx"
snapshot found 2 no-code "$place/newer.ptx"
snapshot run 2 doctor "$place/newer.ptx"
if ! is_wine; then
	cp "$place/newer.ptx" "$place/"$'a\n 9  forged: b.ptx'
	found 2 no-code "$place/"$'a\n 9  forged: b.ptx'
	snapshot run 2 doctor "$place/"$'a\n 9  forged: b.ptx'
	! grep -q '^ 9  forged' "$out" || fail "a name made a line of its own"
	cp "$sample" "$place/it's \$(touch x).so"
	rm -rf "$place/cache"
	snapshot run 1 doctor --no-probe "$place/it's \$(touch x).so"
	warm
fi
printf '.version 9.0\n.target sm_50\n.address_size 64\n.visible .entry k() { ret; }\n' >"$place/isa.ptx"
snapshot found 2 driver-old "$place/isa.ptx"
says_of driver-old fix "install driver 580 (CUDA 13.0)"
# Data-centre GPUs, and no other GPUs, have another way to a newer driver: NVIDIA's package.
for gpus in sm_70 sm_90 sm_86 sm_89,sm_90 sm_121 sm_87; do
	(JITWARM=$program && with_simdriver $gpus && CUDA_CACHE_PATH=$place/cache run "1|2" doctor --no-probe --json "$place/isa.ptx" && cp "$out" "$place/said") || exit 1
	cp "$place/said" "$out"
	compat="or keep this one and install cuda-compat-13-0"
	case $gpus in
	sm_70 | sm_90) if is_wine; then json "'cuda-compat' not in str(d)"; else says_of driver-old fix "$compat"; fi ;;
	*) json "'cuda-compat' not in str(d)" ;;
	esac
done
found 2 no-code "$place/newer.ptx" "$sample"
rm -rf "$place/cache"
found 1 "no-code cold" "$place/newer.ptx" "$sample"
warm

# ---- no GPU
if ! is_wine; then
	(export CUDA_VISIBLE_DEVICES=; snapshot found 2 no-gpu "$sample") || exit 1
	says_of no-gpu fix "unset CUDA_VISIBLE_DEVICES"
	(export CUDA_VISIBLE_DEVICES=0 SIMDRIVER_INIT=803; found 2 no-gpu "$sample") || exit 1
	says_of no-gpu fix "restart the machine"
	(JITWARM=$program JITWARM_PCI_DEVICES='' snapshot found 2 no-gpu "$sample") || exit 1
fi

