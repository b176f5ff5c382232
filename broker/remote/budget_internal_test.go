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
	if _, _, err := read(t.Context(), bytes.NewReader(long), -1, len(long)); !errors.Is(err, errBusy) {
		t.Errorf("reading a large answer = %v, want %v", err, errBusy)
	}
	body, release, err := read(t.Context(), bytes.NewReader(long[:chunk/2]), -1, len(long))
	if err != nil || len(body) != chunk/2 {
		t.Fatalf("reading a small answer = %d bytes, %v", len(body), err)
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := read(done, bytes.NewReader(long[:1]), -1, len(long)); !errors.Is(err, context.Canceled) {
		t.Errorf("reading without a share = %v, want %v", err, context.Canceled)
	}
	if err := Decode(done, []byte("{}"), new(any)); !errors.Is(err, context.Canceled) {
		t.Errorf("decoding without a share = %v, want %v", err, context.Canceled)
	}
	release()
	budget.Release(maxDecoding - chunk)
	if body, release, err = read(t.Context(), bytes.NewReader(long), -1, len(long)); err != nil || len(body) != len(long) {
		t.Fatalf("reading with the budget free = %d bytes, %v", len(body), err)
	}
	release()
	if !budget.TryAcquire(maxDecoding) {
		t.Fatal("a share was not given back")
	}
	budget.Release(maxDecoding)
}

// What the server says of an answer's length is believed no further than that it saves memory.
func TestTheLengthOfAnAnswerIsAGuess(t *testing.T) {
	for _, length := range []int{0, 1, 700, chunk - 1, chunk, chunk + 1, 5 * chunk} {
		for _, said := range []int64{-1, 0, 1, 700, chunk - 1, chunk, 1 << 40} {
			text := bytes.Repeat([]byte("x"), length)
			body, release, err := read(t.Context(), bytes.NewReader(text), said, 5*chunk)
			if err != nil || !bytes.Equal(body, text) {
				t.Fatalf("an answer of %d bytes that says %d is read as %d, %v", length, said, len(body), err)
			}
			if most := max(chunk, 4*length); cap(body) > most || said == int64(length) && length < chunk/2 && cap(body) >= chunk {
				t.Errorf("an answer of %d bytes that says %d takes %d", length, said, cap(body))
			}
			release()
			if _, _, err := read(t.Context(), bytes.NewReader(append(text, 'x')), said, length); err == nil {
				t.Errorf("an answer of %d bytes that says %d is read under a limit of %d", length+1, said, length)
			}
		}
	}
	if !budget.TryAcquire(maxDecoding) {
		t.Fatal("a share was not given back")
	}
	budget.Release(maxDecoding)
}
