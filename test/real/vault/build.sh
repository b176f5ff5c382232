#!/usr/bin/env bash
# Builds the real Vault that the tests run from the Go module proxy into DIR.
#   ./build.sh DIR
set -euo pipefail
cd "$(dirname "$0")"
out=${1:?usage: build.sh DIR}
mkdir -p "$out"
echo "building Vault into $out"
go build -trimpath -tags minimal -ldflags "-s -w" -o "$out/vault" github.com/hashicorp/vault
