package test

import (
	"path/filepath"
	"testing"
)

// TestSchemaIsOneFile: until version 1.0.0 a change of the schema edits the one file that each store has. From then on
// this test goes, and files follow that are the same in number on both stores.
func TestSchemaIsOneFile(t *testing.T) {
	for _, store := range []string{"postgres", "sqlite"} {
		files, err := filepath.Glob(filepath.Join("..", "drivers", store, "migrations", "*"))
		if err != nil {
			t.Fatal(err)
		}
		if len(files) != 1 || filepath.Base(files[0]) != "0001_schema.sql" {
			t.Errorf("drivers/%s/migrations holds %q, want 0001_schema.sql alone: edit that", store, files)
		}
	}
}
