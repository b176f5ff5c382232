package conformance

import (
	"encoding/base64"
	"encoding/hex"
	"log"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/test/fake"
)

// canaries are keys, in the spellings in which they could leak.
type canaries struct {
	mu        sync.Mutex
	spellings map[string]string // text to look for -> name of the spelling
}

func (c *canaries) add(key *secret.Key) {
	encoded := key.Encode()
	raw, err := base64.URLEncoding.DecodeString(string(encoded))
	if err != nil {
		panic("a key does not encode to base64url")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.spellings == nil {
		c.spellings = make(map[string]string)
	}
	c.spellings[string(encoded[:40])] = "base64url" // without what padding may change
	c.spellings[base64.StdEncoding.EncodeToString(raw)[:40]] = "base64"
	c.spellings[base64.StdEncoding.EncodeToString(encoded)[:56]] = "base64 of base64url"
	c.spellings[hex.EncodeToString(raw)] = "hexadecimal"
	c.spellings[string(raw)] = "raw bytes"
}

// in returns the name of the first spelling of any key that text holds, or "".
func (c *canaries) in(text string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	lower := strings.ToLower(text)
	for canary, name := range c.spellings {
		if strings.Contains(text, canary) || name == "hexadecimal" && strings.Contains(lower, canary) {
			return name
		}
	}
	return ""
}

// captureLogs takes what goes to the default loggers, at every level, until the
// test ends. Tests that use it are not parallel.
func captureLogs(t *testing.T) *fake.Buffer {
	t.Helper()
	logs := new(fake.Buffer)
	logger, writer, flags := slog.Default(), log.Writer(), log.Flags()
	slog.SetDefault(slog.New(slog.NewTextHandler(logs, &slog.HandlerOptions{Level: slog.LevelDebug - 8})))
	log.SetOutput(logs) // after SetDefault, which redirects package log to slog
	t.Cleanup(func() {
		slog.SetDefault(logger)
		log.SetOutput(writer)
		log.SetFlags(flags)
	})
	return logs
}
