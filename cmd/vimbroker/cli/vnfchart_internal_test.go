package cli

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/vimbroker/vimbroker/broker/api/sol003"
)

// TestOrderFiles: those of a package, and nothing that only looks like one.
func TestOrderFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "order.yaml")
	for text, want := range map[string][]sol003.WaveRule{
		"waves: [{wave: -1, kind: Job}, {wave: 2, name: web, labels: {tier: front}}]": {
			{Wave: -1, Kind: "Job"}, {Wave: 2, Name: "web", Labels: map[string]string{"tier": "front"}},
		},
		"waves: []":                      {},
		"waves: [{wave: 1, kinds: Job}]": nil,
		"order: []":                      nil,
		"{}":                             nil,
		"a: [":                           nil,
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := orderOf(file)
		if (err == nil) != (want != nil) || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	if got, err := orderOf(""); got != nil || err != nil {
		t.Errorf("without a file: %v, %v", got, err)
	}
}
