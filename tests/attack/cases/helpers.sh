# Root runs no helper that another account may replace: such as pip.
. "$cases/../lib.sh"
with_simdriver sm_86
unset JITWARM_STATE CUDA_CACHE_PATH
mkdir -m 755 "$open/bin"
mkdir -m 777 "$open/marks"
# The index's address refuses connections, so that a helper that runs cannot ask any index.
export PIP_INDEX_URL=http://127.0.0.1:1/simple PIP_RETRIES=0 VIRTUAL_ENV=$open/env
empty_environment "$open/env"
rm "$open/env/bin/python3" && ln -s "$open/bin/python3" "$open/env/bin/python3"
for name in python3 uv; do
	printf '#!/bin/sh\nset -- $(id -u)\ngrep -E "^(Uid|Gid|Groups|CapPrm)" /proc/$$/status >"%s/%s-$1"\nexit 1\n' "$open/marks" $name >"$open/bin/$name"
	chmod 755 "$open/bin/$name"
done
export PATH=$open/bin:$PATH
# In root's own home, root uses no helper that the account may replace.
chown -R $mallory "$open/bin"
run '0|1|2|3' compiler fetch 12.4
CUDA_CACHE_PATH=$work/cache run 0 prime --quiet "$sample"
[[ -z $(ls "$open/marks") ]] || fail "run by root: $(ls "$open/marks")"

# Root passes over a uv that the account may replace, and takes the next one.
export PATH=$open/bin:/usr/bin:/bin
mkdir "$work/bin"
JITWARM="env PATH=$open/bin:$work/bin $JITWARM" run 3 scan --index torch
err_has "uv is not run as root"
[[ -z $(ls "$open/marks") ]] || fail "run by root: $(ls "$open/marks")"
printf '#!/bin/sh\ntouch "%s/roots-uv"\nexit 1\n' "$work" >"$work/bin/uv"
chmod 755 "$work/bin/uv"
JITWARM="env PATH=$open/bin:$work/bin $JITWARM" run 3 scan --index torch
[[ -e $work/roots-uv ]] || fail "the account's uv was not passed over"
# uv starts no Python of the account's, neither the first on PATH nor one that uv finds.
printf '#!/bin/sh\n[ "$1" = python ] || { echo "$@" >>"%s/asked"; exit 1; }\necho "%s/python3"\n' "$work" "$open/bin" >"$work/bin/uv"
JITWARM="env PATH=$open/bin:$work/bin $JITWARM" run 3 scan --index torch
err_has "$open/bin"
[[ ! -e $work/asked ]] || fail "uv was asked: $(<"$work/asked")"
# uv starts in no current folder, whose settings it would read.
printf '#!/bin/sh\npwd -P >"%s/folder"\nexit 1\n' "$work" >"$work/bin/uv"
for folder in "$home" "$work"; do
	(cd "$folder" && JITWARM="env PATH=$open/bin:$work/bin $JITWARM" run 3 scan --index torch) || exit 1
	[[ $(<"$work/folder") != "$folder" ]] || fail "uv was started in $folder"
done
rm "$work/bin/uv"
# Root starts no wheel of pip that the account may replace, though Python itself is root's.
export VIRTUAL_ENV=$work/env
empty_environment "$work/env"
rm "$work/env/bin/python3"
printf '#!/bin/sh\ncase $1:$# in -I*:3) echo "%s/pip-1-py3-none-any.whl" ;; -I*) touch "%s/roots-pip" ;; *) exit 96 ;; esac\n' "$open/bin" "$work" >"$work/env/bin/python3"
chmod 755 "$work/env/bin/python3"
touch "$open/bin/pip-1-py3-none-any.whl" && chown $mallory "$open/bin/pip-1-py3-none-any.whl"
JITWARM="env PATH=$work/bin $JITWARM" run 3 scan --index torch
err_has "pip-1-py3-none-any.whl is not run as root"
[[ ! -e $work/roots-pip ]] || fail "the account's pip was started"
# spy COMMAND FILE: root's Python runs the command, with its output in the file, instead of pip
spy() { printf '#!/bin/sh\n%s >"%s/%s"\nexit 1\n' "$1" "$work" "$2" >"$work/env/bin/python3"; }
# Root's helpers get no index that is the account's folder, however it is written.
mkdir -p "$home/wheels" "$work/wheels" "$open/%68ome/wheels" && chown $mallory "$home/wheels"
spy env variables
for name in PIP_FIND_LINKS PIP_INDEX_URL PIP_EXTRA_INDEX_URL; do
	for value in "$home/wheels" "file://$home/wheels" "FILE:$home/wheels" "file://localhost$home/wheels" "mine=$home/wheels" \
		"mine=file://$home/wheels" "~root$home/wheels" "file://$open/%68ome/wheels" \
		$'https://127.0.0.1:1/\v'"$home/wheels" $'https://127.0.0.1:1/\u2028'"$home/wheels"; do
		rm -f "$work/variables"
		(export PIP_NO_INDEX=0 PATH=$open/bin:$work/bin:/usr/bin:/bin "$name=https://127.0.0.1:1/simple $value mine=https://127.0.0.1:1/simple $work/wheels file://$work/wheels" && run 3 scan --index torch) || exit 1
		grep -qx PIP_NO_INDEX=0 "$work/variables" || fail "PIP_NO_INDEX is left out"
		[[ $(grep "^$name=" "$work/variables") == "$name=https://127.0.0.1:1/simple mine=https://127.0.0.1:1/simple $work/wheels file://$work/wheels" ]] ||
			fail "$value: $(grep "^$name=" "$work/variables")"
	done
