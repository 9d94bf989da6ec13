# Ctrl-C ends bake while a module is compiled, and while the driver links. No copy is made, and the next run makes it.
with_simdriver sm_86
! is_wine || skip "Wine's kill sends no Ctrl-C"
name=$(basename "$sample")
lock=$CUDA_CACHE_PATH/.jitwarm-lock
# stopped TEXT CONDITION…: Ctrl-C for a bake whose driver waits at a module with this text, once the condition holds
stopped() {
	local waits_at=$1 baking
	shift
	touch "$work/gate"
	# shellcheck disable=SC2086
	SIMDRIVER_FAULT=wait:$waits_at SIMDRIVER_GATE=$work/gate timeout --foreground -s KILL 60 $JITWARM bake -j 1 -o "$work/out" "$sample" >"$out" 2>"$err" </dev/null &
	baking=$!
	await "$@"
	sleep 0.5
	kill -INT $baking
	ended=0
	wait $baking || ended=$?
	[[ -e $work/gate ]] || fail "the driver went on"
	rm "$work/gate"
	[[ $ended == 130 ]] || fail "$waits_at: status $ended after Ctrl-C"
	[[ -z $(find "$work/out" -type f 2>/dev/null) ]] || fail "left: $(find "$work/out")"
	[[ ! -e $lock ]] || fail "the cache's lock is left"
}
stopped sample_choice test -e "$lock"
primed() { [[ ! -e $lock && -n $(find "$CUDA_CACHE_PATH" -path '*/?/?/*' -type f) ]]; }
stopped cuLinkComplete primed
run '0|1' bake -o "$work/out" "$sample"
[[ -s $work/out/$name ]] || fail "no copy"
