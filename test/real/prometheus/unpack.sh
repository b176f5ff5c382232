#!/usr/bin/env bash
# Unpacks promtool, which checks and tests alert rules, into a directory: from Debian's package
# prometheus (19 MB), which is downloaded and not installed. Nothing is started. Where there is
# no apt-get, put a promtool into the directory or into the path.
set -euo pipefail

to=${1:?usage: unpack.sh DIRECTORY}
if [ -x "$to/promtool" ] || command -v promtool >/dev/null; then
	exit 0
fi
if ! command -v apt-get >/dev/null; then
	echo "There is no promtool in $to nor in the path, and no apt-get to get it with." >&2
	exit 1
fi
echo "unpacking promtool (apt-get download prometheus)" >&2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt=(apt-get -q -y -o DPkg::Lock::Timeout=600 -o Acquire::Retries=3)
"${apt[@]}" download prometheus 2>/dev/null || { "${apt[@]}" update && "${apt[@]}" download prometheus; }
dpkg-deb -x prometheus_*.deb .
mkdir -p "$to"
install -m 0755 usr/bin/promtool "$to/promtool"
