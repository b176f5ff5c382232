//go:build failpoints

package failpoint

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

var armed struct {
	sync.Mutex
	text string // as it was read
	name string
	left int // how often it is still to be passed, this time included
}

// At kills this process with SIGKILL if name is the armed failpoint.
func At(name string) {
	if !due(name) {
		return
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {} // the signal is on its way: nothing after this line may run
}

// due counts, and reports whether it is time.
func due(name string) bool {
	text := os.Getenv("VIMBROKER_FAILPOINT")
	if filepath.IsAbs(text) {
		content, _ := os.ReadFile(text) // no file, no failpoint
		text = strings.TrimSpace(string(content))
	}
	armed.Lock()
	defer armed.Unlock()
	if text != armed.text {
		armed.text = text
		point, count, _ := strings.Cut(text, "#")
		armed.name, armed.left = point, 1
		if n, err := strconv.Atoi(count); err == nil {
			armed.left = n
		}
	}
	if name == "" || name != armed.name {
		return false
	}
	armed.left--
	return armed.left == 0
}
