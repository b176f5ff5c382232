#!/usr/bin/env bash
# Unpacks rpm, which installs the package in a test, into a directory: from Debian's packages (11 MB),
# which are downloaded and not installed. Where there is no apt-get, put an rpm into the path.
set -euo pipefail

to=${1:?usage: unpack.sh DIRECTORY}
if [ -x "$to/usr/bin/rpm" ] || command -v rpm >/dev/null; then
	exit 0
fi
if ! command -v apt-get >/dev/null; then
	echo "There is no rpm in $to nor in the path, and no apt-get to get it with." >&2
	exit 1
fi
echo "unpacking rpm (apt-get download)" >&2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt=(apt-get -q -y -o DPkg::Lock::Timeout=600 -o Acquire::Retries=3)
packages=(rpm rpm-common librpm9 librpmio9 librpmbuild9 librpmsign9 liblua5.3-0 libfsverity0 libdw1 libelf1 libpopt0 libmagic1 libarchive13)
"${apt[@]}" download "${packages[@]}" 2>/dev/null || { "${apt[@]}" update && "${apt[@]}" download "${packages[@]}"; }
for package in *.deb; do
	dpkg-deb -x "$package" root
done
mkdir -p "$to"
cp -a root/. "$to/"
