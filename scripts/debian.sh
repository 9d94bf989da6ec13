# shellcheck shell=bash
# What this machine's apt sources say of Debian, read by the scripts that fetch from there.

apt_sources() { cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null || true; }
# Addresses of archives, in one-line and in deb822 style
apt_addresses() {
	apt_sources | sed -nE 's/^deb[[:space:]]+(\[[^]]*\][[:space:]]+)?([^[:space:]]+).*/\2/p; s/^URIs:[[:space:]]*([^[:space:]]+).*/\1/p' |
		sed 's:/*$::'
}
# Empty where there is none
debian_mirror() { apt_addresses | grep -m1 '/debian$' || true; }
debian_security_mirror() { apt_addresses | grep -m1 '/debian-security$' || true; }
debian_keyring() { apt_sources | sed -nE 's/^Signed-By:[[:space:]]*(\/.*debian-archive.*)/\1/p' | head -1; }
