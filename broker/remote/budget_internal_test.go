package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

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

// reader is a share whose call ends where it has to give way.
func reader(t *testing.T, b *budget, bytes int) (s *share, ended func() bool) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	s = b.share(cancel)
	if err := s.grow(ctx, bytes); err != nil {
		t.Fatalf("a share of %d: %v", bytes, err)
	}
	return s, func() bool { return ctx.Err() != nil }
}

// allFree wants that every share was given back, and that nobody is expected to give way.
func (b *budget) allFree(t *testing.T, bytes int) {
	t.Helper()
	if b.free != bytes || b.coming != 0 || b.settled != 0 || b.wanted != 0 || len(b.queue) != 0 || len(b.reading) != 0 {
		t.Errorf("%d of %d are free, %d are to come, %d settled, %d wanted by %d, %d being read", b.free, bytes, b.coming, b.settled, b.wanted, len(b.queue), len(b.reading))
	}
}

// Where there is no room, the largest answer that is still being read gives way to a smaller one.
func TestTheLargestAnswerGivesWay(t *testing.T) {
	b := newBudget(100)
	small, smallEnded := reader(t, b, 20)
	large, largeEnded := reader(t, b, 50)
	decoded, decodedEnded := reader(t, b, 30)
	if err := decoded.settle(); err != nil {
		t.Fatal(err)
	}
	more := b.share(func() {})
	grown := make(chan error)
	go func() { grown <- more.grow(t.Context(), 40) }()
	for !largeEnded() {
		runtime.Gosched()
	}
	if smallEnded() || decodedEnded() {
		t.Error("another than the largest that is being read gives way")
	}
	// 50 are to come and 30 are decoded, 40 of them promised to the one that waits: a second asks for room of its own.
	if err := small.grow(t.Context(), 41); !errors.Is(err, errBusy) {
		t.Errorf("growing to 61 while nothing larger is being read = %v, want %v", err, errBusy)
	}
	if err := large.settle(); !errors.Is(err, errBusy) {
		t.Errorf("the answer that gave way = %v, want %v", err, errBusy)
	}
	if err := large.grow(t.Context(), 1); !errors.Is(err, errBusy) {
		t.Errorf("the answer that gave way grows: %v", err)
	}
	large.release()
	large.release()
	if err := <-grown; err != nil {
		t.Errorf("the answer that has waited: %v", err)
	}
	for _, s := range []*share{small, decoded, more} {
		s.release()
	}
	b.allFree(t, 100)
}

// An answer that has nothing yet waits where nothing larger is read; one that has something fails, so that
// no two wait for each other.
func TestWhoHasNothingWaits(t *testing.T) {
	b := newBudget(100)
	one, _ := reader(t, b, 50)
	two, _ := reader(t, b, 50)
	for _, s := range []*share{one, two} {
		if err := s.grow(t.Context(), 50); !errors.Is(err, errBusy) {
			t.Errorf("growing with equals beside = %v, want %v", err, errBusy)
		}
	}
	three, grown := b.share(func() {}), make(chan error)
	go func() { grown <- three.grow(t.Context(), 60) }()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.share(func() {}).grow(gone, 60); !errors.Is(err, context.Canceled) {
		t.Errorf("waiting beyond its call = %v, want %v", err, context.Canceled)
	}
	one.release()
	two.release()
	if err := <-grown; err != nil {
		t.Errorf("the answer that has waited: %v", err)
	}
	three.release()
	clear(b.reading) // of the one whose call was over
	b.allFree(t, 100)
}

// An answer that was read gives no more way, however large it is.
func TestWhatWasReadGivesNoWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(100)
		read, ended := reader(t, b, 70)
		if err := read.settle(); err != nil {
			t.Fatal(err)
		}
		grown := make(chan error, 2)
		for _, bytes := range []int{40, 65} {
			s := b.share(func() {})
			go func() {
				err := s.grow(t.Context(), bytes)
				s.release()
				grown <- err
			}()
			synctest.Wait()
		}
		if ended() || len(grown) > 0 {
			t.Errorf("the answer that was read is ended: %v, and %d others have room", ended(), len(grown))
		}
		read.release()
		for range 2 {
			if err := <-grown; err != nil {
				t.Error(err)
			}
		}
		b.allFree(t, 100)
	})
}

// Where answers that are being decoded hold the room, those that are being read wait for it, whatever
// they have already, and nobody gives way.
func TestDecodingIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(100)
		decoded, _ := reader(t, b, 50)
		if err := decoded.settle(); err != nil {
			t.Fatal(err)
		}
		large, largeEnded := reader(t, b, 40)
		small, _ := reader(t, b, 10)
		grown := make(chan error, 3)
		all := map[*share]int{large: 25, small: 15, b.share(func() {}): 10}
		for s, more := range all {
			go func() { grown <- s.grow(t.Context(), more) }()
		}
		synctest.Wait()
		if len(grown) != 0 || largeEnded() {
			t.Errorf("%d have ended without room; the large one gives way: %v", len(grown), largeEnded())
		}
		decoded.release()
		decoded.release()
		for range 3 {
			if err := <-grown; err != nil {
				t.Errorf("an answer that has waited: %v", err)
			}
		}
		for s := range all {
			if err := s.settle(); err != nil {
				t.Error(err)
			}
			s.release()
		}
		b.allFree(t, 100)
	})
}

