# jitwarm bake of mutated libraries: what the loader took of the library, it takes of the copy.
with_simdriver sm_86
mutate() { # LIBRARY
	run '0|1' bake -o "$work/first" "$1"
	python3 -B "$cases/../../bake/mutate.py" "$JITWARM" "$1" "$work/mutated" "${JITWARM_MUTATED:-40}" >"$out" 2>"$err" ||
		fail "mutate.py of $1 ended with $?"
	cat "$out"
}
[[ -e $sample ]] || skip "the sample framework is not built"

# A DLL: Wine's loader, or what tests/bake/pe.py knows of loaders
if is_wine; then
	PE_LOADER="$runner $build/tests/windows/load_each.exe" mutate "$sample"
	exit
fi
compiler=x86_64-w64-mingw32-gcc
if command -v $compiler >/dev/null; then
	$compiler -w -O1 -s -shared -I "$cases/../../framework" '-DSECTION_FATBIN=".nv_fatb"' '-DSECTION_SEGMENT=".nvFatBi"' \
		'-DSECTION_RELOCATABLE="__nv_rel"' '-DSAMPLE_EXPORT=__declspec(dllexport)' -o "$work/sample.dll" "$build/tests/framework/sample_data.c" ||
		fail "$compiler"
	mutate "$work/sample.dll"
fi
python3 -c 'import ctypes, sys; ctypes.CDLL(sys.argv[1])' "$sample" 2>/dev/null || skip "the library does not load alone: it wants a sanitizer's"
mutate "$sample"
