package rows

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/vimbroker/vimbroker/broker"
)

// Fingerprint tells one text of a migration from another. A store notes that of its first one, the schema, in the
// database that it makes: until version 1.0.0 each change edits that file, and no database is carried over.
func Fingerprint(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// OtherSchema refuses a database that another text of the schema made.
func OtherSchema() error {
	return &broker.Error{
		Kind:   broker.ErrUnsupported,
		Detail: "another version made the database, and before 1.0.0 none is carried over",
		Remedy: "revoke its leases with that version, then begin anew with an empty database",
	}
}
