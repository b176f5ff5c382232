# What vimbroker needs in Vault, and all it needs. The tests run under this very
# file. Copy it, and put your own names where the KV version 2 mount is not
# "secret" or the path not "vimbroker":
#
#   vault secrets enable -path=secret -version=2 kv
#   vault auth enable approle
#   vault policy write vimbroker vault-policy.hcl
#   vault write auth/approle/role/vimbroker token_policies=vimbroker \
#       token_no_default_policy=true token_ttl=1h token_max_ttl=24h
#
# A server in a pod logs in by its service account instead ("jwt" in the configuration, with the mount path
# "kubernetes"). Vault has the API server review each token, with an account that may:
#
#   kubectl create serviceaccount vault -n vault
#   kubectl create clusterrolebinding vault --clusterrole=system:auth-delegator --serviceaccount=vault:vault
#   vault auth enable kubernetes
#   vault write auth/kubernetes/config kubernetes_host=https://kubernetes.example:6443 \
#       kubernetes_ca_cert=@ca.pem token_reviewer_jwt=@reviewer.jwt disable_local_ca_jwt=true
#   vault write auth/kubernetes/role/vimbroker bound_service_account_names=vimbroker \
#       bound_service_account_namespaces=vimbroker audience=vault token_policies=vimbroker \
#       token_no_default_policy=true token_ttl=1h token_max_ttl=24h

# Keys are created and read. They are never overwritten: there is no "update".
path "secret/data/vimbroker/*" {
  capabilities = ["create", "read"]
}

# Names are listed; a key's metadata is read to confirm that it is gone, and
# deleted with everything that was ever under that name.
path "secret/metadata/vimbroker/*" {
  capabilities = ["list", "read", "delete"]
}

# The versions of a key are destroyed first. There is no "delete" on data, which
# could be undone, and no undelete.
path "secret/destroy/vimbroker/*" {
  capabilities = ["update"]
}

# The token itself: to tell a revoked token from a forbidden request, to keep it
# alive, and to give it back at the end.
path "auth/token/lookup-self" {
  capabilities = ["read"]
}
path "auth/token/renew-self" {
  capabilities = ["update"]
}
path "auth/token/revoke-self" {
  capabilities = ["update"]
}
