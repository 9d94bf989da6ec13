# `jitwarm bake` of mutated libraries: if the loader accepts the library, it accepts the copy.
! is_wine || skip "bake writes no Windows libraries"
with_simdriver sm_86
mutate() { # LIBRARY
	run '0|1' bake -o "$work/first" "$1"
	python3 -B "$cases/../../bake/mutate.py" "$JITWARM" "$1" "$work/mutated" "${JITWARM_MUTATED:-40}" >"$out" 2>"$err" ||
		fail "mutate.py of $1 ended with $?"
	cat "$out"
}
[[ -e $sample ]] || skip "the sample framework is not built"

python3 -c 'import ctypes, sys; ctypes.CDLL(sys.argv[1])' "$sample" 2>/dev/null || skip "the library does not load alone: it wants a sanitizer's"
mutate "$sample"
