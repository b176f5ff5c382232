package cli

import (
	"encoding/base64"
	"testing"

	"github.com/vimbroker/vimbroker/policy/audit/tree"
)

func TestAnchors(t *testing.T) {
	root := func(n int) string { return base64.StdEncoding.EncodeToString(make([]byte, n)) }
	want := tree.Head{Size: 4711}
	if got, ok := parseAnchor(anchorText(want)); !ok || got != want {
		t.Errorf("parseAnchor of what anchorText wrote = %v, %v", got, ok)
	}
	for _, text := range []string{"", "7", ":" + root(32), "-1:" + root(32), "x:" + root(32), "7:" + root(31), "7:" + root(33), "7:", "7:*"} {
		if got, ok := parseAnchor(text); ok {
			t.Errorf("parseAnchor(%q) = %v, want none", text, got)
		}
	}
}
