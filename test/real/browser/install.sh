#!/usr/bin/env bash
# Installs Debian's Chromium (apt-get, as root), if there is no chromium, and axe-core (npm, 3 MB), which finds what keeps
# people from a page, into a directory. No script of a package of npm is run.
set -euo pipefail

to=${1:?usage: install.sh DIRECTORY}
axe=4.14.1
if ! command -v chromium >/dev/null; then
	if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
		echo "There is no chromium in the path. Install it, or run this as root where there is apt-get." >&2
		exit 1
	fi
	echo "installing chromium (apt-get)" >&2
	export DEBIAN_FRONTEND=noninteractive
	apt=(apt-get -q -y -o DPkg::Lock::Timeout=600 -o Acquire::Retries=3 -o Dpkg::Use-Pty=0)
	"${apt[@]}" install --no-install-recommends chromium || { "${apt[@]}" update && "${apt[@]}" install --no-install-recommends chromium; }
fi
if [ -d "$to/node_modules/axe-core" ]; then
	exit 0
fi
echo "installing axe-core $axe (npm)" >&2
mkdir -p "$to"
npm install --prefix "$to" --silent --no-fund --no-audit --ignore-scripts "axe-core@$axe"
