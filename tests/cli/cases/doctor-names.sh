# In doctor's report, no name can look like something else, and more names than fit in a command are reported.
differs_for WINDOWS
with_simdriver sm_86
cd "$work" || exit 1
export CUDA_CACHE_PATH=$work/cache

cp "$sample" ./-lib.so
snapshot run 1 doctor --no-probe -- -lib.so
snapshot run "0|1" doctor --no-probe --fix --json -- -lib.so

rm -rf "$CUDA_CACHE_PATH"
names=()
for i in {1..45}; do
	cp "$sample" "$i.so"
	names+=("$i.so")
done
snapshot run 1 doctor --no-probe --json "${names[@]}"
run 1 doctor --no-probe --json "${names[@]:0:38}"
json 'next(f["command"] for f in d["findings"] if f["id"] == "cold")[1:] == [f"{i}.so" for i in range(1, 39)]'

if ! is_wine; then
	name=$'a\n 9  forged: b.so'
	cp "$sample" "$name"
	snapshot run 1 doctor --no-probe "$name"
	! grep -q '^ 9  forged' "$out" || fail "a name made a line of its own"
	run 1 doctor --no-probe --report "$name"
	! grep -q '^ 9  forged' "$out" || fail "a name made a line of its own in the report"
	mkdir -p "Acme & Sons/earlier (1)"
	cp "$sample" "Acme & Sons/earlier (1)/x.so"
	HOME=$work/Acme LOGNAME=earlier snapshot run 1 doctor --no-probe --report "$work/Acme & Sons/earlier (1)/x.so"
	out_lacks Acme
	out_lacks earlier
	# A folder or a name of one letter, or within a word, is not taken for an account's name.
	HOME=/ USER=earl USERNAME=x LOGNAME=ons differs_for ACCOUNT snapshot run 1 doctor --no-probe --report "$work/Acme & Sons/earlier (1)/x.so"
	out_lacks "~"
fi

# An absent file is reported as absent.
rm -rf "$CUDA_CACHE_PATH"
CUDA_CACHE_PATH=$(mktemp -d /var/tmp/jitwarm-doctor.XXXXXX) || skip "no /var/tmp"
trap 'rm -rf "$CUDA_CACHE_PATH"' EXIT
run 0 prime --quiet "$sample"
run 0 doctor --no-probe "$sample"
out_has "All is well"
snapshot run 1 doctor --no-probe "$sample" "$work/lacking.so"
out_lacks "All is well"
out_has "Nothing found in the readable files"
err_has "lacking.so"
