#!/usr/bin/env bash
# Builds the real Kubernetes that the tests run (etcd, API server, controller
# manager, kubectl) from the Go module proxy into DIR. Cold: about ten minutes
# on two cores; afterwards seconds, from Go's build cache.
#   ./build.sh DIR
set -euo pipefail
cd "$(dirname "$0")"
out=${1:?usage: build.sh DIR}
version=v1.36.3
mkdir -p "$out"
v=k8s.io/component-base/version
ldflags="-s -w -X $v.gitVersion=$version -X $v.gitMajor=1 -X $v.gitMinor=36"
echo "building etcd, kube-apiserver, kube-controller-manager and kubectl $version into $out"
build() { go build -trimpath -ldflags "$ldflags" -o "$out/$1" "$2"; }
build etcd go.etcd.io/etcd/server/v3
build kube-apiserver k8s.io/kubernetes/cmd/kube-apiserver
build kube-controller-manager k8s.io/kubernetes/cmd/kube-controller-manager
build kubectl k8s.io/kubernetes/cmd/kubectl
