# jitwarm bake of mutated libraries: what the loader took of the library, it takes of the copy.
! is_wine || skip "the loader is that of Linux"
with_simdriver sm_86
library=$build/tests/framework/libsample_framework.so
[[ -e $library ]] || skip "the sample framework is not built"
python3 -c 'import ctypes, sys; ctypes.CDLL(sys.argv[1])' "$library" 2>/dev/null || skip "the library does not load alone: it wants a sanitizer's"
run '0|1' bake -o "$work/first" "$library"
python3 -B "$cases/../../bake/mutate.py" "$JITWARM" "$library" "$work/mutated" "${JITWARM_MUTATED:-60}" >"$out" 2>"$err" ||
	fail "mutate.py ended with $?"
cat "$out"
