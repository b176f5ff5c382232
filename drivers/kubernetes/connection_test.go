package kubernetes

import (
	"fmt"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/ways"
	"github.com/vimbroker/vimbroker/policy/egress"
)

// The pool cannot be seen from outside but by counting what servers accept.
func TestConnectionsAreKept(t *testing.T) {
	cs := ways.New[connectionKey, *connection](maxConnections)
	a := broker.Access{VIM: "one", Generation: 1, Target: broker.Target{Endpoint: "https://10.0.0.1"}}
	get := func(a broker.Access) *connection {
		t.Helper()
		c, err := cs.Get(keyOf(a), dial)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	first := get(a)
	if get(a) != first {
		t.Fatal("a connection is not kept")
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
}

func TestConnectionsAreBounded(t *testing.T) {
	cs := ways.New[connectionKey, *connection](maxConnections)
	key := func(i int) connectionKey {
		return connectionKey{vim: fmt.Sprint(i), target: broker.Target{Endpoint: "https://10.0.0.1"}}
	}
	for i := range maxConnections + 3 {
		if _, err := cs.Get(key(i), dial); err != nil {
			t.Fatal(err)
		}
	}
	if n := cs.Len(); n != maxConnections {
		t.Errorf("%d connections are kept, want %d", n, maxConnections)
	}
	for i := range 3 {
		kept := true
		if _, err := cs.Get(key(i), func(k connectionKey) (*connection, error) { kept = false; return dial(k) }); kept || err != nil {
			t.Errorf("connection %d, unused for longest, is kept (%v)", i, err)
		}
	}
	cs.Close()
	if n := cs.Len(); n != 0 {
		t.Errorf("%d connections are kept after close", n)
	}
	if _, err := cs.Get(key(0), dial); err != nil {
		t.Errorf("after close: %v", err)
	}
}
