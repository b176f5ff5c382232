package rows

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/vimbroker/vimbroker/broker"
)

// Fingerprint tells one text of a migration from another. A store notes that of its first one, the schema, in the
// database that it makes: until version 1.0.0 each change edits that file, and no database is carried over.
func Fingerprint(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Migration reads the file of a version, which its name begins with.
func Migration(files fs.FS, name string, version int) ([]byte, error) {
	if n, _, _ := strings.Cut(path.Base(name), "_"); n != fmt.Sprintf("%04d", version) {
		return nil, fmt.Errorf("it stands where number %d belongs", version)
	}
	return fs.ReadFile(files, name)
}

// DemandMaker fails if a database was not made by the text of this file.
func DemandMaker(files fs.FS, first, made string) error {
	text, err := fs.ReadFile(files, first)
	if err == nil && made != Fingerprint(text) {
		err = OtherSchema()
	}
	return err
}

// OtherSchema refuses a database that another text of the schema made.
func OtherSchema() error {
	return &broker.Error{
		Kind:   broker.ErrUnsupported,
		Detail: "another version made the database, and before 1.0.0 none is carried over",
		Remedy: "revoke its leases with that version, then begin anew with an empty database",
	}
}

// Differing names the parts of a schema that are not as wanted: each by its definition.
func Differing(wanted, standing map[string]string) []string {
	all := maps.Clone(wanted)
	maps.Copy(all, standing)
	maps.DeleteFunc(all, func(name, _ string) bool { return wanted[name] == standing[name] })
	return slices.Sorted(maps.Keys(all))
}
