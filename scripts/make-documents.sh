#!/usr/bin/env bash
# make-documents.sh [BUILD-FOLDER]                  writes docs/reference and data/schemas from the tables in src/cli, and the errors of
#                                                  docs/troubleshooting.md from data/errors.tsv
# make-documents.sh man JITWARM FOLDER [LANGUAGE]   writes jitwarm-COMMAND.1 for each command of the program into FOLDER; LANGUAGE is en or ko
# make-documents.sh site [-o FOLDER] [TABLE]        makes a web site of README.md, README.ko.md and docs/ in FOLDER (default: build/site), with mkdocs
#
# TABLE is the folder of make-site.py's pages, which become a part of the site.
# The site has llms.txt, a list of the pages for users. mkdocs checks every link of the site, and that packaging/site/mkdocs.yml lists every
# page: a warning ends it. mkdocs comes from pip, into ~/.cache/jitwarm/site. Exit status 3: mkdocs cannot be fetched; 64: wrong usage.
set -euo pipefail

help() { sed -n '2,9s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; }
usage() { help >&2; exit 64; }
to_root() { cd "$(dirname "${BASH_SOURCE[0]}")/.."; }

make_reference() { # [BUILD-FOLDER]
	local build=${1:-build/release}
	cmake --build "$build" --target document-schemas >/dev/null
	python3 tests/documents/reference.py "$build/tests/documents/document-schemas" --write
	python3 tests/documents/errors.py "$build/src/jitwarm" --write
}
make_man() { # JITWARM FOLDER [LANGUAGE]
	local jitwarm=$1 folder=$2 language=${3-en} command
	mkdir -p "$folder"
	rm -f "$folder"/jitwarm-*.1
	LC_ALL=C.UTF-8 "$jitwarm" help --all | sed -n '/^Commands:/,/^$/p' | grep -oE '^  [a-z]+( [a-z]+)?' | sed 's/^ *//' | while read -r command; do
		# shellcheck disable=SC2086
		LC_ALL=C.UTF-8 "$jitwarm" help --man --language "$language" $command >"$folder/jitwarm-${command// /-}.1"
	done
}
# write_llms WORK: lists the pages for users, each with its first sentence, for programs that read a site (llmstxt.org)
write_llms() {
	local title page
	printf '# jitwarm\n\n> %s\n\n## Pages\n\n' "$(sed -n 's/^\*\*\(.*\)\*\*$/\1/p' "$1/pages/index.md")"
	sed -n '/^  - JSON documents:/q; s/^  - \([A-Z].*\): \(.*\)\.md$/\1:\2/p' "$1/mkdocs.yml" | while IFS=: read -r title page; do
		printf -- '- [%s](%s/): %s\n' "$title" "$page" "$(awk 'found && /^$/ { exit } NR > 1 && !/^(#|$)/ { found = 1 } found' "$1/pages/$page.md" | tr '\n' ' ' | sed -E 's/`//g; s/\[([^]]*)\]\([^)]*\)/\1/g; s/([.]) .*/\1/')"
	done
}
make_site() { # [-o FOLDER] [TABLE]
	local out=build/site version=1.6.1 tools page
	[ "${1-}" != -o ] || { out=${2:?}; shift 2; }
	[[ $# -le 1 && ${1-} != -* ]] || usage
	tools=${XDG_CACHE_HOME:-$HOME/.cache}/jitwarm/site/$version
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	if [ ! -d "$tools" ]; then
		python3 -m pip install -q --target "$work/tools" "mkdocs==$version" >"$work/log" 2>&1 || { tail -n 5 "$work/log" >&2; exit 3; }
		mkdir -p "${tools%/*}" && mv -T "$work/tools" "$tools" 2>/dev/null || [ -d "$tools" ] # another run may have been first
	fi
	export PYTHONPATH=$tools
	mkdir "$work/pages"
	cp -r docs/*.md docs/pictures docs/ko docs/contributing docs/internals docs/reference "$work/pages/"
	cp README.md "$work/pages/index.md"
	cp README.ko.md "$work/pages/korean.md"
	cp CHANGELOG.md "$work/pages/changes.md"
	cp CONTRIBUTING.md "$work/pages/contributing.md"
	cp SECURITY.md "$work/pages/vulnerabilities.md"
	# The link [install](docs/install.md) of README.md becomes one without its folder.
	for page in "$work"/pages/*.md "$work"/pages/*/*.md; do
		sed -E -i 's/\]\(docs\//](/g; s/\]\(README\.ko\.md/](korean.md/g; s/\]\(README\.md/](index.md/g; s/\]\((\.\.\/)?(\.\.\/)?CONTRIBUTING\.md/](\2contributing.md/g; s/\]\((\.\.\/)?SECURITY\.md/](vulnerabilities.md/g; s/\]\(CHANGELOG\.md/](changes.md/g' "$page"
	done
	cp packaging/site/mkdocs.yml "$work/"
	if [ $# = 1 ]; then
		cp -r "$1" "$work/pages/table"
		printf '\n## All packages and GPUs\n\n[The table](table/index.html) shows which listed release runs on which GPU generation.\n' >>"$work/pages/which.md"
	fi
	# With -q, mkdocs would count no warnings.
	if ! python3 -m mkdocs build --strict -f "$work/mkdocs.yml" >"$work/log" 2>&1; then
		grep -E 'WARNING|ERROR|Aborted' "$work/log" >&2 || cat "$work/log" >&2
		exit 1
	fi
	rm -rf "$out"
	mkdir -p "$(dirname "$out")"
	mv "$work/site" "$out"
	write_llms "$work" >"$out/llms.txt"
	[ "$(grep -c '^- \[.*/): [A-Za-z]' "$out/llms.txt")" -ge 16 ] || { echo "make-documents.sh: llms.txt lacks pages" >&2; exit 1; }
	echo "make-documents.sh: $out ($(find "$out" -name '*.html' | wc -l) pages)"
}

case ${1-} in
-h | --help) help ;;
man) [ $# -ge 3 ] || usage; make_man "${@:2}" ;;
site) to_root; make_site "${@:2}" ;;
-*) usage ;;
*) [ $# -le 1 ] || usage; to_root; make_reference "$@" ;;
esac
