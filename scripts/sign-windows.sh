#!/bin/bash
# sign-windows.sh FILE...   signs Windows programs, installers and MSI packages in place (needs osslsigncode)
#
#   JITWARM_PFX            a PKCS #12 file with the key and its certificates
#   JITWARM_PFX_PASSWORD   a file that holds its password; none: it has none
#   JITWARM_TIMESTAMP_URL  a timestamp server (RFC 3161); with none, the signature ends with the certificate
#
# For a key that no file holds (a token, a service), give scripts/package-windows.sh --sign a command of your own.
# Exit status: 0; 1 a file was not signed, and is as it was; 3 something is missing; 64 wrong use.
set -euo pipefail
[ $# -gt 0 ] || { sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 64; }
die() { printf 'sign-windows: %s\n' "$*" >&2; exit 3; }
command -v osslsigncode >/dev/null || die "osslsigncode is missing: apt-get install osslsigncode"
[ -r "${JITWARM_PFX:-}" ] || die "JITWARM_PFX names no file with a key"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Never on a command line, which every account reads
password=$work/none
: >"$password"
[ -z "${JITWARM_PFX_PASSWORD:-}" ] || password=$JITWARM_PFX_PASSWORD
for file; do
	osslsigncode sign -pkcs12 "$JITWARM_PFX" -readpass "$password" -h sha256 -n jitwarm ${JITWARM_TIMESTAMP_URL:+-ts "$JITWARM_TIMESTAMP_URL"} \
		-in "$file" -out "$work/signed" >"$work/log" 2>&1 || { tail -n 5 "$work/log" >&2; printf 'sign-windows: %s could not be signed\n' "$file" >&2; exit 1; }
	chmod --reference="$file" "$work/signed"
	mv -f "$work/signed" "$file"
done
