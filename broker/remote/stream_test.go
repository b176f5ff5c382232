package remote_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker/remote"
)

// TestLinesAreBounded: a line that is too long, or has too many values, ends a stream.
func TestLinesAreBounded(t *testing.T) {
	limit := remote.Limit{Bytes: 64, Values: 10, Items: 5}
	for name, bad := range map[string]string{
		"too long":        `{"a":"` + strings.Repeat("x", 100) + `"}`,
		"too many values": `{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7}`,
		"too many items":  `[1,2,3,4,5,6,7]`,
	} {
		var got []string
		var failed error
		for line, err := range remote.Lines(strings.NewReader(`{"a":1}`+"\n\n"+bad+"\n"+`{"b":2}`+"\n"), limit, "the server") {
			if failed = err; err == nil {
				got = append(got, string(line))
			}
		}
		var f *remote.Fault
		if len(got) != 1 || got[0] != `{"a":1}` || !errors.As(failed, &f) || f.Detail == "" {
			t.Errorf("%s: read %q, then %v; want the first line, and a fault", name, got, failed)
		}
	}
}
