# `jitwarm bake` refuses conda packages and says what to do instead.
with_simdriver sm_86
for name in sample-1.0-h1_0.conda SAMPLE.CONDA; do
	printf 'BZh91AY&SY\1' >"$work/$name"
	run 2 bake -o "$work/out" "$work/$name"
	out_has "run “jitwarm bake” in the build step of its recipe"
	[[ ! -e $work/out ]] || fail "left behind: $(find "$work/out")"
done
