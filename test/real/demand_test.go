package real

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// told is a test that notes what it is told to do, and goes on.
type told struct {
	testing.TB
	text string
}

func (t *told) Helper()                          {}
func (t *told) Skipf(format string, args ...any) { t.text += "skip: " + fmt.Sprintf(format, args...) }

func (t *told) Fatalf(format string, args ...any) { t.text += "fail: " + fmt.Sprintf(format, args...) }

// A real system that cannot be had skips a test, but where it is demanded.
func TestASkipIsAFailureWhereTheSystemIsDemanded(t *testing.T) {
	missing, broken := fmt.Errorf("%w: etcd in bin/kube", errNoPrograms), errors.New("bin/kube cannot be read")
	for _, c := range []struct {
		demand string
		err    error
		want   string
	}{
		{"", nil, ""},
		{"1", nil, ""},
		{"0", nil, "skip: needs a real System: VIMBROKER_REAL=0 says no"},
		{"", missing, "skip: needs a real System: programs not found: etcd"},
		{"1", missing, "fail: needs a real System: programs not found: etcd"},
		{"", broken, "fail: needs a real System: bin/kube cannot be read"},
		{"1", broken, "fail: needs a real System: bin/kube cannot be read"},
	} {
		t.Setenv(Demand, c.demand)
		got := &told{}
		demand(got, "System", func() (string, error) { return "bin/kube", c.err })
		if !strings.HasPrefix(got.text, c.want) || (c.want == "") != (got.text == "") {
			t.Errorf("with %s=%q and %v the test is told %q, want %q", Demand, c.demand, c.err, got.text, c.want)
		}
	}
}
