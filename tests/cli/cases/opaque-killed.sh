# import of an opaque pack killed at any moment: a rerun completes, and nothing is left over
with_simdriver sm_86
. "$cases/../pack-entries.sh"

for n in $(seq 1 80); do pack_entry "$work/cache" "$n" "Apr  8 202512:10:18" 86; done
printf 'index' >"$work/cache/index"
run 0 export --opaque -o a.jwpack
mkdir into
# As long as one takes here: so that kills come from the first moment to the last
began=$(date +%s%N)
run 0 import --allow-unsigned --cache into/copy a.jwpack
took=$((($(date +%s%N) - began) / 1000000 + 20))
rm -rf into/copy
partial=0
for round in $(rounds 40); do
	[[ $((round % 8)) != 1 ]] || rm -rf into/copy
	# The wrapper of the simulated driver starts it: a group of its own, of which nothing outlives the kill
	wait_ms=$((RANDOM % took + 1))
	setsid $JITWARM import -q --allow-unsigned --cache into/copy a.jwpack >/dev/null 2>&1 &
	pid=$!
	sleep "$(printf "%d.%03d" $((wait_ms / 1000)) $((wait_ms % 1000)))"
	kill -9 -- -$pid 2>/dev/null
	wait $pid 2>/dev/null
	# All or nothing of it is in its place
	[[ ! -e into/copy ]] || diff -r cache into/copy >"$out" || fail "round $round: a part of it is there"
	[[ -z $(find into -maxdepth 1 -name '*.jitwarm-*') ]] || partial=$((partial + 1))
	if [[ $((round % 4)) == 0 ]]; then
		run 0 import --allow-unsigned --cache into/copy a.jwpack
		diff -r cache into/copy >"$out" || fail "round $round: not the same directory"
		[[ $(ls -A into) == copy ]] || fail "round $round: left over: $(ls -A into)"
		rm -rf into/copy
	fi
done
printf '%s of the rounds had left something, an import took %s ms\n' "$partial" "$took"
