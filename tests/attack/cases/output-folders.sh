# Below a folder that root fills (bake -o DIR, make -o DIR/), root follows no symlink, and changes nothing in a folder of another account.
. "$cases/../lib.sh"
umask 022
with_simdriver sm_86
chmod 755 "$open"
mkdir -p "$home/input/sub/deep"
cp "$sample" "$home/input/flat.so"
cp "$sample" "$home/input/sub/deep/$(basename "$sample")"
chown -R $mallory "$home/input"
chmod -R a+rX "$home"
library=sub/deep/$(basename "$sample") filled=$open/filled
roots_in_home() { find "$home" -user 0; }

# Without an attack, also in a folder such as /tmp, and again over the first copies
for mode in 755 1777; do
	rm -rf "$filled" && mkdir -m $mode "$filled"
	run 0 bake -o "$filled" "$home/input"
	run 0 bake -o "$filled" "$home/input"
	[[ $(stat -c '%u %a' "$filled/$library" "$filled/sub/deep") == $'0 755\n0 755' ]] || fail "$(ls -lR "$filled")"
done

# attack COMMAND…: the folder that the last argument but one names was attacked; root's own folder is filled, not the account's
attack() {
	run '1|2|3' "$@"
	untouched
	[[ -z $(roots_in_home) ]] || fail "$*: root wrote to the account's folder: $(roots_in_home)"
	[[ -z $(find "$filled" -user $mallory -type d -exec find {} -mindepth 1 -user 0 \;) ]] || fail "$*: in the account's folder: $(ls -lR "$filled")"
}
place() { # place MODE PATH TARGET: an empty folder of root's in which PATH leads to TARGET
	rm -rf "$filled" && mkdir -m "$1" "$filled"
	mkdir -p "$filled/$(dirname "$2")" && ln -s "$3" "$filled/$2"
}
cp "$sample" "$treasure/folder/$(basename "$sample")"
mkdir "$treasure/folder/deep" && cp "$sample" "$treasure/folder/deep/$(basename "$sample")"
before=$(state_of)
for mode in 755 1777; do
	for whose in $mallory 0; do
		place $mode sub "$treasure/folder"
		chown -h $whose "$filled/sub"
		attack bake -o "$filled" "$home/input"
		place $mode sub/deep "$treasure/folder"
		chown -hR $whose "$filled/sub"
		for given in "$filled" "$filled/" filled ./filled/ filled/../filled "/$filled//"; do
			attack bake -o "$given" "$home/input"
			[[ -s $filled/flat.so ]] || fail "the other copy is missing: $(cat "$err")"
		done
		(cd "$filled" && attack bake -o . "$home/input") || exit 1
		place $mode "$library" "$treasure/folder/$(basename "$sample")"
		chown -hR $whose "$filled/sub"
		attack bake -o "$filled" "$home/input"
	done
	# a folder of the account without a symlink, and one that everyone may write to
	rm -rf "$filled" && mkdir -m $mode "$filled" && mkdir -p "$filled/sub/deep"
	chown $mallory "$filled/sub/deep"
	attack bake -o "$filled" "$home/input"
	out_has "not baked: $filled/sub/deep belongs to account $mallory; root changes nothing there: name another file or folder"
	chown 0 "$filled/sub/deep" && chmod 777 "$filled/sub/deep"
	attack bake -o "$filled" "$home/input"
	out_has "not baked: other accounts may write to $filled/sub/deep; root changes nothing there: name another file or folder"
	# the account's file under the name of a copy
	chmod 1777 "$filled/sub/deep"
	as_mallory touch "$filled/$library"
	attack bake -o "$filled" "$home/input"
	out_has "not baked: $filled/$library: belongs to another account: name another file"
	[[ $(stat -c '%u %s' "$filled/$library") == "$mallory 0" ]] || fail "root replaced the account's file"
done

# A cache that is filled for another machine is no tree for a folder such as /tmp, as $CUDA_CACHE_PATH is not.
python3 -c 'import struct, sys; sys.stdout.buffer.write(struct.pack("<4s5B7xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 0x33, 7, 2, 190, 1, 0, 0, 0, 86, 64, 0, 0, 0, 0, 0))' >"$open/cubin"
cat >"$open/ptxas" <<-END
	#!/bin/sh
	[ "\$1" != --version ] || { echo "ptxas: NVIDIA (R) Ptx optimizing assembler"; echo "Cuda compilation tools, release 12.4, V12.4.1"; exit; }
	while [ \$# -gt 0 ]; do [ "\$1" != -o ] || out=\$2; shift; done
	cat $open/cubin >"\$out"
END
chmod 755 "$open/ptxas"
# Two of the modules are relocatable, and these cubins are not.
compile=(make --target sm_86 --driver 550.163.01 --ptxas "$open/ptxas" "$sample") make=("${compile[@]}" -o "$filled/")
rm -rf "$filled" && mkdir -m 1777 "$filled"
run 2 "${make[@]}"
err_has "other accounts may write to $filled/; root changes nothing there: name another file or folder"
[[ -z $(ls -A "$filled") ]] || fail "root wrote: $(ls -lR "$filled")"
run 1 "${compile[@]}" -o "$filled/a.jwpack"
chmod 755 "$filled" && rm "$filled/a.jwpack"
run 1 "${make[@]}"
(($(cached "$filled") == 6)) || fail "nothing was compiled"
[[ -z $(find "$filled" -perm /022 -not -name index) ]] || fail "others may write: $(ls -lR "$filled")"
mapfile -t parts < <(cd "$filled" && echo ?)
for whose in $mallory 0; do
	rm -rf "${filled:?}"/*
	for part in 0 1 2 3 4 5 6 7 8 9 a b c d e f; do ln -s "$treasure/folder" "$filled/$part"; done
	chown -h $whose "$filled"/?
	attack "${make[@]}"
	rm -rf "${filled:?}"/*
	mkdir "$filled/"{0,1,2,3,4,5,6,7,8,9,a,b,c,d,e,f} && chown $mallory "$filled"/?
	attack "${make[@]}"
	rm -rf "${filled:?}"/*
	ln -s "$treasure/file" "$filled/index" && chown -h $whose "$filled/index"
	attack "${make[@]}"
done

# An ordinary account's own symlinks are followed, as by every program.
as_mallory mkdir "$home/state" "$home/target" "$home/out"
as_mallory ln -s "$home/target" "$home/out/sub"
JITWARM="setpriv --reuid=$mallory --regid=$mallory --clear-groups env HOME=$home JITWARM_STATE=$home/state CUDA_CACHE_PATH=$home/cache $JITWARM" run 0 bake -o "$home/out" "$home/input"
[[ -s $home/target/deep/$(basename "$sample") && -L $home/out/sub ]] || fail "$(ls -lR "$home/out")"
