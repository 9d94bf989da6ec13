# Another account's symlink to a file that this account cannot read gives it nothing: neither a pack, nor a copy, nor an entry of another cache.
. "$cases/../lib.sh"
with_simdriver sm_86
cp "$sample" "$treasure/secret.so" && chmod 600 "$treasure/secret.so"
mkdir -m 700 "$treasure/cache"
export JITWARM_STATE=$work/state CUDA_CACHE_PATH=$treasure/cache/own
run 0 prime "$treasure/secret.so"
(($(cached "$CUDA_CACHE_PATH") > 5)) || fail "nothing was compiled"
as_mallory mkdir "$home/package" "$home/folder"
as_mallory ln -s "$treasure/secret.so" "$home/package/libmine.so"
as_mallory ln -s "$treasure" "$home/folder/through"
as_mallory ln -s "$treasure/cache/own" "$home/cache"
chmod 711 "$home"
refuses() {
	run '1|2|3' "$@"
	[[ $(cat "$out" "$err") == *"a symlink leads to $treasure/"*" which another account may not read ($home belongs to account $mallory)"* ]] || fail "$*: $(cat "$out" "$err")"
	[[ ! -e $open/made && ! -e $open/pack ]] || fail "$*: root has made an output"
}
for command in "export -o $open/pack $home/package" "export -o $open/pack $home/folder/through/secret.so" "bake -o $open/made $home/package/libmine.so" \
	"make --target sm_86 --driver 550.163.01 -o $open/made $home/package" "scan $home/package/libmine.so"; do
	# shellcheck disable=SC2086
	refuses $command
done
# find neither reads the file nor names it in the next command.
for name in package/libmine.so folder/through/secret.so; do
	run '0|1|2|3' find "$home/$name"
	[[ $(cat "$out") != *"module"* && $(cat "$out") != *"$treasure"* ]] || fail "find $name: $(cat "$out" "$err")"
done
run '2|3' export --cache "$home/cache" -o "$open/pack"
[[ ! -e $open/pack ]] || fail "root has exported the entries of its own cache"
# An account's link to what it can read itself works, and so do links of root and of accounts that count as root.
as_mallory ln -s "$open/build/tests/framework/libsample_framework.so" "$home/package/libopen.so"
run 0 scan "$home/package/libopen.so"
ln -s "$treasure/secret.so" "$open/roots.so"
run 0 scan "$open/roots.so"
JITWARM_TRUST_ACCOUNTS=$mallory run 0 scan "$home/package/libmine.so"
chmod 644 "$treasure/secret.so"
run 0 scan "$home/package/libmine.so"
chown $mallory "$treasure/secret.so" && chmod 600 "$treasure/secret.so"
run 0 scan "$home/package/libmine.so"
# In a folder that several accounts share, each of them may have made the link.
chgrp 54321 "$home/package" && chmod 770 "$home/package"
run '1|2|3' scan "$home/package/libmine.so"
chgrp 0 "$home/package" && chmod 755 "$home/package"
# A file is everybody's to read only if its group may read it, too.
chown 0:54321 "$treasure/secret.so" && chmod 604 "$treasure/secret.so"
run '1|2|3' scan "$home/package/libmine.so"
chmod 644 "$treasure/secret.so"
run 0 scan "$home/package/libmine.so"

# Nor does the pyvenv.cfg of an account lead root into a Python that the account may not read.
mkdir -p "$treasure/python/bin" "$treasure/python/lib/python3.11/site-packages/secret" && chmod 700 "$treasure/python"
cp "$sample" "$treasure/python/lib/python3.11/site-packages/secret/lib.so"
as_mallory mkdir -p "$home/venv/bin" "$home/venv/lib/python3.11/site-packages"
as_mallory sh -c 'printf "home = %s\nversion = 3.11.2\ninclude-system-site-packages = true\n" "$1" >"$2"' _ "$treasure/python/bin" "$home/venv/pyvenv.cfg"
for command in scan "check --target sm_86 --driver 550.163.01" "make --target sm_86 --driver 550.163.01 -o $open/made"; do
	# shellcheck disable=SC2086
	run '0|1|2|3' $command -e "$home/venv"
	[[ $(cat "$out" "$err") == *"without the packages of its base"* && $(cat "$out" "$err") != *lib.so* && ! -e $open/made ]] || fail "$command: $(cat "$out" "$err")"
done
# Nor does a symlink to an environment, which is named by -e or a variable, or found in a project.
printf 'home = /usr/bin\n' >"$treasure/python/pyvenv.cfg"
as_mallory mkdir "$home/project"
as_mallory ln -s "$treasure/python" "$home/linked"
as_mallory ln -s "$treasure/python" "$home/project/.venv"
for environment in linked project; do
	run '0|1|2|3' make --target sm_86 --driver 550.163.01 -o "$open/made" -e "$home/$environment"
	[[ $(cat "$err") == *"a symlink leads to $treasure/python/"* && ! -e $open/made ]] || fail "-e $environment: $(cat "$out" "$err")"
done
VIRTUAL_ENV=$home/linked run '0|1|2|3' scan
[[ $(cat "$out" "$err") == *"a symlink leads to $treasure/python/"* && $(cat "$out") != *lib.so* ]] || fail "VIRTUAL_ENV: $(cat "$out" "$err")"
(cd "$home/project" && run '0|1|2|3' scan && [[ $(cat "$out" "$err") != *"$treasure"* ]]) || fail "the project: $(cat "$out" "$err")"
# Nor does a symlink to a folder show the names in it: root lists no folder that the account may not list.
for command in "check --target sm_86 --driver 550.163.01" scan lint "doctor --no-probe"; do
	# shellcheck disable=SC2086
	run '0|1|2|3' $command -e "$home/project"
	[[ $(cat "$out" "$err") != *lib.so* && $(cat "$out" "$err") == *"a symlink leads to $treasure/python/"* ]] || fail "$command: $(cat "$out" "$err")"
