# When a prime that carries entries over is killed at any moment, every entry is whole, and the next run carries the rest over.
with_simdriver sm_86
. "$cases/../drivers.sh"
export JITWARM_STORE=0

driver_535_216
run 0 prime "$sample"
driver_535_309
run "0|2" status
cp -r "$work/cache" "$work/former"
varies run . && varies tree . # killed at any moment
for round in $(seq 6); do
	rm -rf "$work/cache" && cp -r "$work/former" "$work/cache"
	begin prime "$sample"
	sleep "$(moment 250)"
	kill_begun
	run 0 cache verify --cache "$work/cache" --json
	json 'd["damaged"] == 0'
	run 0 prime "$sample" --json
	json 'd["compiled"] == 0 and d["warm"] + d["restored"] == 8'
	run 0 check "$sample"
done
