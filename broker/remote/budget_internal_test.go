package remote

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/vimbroker/vimbroker/policy/egress"
)

func TestProxyOfTheEnvironmentIsNotUsed(t *testing.T) {
	way, err := New(egress.Default(), Options{Server: "the server"})
	if err != nil {
		t.Fatal(err)
	}
	under, err := way.current()
	if err != nil || under.Proxy != nil {
		t.Errorf("the transport has a proxy function (%v); net/http caches the environment, so this is looked at directly", err)
	}
}

// While the budget is used up, a large answer fails at once and a small one waits.
func TestAnswersShareABudget(t *testing.T) {
	long := bytes.Repeat([]byte("x"), 2*chunk)
	if err := budget.Acquire(t.Context(), maxDecoding-chunk); err != nil {
		t.Fatal(err)
	}
	if _, _, err := read(t.Context(), bytes.NewReader(long), len(long)); !errors.Is(err, errBusy) {
		t.Errorf("reading a large answer = %v, want %v", err, errBusy)
	}
	body, release, err := read(t.Context(), bytes.NewReader(long[:chunk/2]), len(long))
	if err != nil || len(body) != chunk/2 {
		t.Fatalf("reading a small answer = %d bytes, %v", len(body), err)
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := read(done, bytes.NewReader(long[:1]), len(long)); !errors.Is(err, context.Canceled) {
		t.Errorf("reading without a share = %v, want %v", err, context.Canceled)
	}
	if err := Decode(done, []byte("{}"), new(any)); !errors.Is(err, context.Canceled) {
		t.Errorf("decoding without a share = %v, want %v", err, context.Canceled)
	}
	release()
	budget.Release(maxDecoding - chunk)
	if body, release, err = read(t.Context(), bytes.NewReader(long), len(long)); err != nil || len(body) != len(long) {
		t.Fatalf("reading with the budget free = %d bytes, %v", len(body), err)
	}
	release()
	if !budget.TryAcquire(maxDecoding) {
		t.Fatal("a share was not given back")
	}
	budget.Release(maxDecoding)
}
