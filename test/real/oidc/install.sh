#!/usr/bin/env bash
# Installs the certified provider of OpenID Connect, oidc-provider (npm, 3 MB), into a directory. No script of a
# package is run. It needs node and npm.
set -euo pipefail

to=${1:?usage: install.sh DIRECTORY}
version=9.13.3
if [ -d "$to/node_modules/oidc-provider" ]; then
	exit 0
fi
if ! command -v npm >/dev/null; then
	echo "There is no npm to install oidc-provider with." >&2
	exit 1
fi
echo "installing oidc-provider $version (npm)" >&2
mkdir -p "$to"
npm install --prefix "$to" --silent --no-fund --no-audit --ignore-scripts "oidc-provider@$version"
