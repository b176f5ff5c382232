// Package keyring seals texts, each under a Fernet key of its own in a key store, and opens them. Everything that the
// broker seals goes through it: the credentials of VIMs, the keys that sign tokens and the audit log, the broker's
// credentials at subscribers, and the secret parameters of VNF instances.
//
// The row of the sealed text is its owner's, and so is the order of the writes:
//
//  1. A row with the intent. From here on the pass of the owner finds the work that a process that died has left.
//  2. [Ring.Seal]: the new key is in a key store, and no row names it yet.
//  3. One write that names the new key in the row, and puts the old one on the ledger of retired keys.
//  4. [Ring.Destroy] of what is on the ledger. Where 3 did not come about, [Ring.Drop] destroys what 2 has left, and only
//     then the row goes.
//
// So a process that is killed at any line leaves no key without a row that leads to it, and no row that names a key
// which is destroyed.
package keyring
