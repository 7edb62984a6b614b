#!/bin/sh
# debian-nonfree.sh DIR PACKAGE... unpacks packages of Debian 12 non-free in DIR. It
# needs no root and does not change the system: apt uses sources, a cache and a state
# under DIR/.apt. It needs apt-get, dpkg-deb and Debian's keyring, and does not
# follow dependencies. UNPACK, patterns for tar --wildcards, selects the files.
set -eu
dir=$1
shift

for tool in apt-get dpkg-deb tar; do
	command -v $tool >/dev/null || { echo "$0: needs $tool, as on Debian or Ubuntu" >&2; exit 1; }
done
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
[ -f $keyring ] || { echo "$0: needs $keyring: apt-get install debian-archive-keyring" >&2; exit 1; }

mkdir -p "$dir/.apt/lists/partial" "$dir/.apt/cache/archives/partial"
dir=$(cd "$dir" && pwd)
apt=$dir/.apt
: >"$apt/status"
echo "deb [signed-by=$keyring] http://deb.debian.org/debian bookworm non-free" >"$apt/sources.list"

own() {
	apt-get -q -o Dir::Etc::SourceList="$apt/sources.list" -o Dir::Etc::SourceParts=/dev/null \
		-o Dir::State="$apt" -o Dir::State::Lists="$apt/lists" -o Dir::State::status="$apt/status" \
		-o Dir::Cache="$apt/cache" -o APT::Sandbox::User="$(id -un)" -o Acquire::Languages=none -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false \
		-o Debug::NoLocking=1 "$@"
}

own update >&2
for package in "$@"; do
	(cd "$apt" && rm -f "${package}"_*.deb && own download "$package" >&2)
	deb=$(ls "$apt/${package}"_*.deb)
	if [ -n "${UNPACK:-}" ]; then
		set -f # the patterns are for tar
		# shellcheck disable=SC2086
		dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$dir" --wildcards $UNPACK
		set +f
	else
		dpkg-deb -x "$deb" "$dir"
	fi
done
rm -rf "$apt"
