#!/usr/bin/env bash
# make-installer.sh BASE-URL PUBLIC-KEY VERSION   prints packaging/install.sh as that of one release
#
# BASE-URL is where the release's files will lie; VERSION in it is replaced. PUBLIC-KEY is the last line of minisign's .pub file.
set -euo pipefail
[ $# = 3 ] || { sed -n '2,4s/^# \{0,1\}//p' "$0" >&2; exit 64; }
fail() { echo "make-installer.sh: $*" >&2; exit 64; }
# What would end a word of the script is in none of them.
[[ $1 =~ ^https?://[A-Za-z0-9._~:/%@+-]+$ ]] || fail "not a plain address: $1"
[[ $2 =~ ^RW[A-Za-z0-9+/]{54}$ ]] || fail "not a public key of minisign: $2"
[[ $3 =~ ^[0-9]+(\.[0-9]+)*$ ]] || fail "not a version: $3"
exec sed -e "s|^base=.*|base=\${JITWARM_BASE_URL:-${1//VERSION/$3}}|" -e "s|^public_key=.*|public_key=\${JITWARM_PUBLIC_KEY:-$2}|" \
	-e "s|^version=.*|version=\${JITWARM_VERSION:-$3}|" "$(dirname "${BASH_SOURCE[0]}")/../packaging/install.sh"
