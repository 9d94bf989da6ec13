#!/usr/bin/env bash
# debian-tree.sh FOLDER VERSION   puts the last commit into FOLDER, with the folder debian that package.sh and autopkgtest take
#
# JITWARM_MAINTAINER is the name and address that the packages show, else those of the commit.
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# = 2 ] || { sed -n '2,4s/^# \{0,1\}//p' "$0" >&2; exit 64; }
maintainer=${JITWARM_MAINTAINER:-$(git log -1 --format='%an <%ae>')}
mkdir -p "$1"
git archive HEAD | tar -C "$1" -xf -
cp -r packaging/debian "$1/debian"
sed -i -e '/^Maintainer: /{r /dev/stdin' -e 'd}' "$1/debian/control" <<<"Maintainer: $maintainer"
printf 'jitwarm (%s) unstable; urgency=medium\n\n  * Version %s. CHANGELOG.md says what is new.\n\n -- %s  %s\n' "$2" "$2" \
	"$maintainer" "$(LC_ALL=C date -u -R -d "@$(git log -1 --format=%ct)")" >"$1/debian/changelog"
