package replicas

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/secret"
)

const (
	workers  = 4
	mostHeld = 300
	// callLimit is how long a caller waits before it asks another replica.
	callLimit = 3 * time.Second
	backOff   = 200 * time.Millisecond
)

// load is callers who ask any replica, and another one where that does not
// answer, as clients behind a balancer do.
type load struct {
	*fleet
	group sync.WaitGroup
	stop  atomic.Bool
	done  atomic.Int64 // calls that were answered
	// rotated counts the credentials and keys that were exchanged.
	rotated atomic.Int64

	mu      sync.Mutex
	made    int
	ids     map[string]string // leases by the key they were asked for with
	open    []string          // keys whose outcome nobody has told yet
	held    []string          // leases that were answered, and nobody has revoked
	ending  []string          // leases whose revocation nobody has confirmed yet
	revoked []string          // leases that were answered as revoked, or as to be
	tokens  map[string][]string
}

// begin starts the callers.
func (f *fleet) begin() *load {
	l := &load{fleet: f, ids: map[string]string{}, tokens: map[string][]string{}}
	for i := range workers {
		dice := rand.New(rand.NewPCG(uint64(i), 26))
		l.group.Go(func() {
			for !l.stop.Load() {
				l.call(dice)
			}
		})
	}
	f.t.Cleanup(func() { // where the test did not get as far as end
		l.stop.Store(true)
		l.group.Wait()
	})
	return l
}

// more returns when callers have had this many more answers.
func (l *load) more(n int64) {
	l.t.Helper()
	want := l.done.Load() + n
	eventually(l.t, "callers are answered", func(context.Context) error {
		if now := l.done.Load(); now < want {
			return fmt.Errorf("%d answers, want %d", now, want)
		}
		return nil
	})
}

// end stops the callers, settles what nobody will finish, and asks after every
// outcome that is open, until it is told.
func (l *load) end() {
	l.t.Helper()
	l.stop.Store(true)
	l.group.Wait()
	l.settle()
	for _, key := range l.open {
		eventually(l.t, "an issue that was cut off has an outcome", func(ctx context.Context) error {
			err := l.issue(ctx, l.any(), key)
			if client.Status(err) == http.StatusConflict && l.ended(ctx, key) {
				return nil // the issue failed, and a repeat under the key says so
			}
			return err
		})
	}
	for _, id := range l.ending {
		eventually(l.t, "a revocation that was cut off has an outcome", func(ctx context.Context) error { return l.revoke(ctx, l.any(), id) })
	}
	l.open, l.ending = nil, nil
}

// ended reports whether the lease of a key has ended.
func (l *load) ended(ctx context.Context, key string) bool {
	for lease, err := range l.any().AllLeases(ctx, client.LeaseQuery{PageSize: 1000}) {
		if err == nil && lease.Purpose == key {
			return lease.State == "revoking" || lease.State == "revoked"
		}
	}
	return false
}

// any is any replica.
func (f *fleet) any() *replica { return f.replicas[rand.IntN(len(f.replicas))] }

// call does one thing of those that callers do: at one replica, and if that
// fails at another.
func (l *load) call(dice *rand.Rand) {
	n := dice.IntN(20)
	if n == 0 {
		l.try(dice, l.rotate)
		return
	}
	id, ok := l.take(dice)
	switch {
	case !ok || n < 10 && l.few():
		l.put(id, ok)
		key := l.key()
		if !l.try(dice, func(ctx context.Context, r *replica) error { return l.issue(ctx, r, key) }) {
			l.mu.Lock()
			l.open = append(l.open, key)
			l.mu.Unlock()
		}
	case n < 16:
		if !l.try(dice, func(ctx context.Context, r *replica) error { return l.revoke(ctx, r, id) }) {
			l.mu.Lock()
			l.ending = append(l.ending, id)
			l.mu.Unlock()
		}
	default:
		l.try(dice, func(ctx context.Context, r *replica) error {
			renewed, err := r.RenewLease(ctx, id, v1.Renewal{TTL: "2h"})
			l.remember(renewed, err)
			return err
		})
		l.put(id, true)
	}
}