done
(export PATH=$open/bin:$work/bin:/usr/bin:/bin PIP_INDEX_URL=$home/wheels && run 3 scan --index torch && err_has "PIP_INDEX_URL: root does not ask $home/wheels, because another account can change the folder, so the answer is for pip's other indexes, or PyPI; let only root change the folder, or run jitwarm as the folder's owner") || exit 1
# Root's Python is not started in the account's folder, whose modules it would load.
printf '#!/bin/sh\npwd -P >"%s/folder"\nexit 1\n' "$work" >"$work/bin/python3" && chmod 755 "$work/bin/python3"
(unset VIRTUAL_ENV && cd "$home/wheels" && PATH=$work/bin:/usr/bin:/bin run '1|2|3' check torch) || exit 1
[[ $(<"$work/folder") == / ]] || fail "Python was started in $(<"$work/folder")"
rm "$work/bin/python3"
spy env variables
# Neither do they get a file of the account's, nor one in its home, also if the file does not exist yet; a device is nobody's.
mkdir "$HOME/obody" "$HOME/oot" # “~nobody” is no folder of root's home
touch "$home/file" "$HOME/file" "$HOME/obody/file" "$HOME/oot/file" && chown $mallory "$home/file"
export PIP_CONFIG_FILE=/dev/null
for name in PIP_CERT NETRC SSL_CERT_FILE REQUESTS_CA_BUNDLE; do
	for value in later ./later "$home/file" "$home/later" "~nobody/file" "~root/file" "~/none"; do
		(export PATH=$open/bin:$work/bin:/usr/bin:/bin "$name=$value" && run 3 scan --index torch) || exit 1
		! grep "^$name=" "$work/variables" || fail "$value is handed on"
		err_has "$name: root's pip does not get $value, because the file or folder is missing, or another account can change it"
		grep -qx PIP_CONFIG_FILE=/dev/null "$work/variables" || fail "PIP_CONFIG_FILE is left out"
	done
	(export PATH=$open/bin:$work/bin:/usr/bin:/bin "$name=~/file" && run 3 scan --index torch) || exit 1
	grep -qxF "$name=~/file" "$work/variables" || fail "root's own file is left out"
	! grep -F "does not get" "$err" || fail "a warning of root's own file"
done
unset PIP_CONFIG_FILE
# The same for Python's folders, in which “~” is a folder of that name in the current one, whose owner could make it
for name in PYTHONPATH PYTHONUSERBASE; do
	for value in later . ../later "$home" "~/file"; do
		(cd "$home/wheels" && export PATH=$open/bin:$work/bin:/usr/bin:/bin "$name=$value" && rm -f "$work/variables" && run '2|3' scan --index torch) || exit 1
		! grep "^$name=" "$work/variables" 2>/dev/null || fail "$value is handed on"
	done
done
# Nor a folder that the helper, which starts in another folder, would look for there.
mkdir "$work/one" "$work/later"
(cd "$work" && export PATH=$open/bin:$work/bin:/usr/bin:/bin "PYTHONPATH=$work/one:later" && run 3 scan --index torch) || exit 1
grep -qx "PYTHONPATH=$work/one" "$work/variables" || fail "$(grep PYTHONPATH "$work/variables")"
# A file of the account's in the current folder removes no setting of root's.
touch "$home/wheels/1" && chown $mallory "$home/wheels/1"
(cd "$home/wheels" && export PATH=$open/bin:$work/bin:/usr/bin:/bin PIP_NO_INDEX=1 && run 3 scan --index torch) || exit 1
grep -qx PIP_NO_INDEX=1 "$work/variables" || fail "PIP_NO_INDEX is left out"
# Root's pip gets those folders of PYTHONPATH that only root can change.
unset VIRTUAL_ENV
mkdir "$work/two"
printf 'open("%s/loaded", "w")\n' "$work" >"$work/two/sitecustomize.py"
PATH=/usr/bin:/bin PYTHONPATH=$work/one:$work/two run '3|4' scan --index torch
[[ -e $work/loaded ]] || fail "the second folder of PYTHONPATH is not used"

# No value of root's variables is an argument of a program, since every account reads those.
cat >"$work/spy" <<SCRIPT
#!/bin/sh
printf '%s\n' "\$@" >>"$work/arguments"
exec "$work/env" "\$@"
SCRIPT
chmod 755 "$work/spy" && cp "$(readlink -f /usr/bin/env)" "$work/env"
spy 'printf "%s\n" "$PIP_INDEX_URL"' index
cat >"$work/spied" <<SCRIPT
mount --bind "$work/spy" /usr/bin/env && exec "\$@"
SCRIPT
if unshare -m sh -c ". '$work/spied'" _ true 2>/dev/null; then
	export PIP_INDEX_URL=http://ann:password@127.0.0.1:1/simple VIRTUAL_ENV=$work/env PATH=$open/bin:$work/bin:/usr/bin:/bin
	# shellcheck disable=SC2086
	unshare -m sh -c ". '$work/spied'" _ $JITWARM scan --index torch >"$out" 2>"$err"
	grep -qxF "$PIP_INDEX_URL" "$work/index" || fail "no helper got the index: $(cat "$err")"
	! grep -q password "$work/arguments" 2>/dev/null || fail "every account can read it: $(cat "$work/arguments")"
fi
