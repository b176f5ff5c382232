#!/usr/bin/env bash
# Makes a package of a management cluster: manager.yaml of this directory, the definitions and the
# role of Cluster API's core manager, and a certificate that nobody has to trust.
#   ./package.sh CAPI_DIR OUT.csar [FLAG...]     flags of "vimbroker package create"
# CAPI_DIR is what "make capi-tools" fills: bin/capi.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
capi=${1:?usage: package.sh CAPI_DIR OUT.csar [FLAG...]} out=${2:?usage: package.sh CAPI_DIR OUT.csar [FLAG...]}
shift 2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/definitions"
cp "$here/manager.yaml" "$capi/role.yaml" "$dir/"
for file in "$capi"/crds/*.yaml; do
  # The label says which contract the definition follows; Cluster API's own releases have it too.
  sed 's|^  name: \(.*\)\.cluster\.x-k8s\.io$|&\n  labels: {cluster.x-k8s.io/v1beta2: v1beta2, cluster.x-k8s.io/provider: cluster-api}|' "$file" \
    > "$dir/definitions/$(basename "$file")"
done
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 -subj /CN=capi-webhook \
  -keyout "$dir/tls.key" -out "$dir/tls.crt" 2> "$dir/openssl.log" || { cat "$dir/openssl.log" >&2; exit 1; }
cat > "$dir/certificate.yaml" <<SECRET
apiVersion: v1
kind: Secret
metadata:
  name: capi-webhook-certificate
type: kubernetes.io/tls
data:
  tls.crt: $(base64 < "$dir/tls.crt" | tr -d '\n')
  tls.key: $(base64 < "$dir/tls.key" | tr -d '\n')
SECRET
vimbroker package create "$dir" --vnfd management-cluster-1.14 --provider cluster-api --product management-cluster --version 1.14.2 --out "$out" "$@"