// try asks one replica, and if that fails another one.
func (l *load) try(dice *rand.Rand, do func(context.Context, *replica) error) bool {
	first := dice.IntN(len(l.replicas))
	for i := range len(l.replicas) - 1 {
		ctx, cancel := context.WithTimeout(l.t.Context(), callLimit)
		err := do(ctx, l.replicas[(first+i)%len(l.replicas)])
		cancel()
		if err == nil {
			l.done.Add(1)
			return true
		}
	}
	select { // nobody answers: a client backs off
	case <-time.After(backOff):
	case <-l.t.Context().Done():
	}
	return false
}

// rotate seals a VIM's credential anew, or gives another: one in two. That somebody
// else is at it, or was when he died, is an answer too.
func (l *load) rotate(ctx context.Context, r *replica) error {
	var change v1.Rotation
	if rand.IntN(2) == 0 {
		change.Credential.Token = secret.NewText(l.kube.AdminTokenFor(0))
	}
	_, err := r.RotateVIM(ctx, "core", change, 0)
	switch {
	case client.Status(err) == http.StatusConflict:
		return nil
	case err == nil:
		l.rotated.Add(1)
	}
	return err
}

func (l *load) key() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.made++
	return fmt.Sprintf("chaos-%d", l.made)
}

// issue asks for the lease of a key, and notes what is answered.
func (l *load) issue(ctx context.Context, r *replica, key string) error {
	vim := "edge"
	if strings.HasSuffix(key, "7") {
		vim = "core"
	}
	issued, err := r.IssueLease(ctx, v1.LeaseRequest{VIM: vim, Role: "view", Format: "exec-credential", Purpose: key}, key)
	if err != nil {
		return err
	}
	l.remember(issued, nil)
	l.mu.Lock()
	defer l.mu.Unlock()
	if before, ok := l.ids[key]; ok && before != issued.ID {
		l.t.Errorf("the key %s was answered with the leases %s and %s", key, before, issued.ID)
	}
	l.ids[key] = issued.ID
	l.held = append(l.held, issued.ID)
	return nil
}

// revoke takes a lease back, and notes that this was answered.
func (l *load) revoke(ctx context.Context, r *replica, id string) error {
	after, err := r.RevokeLease(ctx, id)
	if err != nil {
		return err
	}
	if after.State != "revoked" && after.State != "revoking" {
		return fmt.Errorf("the lease is %s", after.State)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.revoked = append(l.revoked, id)
	return nil
}

// take takes one of the leases held, for one caller alone.
func (l *load) take(dice *rand.Rand) (string, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.held) == 0 {
		return "", false
	}
	i, last := dice.IntN(len(l.held)), len(l.held)-1
	id := l.held[i]
	l.held[i] = l.held[last]
	l.held = l.held[:last]
	return id, true
}

// few reports whether callers hold few leases: in a long test they give back as many
// as they take.
func (l *load) few() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.held) < mostHeld
}

func (l *load) put(id string, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ok {
		l.held = append(l.held, id)
	}
}

// remember notes the id of the token that a lease was handed out with.
func (l *load) remember(issued v1.IssuedLease, err error) {
	if err != nil {
		return
	}
	id, err := tokenID(issued)
	if err != nil {
		l.t.Errorf("lease %s: %v", issued.ID, err)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tokens[issued.ID] = append(l.tokens[issued.ID], id)
}

// tokenID reads the jti of the token in a lease's client configuration.
func tokenID(l v1.IssuedLease) (string, error) {
	var c struct{ Status struct{ Token string } }
	if err := json.Unmarshal([]byte(l.ClientConfig.Text.Reveal()), &c); err != nil {
		return "", fmt.Errorf("reading the client configuration: %w", err)
	}
	parts := strings.Split(c.Status.Token, ".")
	if len(parts) != 3 {
		return "", fmt.Errorf("it came without a token")
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return "", fmt.Errorf("reading the token: %w", err)
	}
	var claims struct {
		ID string `json:"jti"`
	}
	if err := json.Unmarshal(text, &claims); err != nil || claims.ID == "" {
		return "", fmt.Errorf("the token has no id: %w", err)
	}
	return claims.ID, nil
}
