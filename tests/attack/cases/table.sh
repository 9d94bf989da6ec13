# One table (src/cli/root_places.c) lists every variable and option that names a place: those in the manual page and the commands' options
# that it lacks name no place.
. "$cases/../lib.sh"
root=$cases/../../..
grep -oE '^	\{"[A-Za-z_-]+", PLACE_[A-Z]+' "$root/src/cli/root_places.c" | grep -oE '[A-Za-z_-]{3,}"' | tr -d '"' | sort -u >"$work/table"
(($(wc -l <"$work/table") > 30)) || fail "few rows: $(cat "$work/table")"
# These variables name no place.
no_place=" PYENV_VERSION PYTHONNOUSERSITE CUDA_CACHE_MAXSIZE CUDA_CACHE_DISABLE JITWARM_STORE JITWARM_TRUST_ACCOUNTS JITWARM_JOBS NO_COLOR "
for page in "$root/docs/man/jitwarm.1" "$root/docs/man/ko/jitwarm.1"; do
	grep -E '^\.It Ev ' "$page" | grep -oE '[A-Z][A-Z0-9_]+' | sort -u >"$work/page"
	while read -r name; do
		[[ $no_place == *" $name "* ]] || grep -qxF "$name" "$work/table" || fail "$page has $name, and the table does not"
	done <"$work/page"
	while read -r name; do
		[[ $name == --* || $name == JITWARM_SYSTEM_ROOT ]] || grep -qxF "$name" "$work/page" || fail "the table has $name, and $page does not"
	done <"$work/table"
done
# So must be every variable that the program reads, but for those that name no place or are read on Windows alone.
no_place+="APPDATA LOCALAPPDATA COLUMNS CUDA_MODULE_LOADING CUDA_VISIBLE_DEVICES JITWARM_KERNEL_MODULE JITWARM_PCI_DEVICES KUBERNETES_SERVICE_HOST "
no_place+="LANGUAGE PIP_INDEX_URL SHELL SUDO_USER TERM UV " # UV and SHELL name programs, which are checked when they are started
grep -rhoE '(os_env|getenv)\("[A-Z_0-9]+"' "$root/src" | grep -oE '[A-Z_0-9]{2,}' | sort -u >"$work/read"
(($(wc -l <"$work/read") > 20)) || fail "few variables: $(cat "$work/read")"
while read -r name; do
	[[ $no_place == *" $name "* ]] || grep -qxF "$name" "$work/table" || fail "the program reads $name, and the table does not have it"
done <"$work/read"
# Every option of any command whose value is a file or a folder must be in the table.
run 0 help --all
sed -n '/^Commands:/,/^$/p' "$out" | grep -oE '^  [a-z]+( [a-z]+)?' >"$work/commands"
while read -r command; do
	# shellcheck disable=SC2086
	run 0 help --all $command
	grep -oE -- '--[a-z-]+[ =](FILE|DIR|PLACE)\b' "$out" | grep -oE -- '--[a-z-]+' >>"$work/options"
done <"$work/commands"
(($(sort -u "$work/options" | wc -l) > 12)) || fail "few options: $(sort -u "$work/options")"
while read -r name; do
	grep -qxF -- "$name" "$work/table" || fail "$name names a place, and the table does not have it"
done < <(sort -u "$work/options")
