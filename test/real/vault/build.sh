#!/usr/bin/env bash
# Builds the real Vault that the tests run, or another program of its module, from the Go module
# proxy into DIR.
#   ./build.sh DIR [PACKAGE]
set -euo pipefail
cd "$(dirname "$0")"
out=${1:?usage: build.sh DIR [PACKAGE]}
package=${2:-github.com/hashicorp/vault}
mkdir -p "$out"
echo "building $(basename "$package") into $out"
go build -trimpath -tags minimal -ldflags "-s -w" -o "$out/$(basename "$package")" "$package"
