package replicas

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/vimbroker/vimbroker/test/process"
	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/story"
)

// present is the path of the vimbroker that replicas run, next that of the version
// after it: the same with one more migration.
var present, next string

func TestMain(m *testing.M) {
	process.SideBySide(2)
	if os.Getenv(real.Demand) == "1" {
		if err := build(); err != nil {
			fmt.Fprintln(os.Stderr, "replicas:", err)
			os.Exit(1)
		}
	}
	real.Main(m)
}

// build builds both, where the next run replaces them.
func build() error {
	dir, err := filepath.Abs(filepath.Join("..", "..", "bin", "test"))
	if err != nil {
		return fmt.Errorf("building vimbroker: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("building vimbroker: %w", err)
	}
	overlay, err := oneMoreMigration(dir)
	if err != nil {
		return fmt.Errorf("building the next vimbroker: %w", err)
	}
	present, next = filepath.Join(dir, "replica"), filepath.Join(dir, "replica-next")
	if err := story.BuildAt(present); err != nil {
		return err
	}
	return story.BuildAt(next, "-overlay", overlay)
}

// oneMoreMigration writes into dir what lets the build find testdata/next.sql among
// the migrations of PostgreSQL, after all others.
func oneMoreMigration(dir string) (string, error) {
	migrations, err := filepath.Abs(filepath.Join("..", "..", "drivers", "postgres", "migrations"))
	if err != nil {
		return "", err
	}
	released, err := os.ReadDir(migrations)
	if err != nil {
		return "", err
	}
	text, err := filepath.Abs(filepath.Join("testdata", "next.sql"))
	if err != nil {
		return "", err
	}
	name := filepath.Join(migrations, fmt.Sprintf("%04d_next.sql", len(released)+1))
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{name: text}})
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "next.json")
	return file, os.WriteFile(file, overlay, 0o600)
}
