# The completion scripts load in their shells, and jitwarm completes commands, options, values and packages, but nothing that a shell would
# run.
varies text '\t\d[\w.+]*$' # this machine's packages
complete() { run 0 complete -- "$@"; }
has() { grep -qP "^\Q$1\E(\t|\$)" "$out" || fail "no candidate “$1”"; }
lacks() { ! grep -qP "^\Q$1\E(\t|\$)" "$out" || fail "a candidate “$1”"; }
count() { [[ $(wc -l <"$out") == "$1" ]] || fail "$(wc -l <"$out") candidates, not $1"; }

# Each command is offered as one word once, hidden ones are not.
snapshot complete ""
complete pr
count 1; has prime
out_has "Compile now"
snapshot complete cache ""
complete help sto
count 1; has store
complete nosuch ""
out_empty
snapshot complete --ver
snapshot complete --js

# Options are offered with their help, up to a word after which no option can follow.
snapshot complete make --tar
snapshot complete prime ""
snapshot complete prime x --jo
snapshot complete startup enable --un
complete run -- --tar
out_exact_line() { [[ $(cat "$out") == "$1" ]] || fail "not “$1”"; }
out_exact_line :files

# values of options
snapshot complete prime --cache ""
complete make -o ""
out_exact_line :files
complete prime --cache=
out_exact_line :folders
snapshot complete make --target sm_8
snapshot complete make --target=nat
snapshot complete tune --scope sy
snapshot complete tune --print p
snapshot complete prime --nosuch=p
snapshot complete completion z
run 0 complete --
out_empty

# packages of the active environment
program=$JITWARM
with_simdriver sm_86 # makes the sample library loadable
JITWARM=$program
environment "$work/venv" 1.2
export VIRTUAL_ENV=$work/venv
complete check fr
count 2; has frame; has :files
out_has $'frame\t1.2'
complete check x
lacks frame
# A package's name that a shell would execute is not offered.
find "$work/venv" -name METADATA | while read -r metadata; do sed -i 's/^Name: .*/Name: frame$(touch fooled)/' "$metadata"; done
complete check fr
count 1; has :files
find "$work/venv" -name METADATA | while read -r metadata; do sed -i 's/^Name: .*/Name: frame/' "$metadata"; done

# the scripts themselves
snapshot run 64 completion
run 64 completion tcsh
err_has "bash, zsh, fish or powershell"
run 64 completion bash zsh
for shell in bash zsh fish powershell; do
	snapshot run 0 completion $shell
done
is_wine && exit 0

# the shells, with their scripts loaded
mkdir -p "$work/bin"
printf '#!/bin/sh\nexec %s "$@"\n' "$JITWARM" >"$work/bin/jitwarm"
chmod +x "$work/bin/jitwarm"
export PATH=$work/bin:$PATH
last=(completion in bash)
cat >"$work/ask.bash" <<'BASH'
eval "$(jitwarm completion bash)"
COMP_LINE=$1 COMP_POINT=${#1}
_jitwarm 2>/dev/null # compopt is for readline's own calls
printf '%s\n' "${COMPREPLY[@]}"
BASH
touch "$work/a file" "$work/afile"
mkdir "$work/afolder"
asked() { (cd "$work" && bash --norc ask.bash "$1") >"$out" 2>"$err"; }
asked "jitwarm pri"; out_exact_line prime
asked "jitwarm make --target sm_12"; has sm_120
asked "jitwarm make --target=sm_12"; has sm_120
asked "jitwarm check fr"; out_exact_line frame
asked "jitwarm check af"; has afile; has afolder
asked "jitwarm check --cache af"; out_exact_line afolder

last=(completion in fish)
if command -v fish >/dev/null; then
	asked() { (cd "$work" && fish --no-config -c 'jitwarm completion fish | source; complete -C $argv[1]' "$1") >"$out" 2>"$err"; }
	asked "jitwarm pri"; has prime; count 1
	out_has "Compile now"
	asked "jitwarm make --target sm_12"; has sm_120
	asked "jitwarm make --target=sm_12"; has --target=sm_120
	asked "jitwarm check fr"; out_has frame
	asked "jitwarm check af"; out_has afile
fi

last=(completion in zsh)
if command -v zsh >/dev/null; then
	# Prints the arguments that zsh's own functions would get.
	cat >"$work/ask.zsh" <<'ZSH'
compdef() { :; }
_files() { print -l -- ":files $*"; }
_describe() { print -l -- "${(@P)4}"; }
source <(jitwarm completion zsh)
words=("${(z)1}") CURRENT=$#words
[[ $1 != *" " ]] || { words+=(''); CURRENT=$#words; }
_jitwarm
ZSH
	asked() { (cd "$work" && zsh -f ask.zsh "$1") >"$out" 2>"$err"; }
	asked "jitwarm pri"; out_has "prime:Compile now"
	asked "jitwarm prime --cache "; out_has ":files -/"
	asked "jitwarm make --target sm_12"; out_has "sm_120:"
	asked "jitwarm check fr"; out_has "frame:1.2"; out_has ":files"
fi
exit 0
