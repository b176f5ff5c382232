#!/usr/bin/env bash
# Builds Multus, whereabouts and the network plugins that the tests call, from the Go module proxy into DIR.
# Cold: two minutes on two cores; afterwards seconds, from Go's build cache.
#   ./build.sh DIR
set -euo pipefail
cd "$(dirname "$0")"
out=${1:?usage: build.sh DIR}
mkdir -p "$out"
plugins=github.com/containernetworking/plugins/plugins
for tool in gopkg.in/k8snetworkplumbingwg/multus-cni.v4/cmd/multus $plugins/main/{bridge,macvlan,vlan,loopback} $plugins/ipam/{host-local,static} \
	$plugins/meta/tuning; do
	go build -trimpath -ldflags "-s -w" -o "$out/$(basename "$tool")" "$tool"
done
go build -trimpath -ldflags "-s -w" -o "$out/whereabouts" github.com/k8snetworkplumbingwg/whereabouts/cmd
