// Package vault keeps Fernet keys in HashiCorp Vault, or in OpenBao, which speaks
// the same API: one secret of a KV version 2 engine per key.
//
//	MOUNT/data/PATH/<vim id>/<generation>.<32 hex digits>   {"key": "<44 bytes of base64url>"}
//	MOUNT/data/PATH/check/<32 hex digits>                   {"probe": ...}, there while Check runs
//
// The reference of a key is the part behind PATH. It is made of the VIM's UUID, a
// number, and 128 random bits; nothing that a person typed stands in it.
//
// A key is created, never overwritten (check-and-set 0), read as its version 1
// whatever came after, and deleted by destroying all its versions and then its
// metadata, until a look at the metadata finds nothing: what Vault then holds of
// the key is a name in its audit log. No setting of the mount is assumed
// (max_versions, cas_required, delete_version_after are the operator's). No key
// is ever served from memory: while Vault does not answer, no credential opens.
//
// A write whose answer was lost is looked up instead of repeated; everything else
// is repeated once where the connection broke, and never after a timeout.
//
// The store logs in when first needed, again when its token stops working, and
// keeps the token alive while [Store.Run] runs. When logging in fails, calls say
// why, and work again as soon as Vault lets them, without a restart.
//
// What to allow this store in Vault is in deploy/vault-policy.hcl.
package vault
