package kubernetes_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/test/fake"
	"github.com/vimbroker/vimbroker/test/fakekube"
)

// meet lets the first request to each path pass once all of them have arrived.
func (b *bench) meet(paths ...string) {
	var all sync.WaitGroup
	all.Add(len(paths))
	met := make(chan struct{})
	go func() { all.Wait(); close(met) }()
	for _, path := range paths {
		b.fail(fake.Fault{Path: path, Kind: fake.Pass, Reached: func() {
			all.Done()
			select {
			case <-met:
			case <-time.After(10 * time.Second):
				b.t.Errorf("the request to %s waited for the others in vain", path)
			}
		}})
	}
}

// counted says which requests there were, each review as "review".
func (b *bench) counted() map[string]int {
	n := map[string]int{}
	for _, r := range b.s.Requests() {
		_, path, _ := strings.Cut(r.Path, "/v1")
		if strings.HasSuffix(path, "/selfsubjectaccessreviews") {
			path = "review"
		}
		n[r.Method+" "+path]++
	}
	return n
}

func total(n map[string]int) (sum int) {
	for _, of := range n {
		sum += of
	}
	return sum
}

// A check first finds out whether the credential is known, and then asks side by side. Of
// several ways to a right it asks for one, unless the credential lacks that.
func TestCheckAsksFewAndAtOnce(t *testing.T) {
	b := newBench(t)
	b.meet("/namespaces/kube-system$", "/version$", "/selfsubjectaccessreviews$", "/api/v1/namespaces$")
	if r, err := b.d.Check(t.Context(), b.a); err != nil || !r.CanMint {
		t.Fatalf("Check: %+v, %v", r, err)
	}
	n := b.counted()
	if n["POST review"] != 15 || total(n) != 20 {
		t.Errorf("the check of an administrator's credential asked %v, want 15 reviews and 5 more", n)
	}
	b.s.Deny(fakekube.Denial{Verb: "bind"})
	if _, err := b.d.Check(t.Context(), b.a); err != nil {
		t.Fatal(err)
	}
	if n := b.counted(); n["POST review"] != 14+7 {
		t.Errorf("the check of a credential that may not bind view asked %v, want 7 reviews more: the other ways to bind", n)
	}
}

// A credential that is not known is sent once.
func TestCheckSendsAnUnknownCredentialOnce(t *testing.T) {
	b := newBench(t)
	b.fail(fake.Fault{Path: "/selfsubjectreviews$", Kind: fake.Refuse, Status: 401})
	if _, err := b.d.Check(t.Context(), b.a); err == nil {
		t.Error("Check of a credential that is refused: no error")
	}
	if n := b.counted(); total(n) != 1 {
		t.Errorf("a credential that is refused was sent with %v, want one request", n)
	}
}

// What a VIM leaves behind is looked for in rounds: its homes, then all else, and at last
// an account of the broker's own.
func TestForgetLooksAtOnce(t *testing.T) {
	b := newBench(t)
	b.meet("/api/v1/namespaces$", "/namespaces/vimbroker-[0-9a-f]+-1$")
	b.meet("/clusterrolebindings$", "/rolebindings$", "/clusterroles$", "/roles$")
	if err := b.d.Forget(t.Context(), b.a); err != nil {
		t.Fatal(err)
	}
	if n := b.counted(); total(n) != 7 {
		t.Errorf("forgetting a VIM without leases asked %v, want 7 requests", n)
	}
}

// Of requests that fail at once the same one is reported each time.
func TestCheckReportsTheFirstFailure(t *testing.T) {
	for range 20 {
		b := newBench(t)
		for i, path := range []string{"/namespaces/kube-system$", "/version$", "/api/v1/namespaces$"} {
			b.fail(fake.Fault{Path: path, Kind: fake.Refuse, Status: 500 + i})
		}
		if _, err := b.d.Check(t.Context(), b.a); err == nil || !strings.Contains(err.Error(), "(500)") {
			t.Fatalf("Check, where all answer errors: %v, want that of kube-system", err)
		}
	}
}

// However many credentials are tried that the server refuses, neither they nor what is asked
// meanwhile with a good one makes the driver connect again.
func TestDeadCredentialsCostNoConnections(t *testing.T) {
	l := newTLSLab(t)
	var minted []broker.Minted
	for range 5 {
		g := l.grant("view", "default")
		m := l.issue(g)
		if err := l.driver.Revoke(t.Context(), l.access, issued(g, m)); err != nil {
			t.Fatal(err)
		}
		minted = append(minted, m)
	}
	l.Requests() // and forget them
	for _, m := range minted {
		if dead, err := l.driver.Dead(t.Context(), l.access, m.Credential); !dead || err != nil {
			t.Fatalf("Dead = %v, %v", dead, err)
		}
		l.issue(l.grant("view", "default"))
	}
	tried, others := map[string]bool{}, map[string]bool{}
	for _, r := range l.Requests() {
		switch {
		case strings.HasSuffix(r.Path, "/selfsubjectreviews"):
			tried[r.From] = true
		default:
			others[r.From] = true
		}
	}
	if len(tried) != 1 || len(others) != 1 {
		t.Errorf("%d tries came over %d connections and all else over %d, want 1 and 1", len(minted), len(tried), len(others))
	}
}
