package bench

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/vimbroker/vimbroker/test/story"
)

// program is the one binary, built when it is first needed.
type program struct {
	dir  string
	once sync.Once
	path string
}

func (p *program) binary(b *testing.B) string {
	b.Helper()
	p.once.Do(func() {
		p.path = story.Build(b, p.dir, "-trimpath", "-ldflags", "-s -w")
	})
	if p.path == "" {
		b.Fatal("there is no program to measure")
	}
	return p.path
}

// serveIn starts the program in the try-out mode on a data directory, and
// returns when it says that it is ready.
func serveIn(bin, home, data string) (*story.Broker, error) {
	return story.Serve(bin, home, []string{"HOME=" + home, "TMPDIR=" + home}, "--dev", "--listen", "127.0.0.1:0", "--data-dir", data)
}

// devToken is the administrator's token of a server that runs with --dev on a data directory.
func devToken(b *testing.B, data string) string {
	b.Helper()
	token, err := os.ReadFile(filepath.Join(data, "dev-token"))
	if err != nil {
		b.Fatal(err)
	}
	return strings.TrimSpace(string(token))
}
