# Every command is in jitwarm(1) with its summary, has a separate page with all its options, and groff understands the pages.
is_wine && skip "Windows has no manual pages"
root=$cases/../../..
command -v groff >/dev/null || groff() { cat; }
"$root/scripts/make-documents.sh" man "$JITWARM" "$work/man" || fail "make-documents.sh man"
"$root/scripts/make-documents.sh" man "$JITWARM" "$work/man-ko" ko || fail "make-documents.sh man for Korean"
varies run "--help|help --all" # cli-help has these texts
run 0 help --all
commands=$(sed -n '/^Commands:/,/^$/p' "$out" | grep -oE '^  [a-z]+( [a-z]+)?' | sed 's/^ *//')
while read -r command; do
	page=$work/man/jitwarm-${command// /-}.1
	[[ -s $page ]] || fail "no page for $command"
	grep -qF ".It Cm $command" "$root/docs/man/jitwarm.1" || fail "jitwarm.1 does not list “$command”"
	summary=$(sed -n 's/^\.Nd //p' "$page")
	grep -qixF -- "$summary" "$root/docs/man/jitwarm.1" || fail "jitwarm.1 does not say “$summary” of $command"
	korean=$work/man-ko/${page##*/}
	summary=$(sed -n 's/^\.Nd //p' "$korean")
	grep -qxF -- "$summary" "$root/docs/man/ko/jitwarm.1" || fail "the Korean jitwarm.1 does not say “$summary” of $command"
	grep -qF ".It Cm $command" "$root/docs/man/ko/jitwarm.1" || fail "the Korean jitwarm.1 does not list “$command”"
	# Besides Hangul, the Korean page has only names, examples and choices.
	diff <(grep -E '^\.(It|Dd|Os|Xr|Bl|El)' "$page") <(grep -E '^\.(It|Dd|Os|Xr|Bl|El)' "$korean") || fail "the Korean page of $command has other options"
	! sed '/^\.Bd/,/^\.Ed/d' "$korean" | grep -E '^[^.]' | grep -vP '[\x{AC00}-\x{D7A3}]' | grep -E '[a-z]+ [a-z]+ [a-z]+' || fail "English in the Korean page of $command"
	grep -q '^jitwarm' < <(grep -A3 '^\.Sh EXAMPLES' "$page") || fail "the page of $command has no example"
	# shellcheck disable=SC2086
	run 0 $command --help --all
	for option in $(grep -oE '^ +(-., )?--[a-z-]+' "$out" | grep -oE -e '--[a-z-]+$'); do
		grep -qF "Fl \\-${option#--}" "$page" || fail "the page of $command lacks $option"
	done
done <<<"$commands"
[ "$(grep -c '^\.Ss ' "$work/man/jitwarm-prime.1")" = 5 ] || fail "the page of prime has no groups of options"
groff -mdoc -Kutf8 -Tutf8 -ww "$work"/man/*.1 "$work"/man-ko/*.1 "$root/docs/man/jitwarm.1" "$root/docs/man/ko/jitwarm.1" >/dev/null 2>"$work/warnings" || fail "groff"
[[ ! -s $work/warnings ]] || fail "groff: $(cat "$work/warnings")"
# The line that README.md prints after quickstart.sh lets man find the pages of the build.
program=${JITWARM##* }
# shellcheck disable=SC2016
grep -qF '`export PATH=$PWD/build/release/src:$PATH`' "$root/README.md" || fail "README.md has no line for PATH"
if command -v man >/dev/null && [[ -e ${program%/src/*}/man/stamp ]]; then
	for page in jitwarm jitwarm-prime; do
		[[ $(PATH=${program%/*}:$PATH man -w $page) == "${program%/src/*}/man/man1/$page.1" ]] || fail "man does not find $page"
	done
fi
