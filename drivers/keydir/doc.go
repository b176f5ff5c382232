//go:build unix

// Package keydir keeps Fernet keys as files in one local directory. It is the
// embedded default: enough for one machine, where no Vault or Barbican is.
//
//	DIR/                             0700, ours, not a symbolic link
//	  .tmp-<32 hex digits>           0600, a key being written; swept at Open
//	  <last 2 digits of the id>/     0700, one of 256, made when first needed
//	    <id>.<generation>.<32 hex>   0600, one key: 44 bytes of base64url
//
// The file name is the key's reference. It is made of the VIM's UUID, a number,
// and 128 random bits; it contains nothing that a person typed. The 256 folders
// keep both the listing of one VIM and the reading of one key fast with many
// thousand keys.
//
// A key appears under its name whole or not at all, and never over another: it is
// written and synced under a temporary name, linked to its own (which fails if
// that exists), and the folder is synced. No symbolic link is followed from
// the directory on, which is opened once. Modes do not depend on the umask.
//
// What is not promised: that a deleted key cannot be recovered from the disk. The
// blocks are overwritten after the file is removed, but journals, copy-on-write
// file systems, flash and backups keep copies. Encrypt the volume. Nor are keys
// kept from root, or from another process of the same user.
package keydir
