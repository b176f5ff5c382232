// Package secret holds what must not be seen: texts that cannot print
// themselves, the Fernet keys that seal them, and the contract of the stores
// those keys live in.
//
// A credential at rest is in two places that are each worthless alone: the
// sealed value ([Seal], [Open]) in the database and its [Key] in a [KeyStore].
// Every write of a credential takes a new key, and the old one is destroyed
// after the row is written, so a row that is put back from a backup does not
// open. Inside each sealed value stands an envelope that names its [Owner] and
// field, so a row that is moved does not open either.
package secret
