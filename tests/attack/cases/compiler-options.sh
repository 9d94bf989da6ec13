# The options in an account's library make no compiler of root's read or write a file: neither the driver's nor ptxas, also if the entry that
# names the file is not the one that the GPU uses.
. "$cases/../lib.sh"
with_simdriver sm_86
export SIMDRIVER_LOG=$work/events
# with OPTIONS: writes $home/lib.so, the sample with these options, of at most 20 bytes, in place of --generate-line-info
with() {
	python3 - "$sample" "$home/lib.so" "$1" <<'P'
import sys
content, old = open(sys.argv[1], "rb").read(), b"--generate-line-info"
assert old in content
open(sys.argv[2], "wb").write(content.replace(old, sys.argv[3].encode().ljust(len(old))[: len(old)]))
P
	rm -rf "$CUDA_CACHE_PATH" "$SIMDRIVER_LOG"
}
compiled() { grep -c ' compile ' "$SIMDRIVER_LOG"; }
# The first run also compiles a module of jitwarm's own.
for _ in 1 2; do
	with --generate-line-info
	run 0 prime --quiet "$home/lib.so"
done
all=$(compiled)
for options in "-optf /etc/o" "--options-file=o" "-O words -v" "-v words" "-annotate words" "--compiler-annotations words" "-unknown-to-us"; do
	with "$options"
	run 1 prime "$home/lib.so"
	[[ $(cat "$out" "$err") == *"the module's options may name files: "* ]] || fail "$options: $(cat "$out" "$err")"
	(($(compiled) < all)) || fail "$options: the driver got them"
done
with "-v -lineinfo"
run 0 prime --quiet "$home/lib.so"
[[ $(compiled) == "$all" ]] || fail "harmless options: $(compiled) of $all"
# ptxas gets none of them either, and runs in no folder of the account.
cat >"$open/ptxas" <<END
#!/bin/sh
echo "\$(pwd -P) \$*" >>"$work/ran"
echo "ptxas: NVIDIA (R) Ptx optimizing assembler, release 12.4"
[ "\$1" = --version ]
END
chmod 755 "$open/ptxas"
with "-O words -v"
(cd "$home" && run '1|2|3' make --target sm_86 --driver 550.163.01 --ptxas "$open/ptxas" -o "$work/made/" lib.so) || exit 1
grep -q 'arch=sm_86' "$work/ran" || fail "ptxas compiled nothing"
! grep -e "^$home" -e words "$work/ran" || fail "ptxas got the account's files"
# A few bytes of PTX let ptxas write gigabytes.
cat >"$open/ptxas" <<END
#!/bin/sh
echo "ptxas: NVIDIA (R) Ptx optimizing assembler, release 12.4"
[ "\$1" = --version ] || { truncate -s 1G half && echo half && truncate -s 1100M large && echo large; } >>"$work/grown"
END
run '1|2|3' make --target sm_86 --driver 550.163.01 --ptxas "$open/ptxas" -o "$work/made/" "$sample"
[[ $(sort -u "$work/grown") == half ]] || fail "ptxas wrote: $(cat "$work/grown")"