done
mkdir "$treasure/venvs" && mv "$treasure/python" "$treasure/venvs/hidden" && chmod 700 "$treasure/venvs" && chmod -R a+rX "$treasure/venvs/hidden"
for folder in .virtualenvs .local/share/uv/tools .local/share/pipx/venvs .pyenv/versions; do
	as_mallory mkdir -p "$home/$(dirname $folder)"
	as_mallory ln -s "$treasure/venvs" "$home/$folder"
	HOME=$home run '0|1|2|3' find
	[[ $(cat "$out" "$err") != *hidden* ]] || fail "$folder: $(cat "$out" "$err")"
	rm "$home/$folder"
done
# A folder that everybody may list is found behind an account's symlink, too, and so is the account's own.
chmod 755 "$treasure/venvs" && as_mallory ln -s "$treasure/venvs" "$home/.virtualenvs"
HOME=$home run '0|1' find
out_has "$home/.virtualenvs/hidden"
# /proc leads to files without a name, and to those in other mount namespaces; what has their path here may be another file.
reaches_nothing() {
	as_mallory ln -sfn "$1" "$home/package/libmine.so"
	run '1|2|3' scan "$home/package/libmine.so"
	[[ $(cat "$out" "$err") == *"a symlink leads to "*" which another account may not read"* ]] || fail "$1: $(cat "$out" "$err")"
}
cp "$sample" "$open/nameless.so" && exec 9<"$open/nameless.so" && rm "$open/nameless.so"
reaches_nothing "/proc/$BASHPID/fd/9"
exec 9<&-
if unshare -m true 2>/dev/null; then
	mkdir "$open/mounted" && cp "$sample" "$open/mounted/lib.so"
	unshare -m sh -c 'mount -t tmpfs none "$1" && cp "$2" "$1/lib.so" && : >"$3" && exec sleep 100' _ "$open/mounted" "$sample" "$open/is-mounted" &
	await test -e "$open/is-mounted"
	reaches_nothing "/proc/$!/root$open/mounted/lib.so"
	kill $!
fi
# An account's own mount namespace can show a folder of root's by the path that root names.
chown 0:0 "$treasure/secret.so"
if as_mallory unshare -rm true 2>/dev/null; then
	as_mallory unshare -rm sh -c 'mount --rbind "$1" /mnt && mount -t tmpfs none "$2" && mkdir "$2/package" && mount --rbind /mnt "$2/package" && echo $$ && exec sleep 100' \
		_ "$treasure" "$home" >"$open/process" 2>/dev/null &
	await test -s "$open/process"
	process=$(cat "$open/process")
	as_mallory mv "$home/package" "$home/before"
	as_mallory ln -s "/proc/$process/root$home/package" "$home/package"
	for mode in 600 644; do
		chmod $mode "$treasure/secret.so"
		run '1|2|3' scan "$home/package/secret.so"
		[[ $(cat "$out" "$err") == *"a symlink leads to "*" which another account may not read"* ]] || fail "$mode: $(cat "$out" "$err")"
		run '0|1|2|3' find "$home/package/venvs/"
		[[ $(cat "$out" "$err") != *hidden* ]] || fail "a folder of $mode: $(cat "$out" "$err")"
	done
	kill "$process"
fi

# Without a symlink, the account gives the name that root types to a file that root left in the account's folder. Its own file and what
# everybody may read are no secrets.
cp "$sample" "$home/report" && chmod 600 "$home/report" && as_mallory mv "$home/report" "$home/put.so"
run '1|2|3' scan "$home/put.so"
[[ $(cat "$out" "$err") == *"$home/put.so: another account may have put this file there, and may not read it ($home belongs to account $mallory)"* ]] ||
	fail "a renamed file: $(cat "$out" "$err")"
chmod 644 "$home/put.so" && run '0|1' scan "$home/put.so"
chmod 600 "$home/put.so" && chown $mallory "$home/put.so" && run '0|1' scan "$home/put.so"
# A closed folder of root's has files that everybody could read elsewhere.
mkdir -m 700 "$home/closed" && cp "$sample" "$home/closed/lib.so" && chmod 644 "$home/closed/lib.so" && as_mallory mv "$home/closed" "$home/renamed"
for name in renamed/lib.so renamed; do
	run '1|2|3' scan "$home/$name"
	[[ $(cat "$out" "$err") == *"another account may have put this file there"* ]] || fail "a closed folder: $(cat "$out" "$err")"
done
chmod 755 "$home/renamed" && run '0|1' scan "$home/renamed/lib.so"

# Root removes folders of ended runs, but none that another account has made, or could have moved there.
mkdir -m 1777 "$open/temporary"
as_mallory mkdir "$open/temporary/jitwarm-run-99993-aaaaaa"
mkdir -m 777 "$open/temporary/jitwarm-run-99994-aaaaaa"
mkdir -m 700 "$open/temporary/jitwarm-run-99995-aaaaaa"
as_mallory ln -s "$treasure" "$open/temporary/jitwarm-run-99996-aaaaaa"
touch -h -d "3 hours ago" "$open/temporary/"*
TMPDIR=$open/temporary run 0 prime "$sample"
[[ $(cd "$open/temporary" && echo *) == "jitwarm-run-99993-aaaaaa jitwarm-run-99994-aaaaaa jitwarm-run-99996-aaaaaa" ]] || fail "left: $(ls "$open/temporary")"
