# Whatever a library makes NVIDIA's compiler write, the kernel lets root's workers, and the compilers that they start, change no file outside
# their own folder (Landlock). The simulated driver and this ptxas write what the real ones write if options say so.
. "$cases/../lib.sh"
python3 -c 'import ctypes, sys; sys.exit(ctypes.CDLL(None).syscall(444, None, 0, 1) < 2)' || skip "the kernel has no Landlock, or an old one"
with_simdriver sm_86
# Workers may write below /dev/shm, where $open may be.
treasure=$(mktemp -d /var/tmp/jitwarm-confined.XXXXXX)
trap 'rm -rf "$open" "$treasure"' EXIT
mkdir "$treasure/folder"
printf precious >"$treasure/file"
cp "$sample" "$work/lib.so"
export HOME=$treasure JITWARM_STATE=$work/state SIMDRIVER_FAULT=write:sample_small
printf precious >"$treasure/victim"
before=$(state_of)
run 0 prime --cache "$work/cache" "$work/lib.so"
(($(cached "$work/cache") > 0)) || fail "the worker stored nothing"
untouched
run 0 bake -o "$work/baked" "$work/lib.so"
untouched
unset SIMDRIVER_FAULT
cat >"$open/ptxas" <<END
#!/bin/sh
echo "ptxas: NVIDIA (R) Ptx optimizing assembler, release 12.4"
[ "\$1" = --version ] && exit
touch "\$TMPDIR/allowed" && echo allowed
touch "$treasure/new"
mkdir "$treasure/folder/new" || rm "$treasure/file" || python3 -c "import os; os.truncate('$treasure/file', 0)"
exit 1
END
chmod 755 "$open/ptxas"
run '1|2|3' make --target sm_86 --driver 550.163.01 --ptxas "$open/ptxas" -o "$work/made/" "$work/lib.so"
err_has "cannot touch '$treasure/new'"
err_has allowed
untouched
# doctor's probe asks whether the driver stores code in root's own cache.
mkdir "$treasure/home"
(unset CUDA_CACHE_PATH && HOME=$treasure/home run '0|1|2' doctor && out_has "the driver stores compiled code in its cache") || exit 1
