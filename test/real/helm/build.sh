#!/usr/bin/env bash
# Builds the real Helm and a real registry (CNCF Distribution), which the tests run, from the Go
# module proxy into DIR.
#   ./build.sh DIR
set -euo pipefail
cd "$(dirname "$0")"
out=${1:?usage: build.sh DIR}
mkdir -p "$out"
echo "building helm and registry into $out"
go build -trimpath -ldflags "-s -w" -o "$out/helm" helm.sh/helm/v4/cmd/helm
go build -trimpath -ldflags "-s -w" -o "$out/registry" github.com/distribution/distribution/v3/cmd/registry
