# Without a name and an active environment, jitwarm uses the environment in which it lies, and otherwise that of the Python on PATH.
! is_emulated || skip "an emulator does not know the copy's name"
unset VIRTUAL_ENV CONDA_PREFIX PYENV_VERSION PYTHONPATH
code() { # FOLDER NAME
	mkdir -p "$(site_of "$1")"
	printf '.version 7.8\n.target sm_50\n.address_size 64\n.visible .entry %s() { ret; }\n' "$2" >"$(site_of "$1")/$2.ptx"
}
# The last word of the command is the program's file.
words=${JITWARM% *} file=${JITWARM##* }
[[ $words != "$JITWARM" ]] || words=
if is_wine; then bin=Scripts; else bin=bin; fi
installed_in() { # FOLDER
	mkdir -p "$1/$bin" && cp "$file" "$1/$bin/" && JITWARM="${words:+$words }$1/$bin/$(basename "$file")"
}
for name in path own active named; do
	empty_environment "$work/$name"
	code "$work/$name" "of_$name"
done
program_path=$work/path/$bin
is_wine || program_path+=:$PATH # Wine has its own PATH

differs_for WINDOWS snapshot run 0 scan
out_has "of_path.ptx"
installed_in "$work/own"
run 0 scan
out_has "of_own.ptx"
out_lacks "of_path.ptx"
export VIRTUAL_ENV=$work/active
run 0 scan
out_has "of_active.ptx"
run 0 scan --environment "$work/named"
out_has "of_named.ptx"
unset VIRTUAL_ENV

# An environment that pipx or uv makes for one command holds nothing else.
for mark in pipx_metadata.json uv-receipt.toml; do
	: >"$work/own/$mark"
	run 0 scan
	out_has "of_path.ptx"
	rm "$work/own/$mark"
done

rm "$work/own/pyvenv.cfg"
run 0 scan
out_has "of_path.ptx"
mkdir "$work/own/conda-meta"
differs_for WINDOWS snapshot run 0 scan
out_has "of_own.ptx"
