# Every command is in jitwarm(1) with its summary, has a separate page with all its options, and groff understands the pages.
is_wine && skip "Windows has no manual pages"
root=$cases/../../..
command -v groff >/dev/null || groff() { cat; }
"$root/scripts/make-man.sh" "$JITWARM" "$work/man" || fail "make-man.sh"
run 0 --help
commands=$(sed -n '/^Commands:/,/^$/p' "$out" | grep -oE '^  [a-z]+( [a-z]+)?' | sed 's/^ *//')
while read -r command; do
	page=$work/man/jitwarm-${command// /-}.1
	[[ -s $page ]] || fail "no page for $command"
	grep -qF ".It Cm $command" "$root/docs/man/jitwarm.1" || fail "jitwarm.1 does not list “$command”"
	summary=$(sed -n 's/^\.Nd //p' "$page")
	grep -qixF -- "$summary" "$root/docs/man/jitwarm.1" || fail "jitwarm.1 does not say “$summary” of $command"
	# shellcheck disable=SC2086
	run 0 $command --help
	for option in $(grep -oE '^ +(-., )?--[a-z-]+' "$out" | grep -oE -e '--[a-z-]+$'); do
		grep -qF "Fl \\-${option#--}" "$page" || fail "the page of $command lacks $option"
	done
	groff -mdoc -Kutf8 -Tutf8 -ww "$page" >/dev/null 2>"$work/warnings" || fail "groff: $page"
	[[ ! -s $work/warnings ]] || fail "groff: $(cat "$work/warnings")"
done <<<"$commands"
groff -mdoc -Kutf8 -Tutf8 -ww "$root/docs/man/jitwarm.1" >/dev/null 2>"$work/warnings"
[[ ! -s $work/warnings ]] || fail "groff: $(cat "$work/warnings")"
