package kubernetes

import (
	"fmt"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy/egress"
)

// The pool cannot be seen from outside but by counting what servers accept.
func TestConnectionsAreKeptWhileUsed(t *testing.T) {
	now := time.Unix(1, 0)
	cs := &connections{now: func() time.Time { return now }}
	a := broker.Access{VIM: "one", Generation: 1, Target: broker.Target{Endpoint: "https://10.0.0.1"}}
	get := func(a broker.Access) *connection {
		t.Helper()
		c, err := cs.get(keyOf(a))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	first := get(a)
	for range 5 {
		now = now.Add(idleAfter - time.Second)
		if get(a) != first {
			t.Fatal("a connection in use is not kept")
		}
	}
	for what, change := range map[string]func(*broker.Access){
		"VIM":        func(a *broker.Access) { a.VIM = "other" },
		"generation": func(a *broker.Access) { a.Generation++ },
		"endpoint":   func(a *broker.Access) { a.Target.Endpoint = "https://10.0.0.2" },
		"insecurity": func(a *broker.Access) { a.Target.InsecureSkipVerify = true },
		"rules":      func(a *broker.Access) { a.Egress = &egress.Rules{} },
	} {
		other := a
		change(&other)
		if get(other) == first {
			t.Errorf("a connection is shared in spite of another %s", what)
		}
	}
	now = now.Add(idleAfter)
	if get(a) == first || len(cs.open) != 1 {
		t.Errorf("what was not used for %v is kept; %d connections are open, want 1", idleAfter, len(cs.open))
	}
}

func TestConnectionsAreBounded(t *testing.T) {
	now := time.Unix(1, 0)
	cs := &connections{now: func() time.Time { return now }}
	key := func(i int) connectionKey {
		return connectionKey{vim: fmt.Sprint(i), target: broker.Target{Endpoint: "https://10.0.0.1"}}
	}
	for i := range maxConnections + 3 {
		now = now.Add(time.Millisecond)
		if _, err := cs.get(key(i)); err != nil {
			t.Fatal(err)
		}
	}
	if len(cs.open) != maxConnections {
		t.Errorf("%d connections are open, want %d", len(cs.open), maxConnections)
	}
	for i := range 3 {
		if cs.open[key(i)] != nil {
			t.Errorf("connection %d, unused for longest, is kept", i)
		}
	}
	cs.close()
	if len(cs.open) != 0 {
		t.Errorf("%d connections are open after close", len(cs.open))
	}
}