// Who waits for the whole time of its call finds no room; one whose call somebody ends is told that.
func TestWaitingEndsWithItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(100)
		decoded, _ := reader(t, b, 90)
		_ = decoded.settle()
		small, _ := reader(t, b, 10)
		late, cancel := context.WithTimeout(t.Context(), answerTimeout)
		defer cancel()
		if err := small.grow(late, 10); !errors.Is(err, errBusy) || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("waiting for the time of a call = %v, want %v", err, errBusy)
		}
		ended, end := context.WithCancel(t.Context())
		end()
		if err := small.grow(ended, 10); !errors.Is(err, context.Canceled) {
			t.Errorf("waiting in a call that has ended = %v, want %v", err, context.Canceled)
		}
		small.release()
		decoded.release()
		b.allFree(t, 100)
	})
}

// Many answers at a time, however they come and end, wait for each other in no circle, and all room comes back.
func TestNobodyWaitsForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // it fails where all wait
		const room = 1000
		b := newBudget(room)
		var all sync.WaitGroup
		for n := range 400 {
			luck := rand.New(rand.NewPCG(1, uint64(n))) //nolint:gosec // no secret hangs on it
			all.Go(func() {
				ctx, end := context.WithCancel(context.Background())
				defer end()
				s := b.share(end)
				defer s.release()
				for range 4 {
					if s.grow(ctx, 1+luck.IntN(room/5)) != nil {
						return
					}
					runtime.Gosched()
				}
				if s.settle() == nil {
					runtime.Gosched()
				}
			})
		}
		all.Wait()
		b.allFree(t, room)
	})
}

// panics is a body whose reading panics.
type panics struct{}

func (panics) Read([]byte) (int, error) { panic("a body") }
func (panics) Close() error             { return nil }

// An answer whose reading panics has no share afterwards.
func TestAPanicReleasesTheShare(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	defer end()
	defer func() {
		if recover() == nil {
			t.Error("nothing has panicked")
		}
		answers.allFree(t, maxDecoding)
	}()
	_ = take(ctx, t.Context(), end, &http.Response{Body: panics{}})
}

// Each answer that may be read has room, with all the values that it may hold.
func TestOneAnswerFitsInTheBudget(t *testing.T) {
	for _, l := range []Limit{Small, Catalog, List, Keys, {Bytes: 6 << 20, Values: 400_000}} { // the last is of drivers/manifests
		if n := l.Bytes + 1 + l.Values*perValue; n > maxDecoding {
			t.Errorf("%+v takes %d, more than all of %d", l, n, maxDecoding)
		}
	}
}

// What the server says of an answer's length is believed no further than that it saves memory.
func TestTheLengthOfAnAnswerIsAGuess(t *testing.T) {
	b := newBudget(20 * chunk)
	get := func(text []byte, said int64, limit int) ([]byte, error) {
		s := b.share(func() {})
		defer s.release()
		body, err := read(t.Context(), s, bytes.NewReader(text), said, limit)
		if len(body) > s.size || s.size > max(chunk, limit+1) {
			t.Errorf("%d of %d bytes are read under a limit of %d, with a share of %d", len(body), len(text), limit, s.size)
		}
		return body, err
	}
	for _, length := range []int{0, 1, 700, chunk - 1, chunk, chunk + 1, 5 * chunk} {
		for _, said := range []int64{-1, 0, 1, 700, chunk - 1, chunk, 1 << 40} {
			text := bytes.Repeat([]byte("x"), length)
			body, err := get(text, said, 5*chunk)
			if err != nil || !bytes.Equal(body, text) {
				t.Fatalf("an answer of %d bytes that says %d is read as %d, %v", length, said, len(body), err)
			}
			if most := max(chunk, 4*length); cap(body) > most || said == int64(length) && length < chunk/2 && cap(body) >= chunk {
				t.Errorf("an answer of %d bytes that says %d takes %d", length, said, cap(body))
			}
			if _, err := get(append(text, 'x'), said, length); err == nil {
				t.Errorf("an answer of %d bytes that says %d is read under a limit of %d", length+1, said, length)
			}
		}
	}
	b.allFree(t, 20*chunk)
}

// What a decoder takes for JSON is counted: the counting is no stricter than encoding/json.
func TestWhatIsDecodedIsCounted(t *testing.T) {
	l := Limit{Values: 10, Items: 5}
	for _, odd := range []string{
		`"\ud800"`, "\"\xff\"", `"\udc00\ud800"`, `"\/\u0000"`, "\"\x7f\u2028\"", `-0`, `1E+5`, `0e0`, `123456789012345678901234567890`,
		`"a":1,"a":2`, `"":0`, `null`,
	} {
		text := "\r\n\t [" + odd + `,[1,1,1,1,1,1,1]]`
		if strings.Contains(odd, ":") {
			text = "{" + odd + `,"b":[1,1,1,1,1,1,1]}`
		}
		if err := json.Unmarshal([]byte(text), new(any)); err != nil {
			t.Fatalf("encoding/json refuses %q, so it says nothing here: %v", text, err)
		}
		if _, err := l.check([]byte(text)); err == nil {
			t.Errorf("%q is decoded and was not counted", text)
		}
	}
}
