package cli

import (
	"path/filepath"
	"reflect"
	"testing"

	"github.com/vimbroker/vimbroker/broker/notary"
)

// What "audit verify" keeps vouches for every key of the log but those that are revoked.
func TestARevokedKeyIsNotKept(t *testing.T) {
	name := filepath.Join(t.TempDir(), "kept.json")
	keys := []notary.SigningKey{{Verifier: "a"}, {Verifier: "b", State: notary.Revoked}, {Verifier: "c"}}
	if err := writeKept(name, "checkpoint", keys); err != nil {
		t.Fatal(err)
	}
	k, err := readKept(name)
	if err != nil || !reflect.DeepEqual(k, kept{Checkpoint: "checkpoint", Keys: []string{"a", "c"}}) {
		t.Errorf("kept is %+v, %v", k, err)
	}
}
