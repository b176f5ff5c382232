package crash_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"testing"

	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/secret"
)

// scene is one story: a cluster, a data directory, and the processes that serve
// it one after the other.
type scene struct {
	*server // the present one
	servers []*server
	t       testing.TB
	kube    *cluster
	dir     string
	// issued are the leases that s.issue took, oldest first.
	issued []string
	// tokens are what leases were handed out with, by the lease's id.
	tokens map[string][]string
	// head is the newest audit entry that was seen before a crash.
	head v1.AuditEntry
}

// newScene begins a story: it starts a server on an empty data directory.
func newScene(t testing.TB, kube *cluster) *scene {
	t.Helper()
	s := &scene{t: t, kube: kube, dir: filepath.Join(t.TempDir(), "data"), tokens: map[string][]string{}}
	s.restart()
	return s
}

// restart starts the next process, which is to become ready. The one before has ended.
func (s *scene) restart() {
	s.t.Helper()
	s.server = start(s.t, s.dir)
	s.servers = append(s.servers, s.server)
}

// remember notes how far the audit log is.
func (s *scene) remember() {
	s.t.Helper()
	for e, err := range s.AllAudit(s.t.Context(), auditNewest) {
		if err != nil {
			s.t.Fatal(err)
		}
		s.head = e
		return
	}
}

// register registers the cluster under a name.
func (s *scene) register(name string) v1.VIM {
	s.t.Helper()
	v, err := s.RegisterVIM(s.t.Context(), s.kube.registration(s.t, name), "")
	if err != nil {
		s.t.Fatalf("RegisterVIM(%s): %v", name, err)
	}
	return v
}

// leaseRequest asks for what the kit's leases are.
func leaseRequest(vim string) v1.LeaseRequest {
	return v1.LeaseRequest{VIM: vim, Role: "view", Format: "exec-credential", Purpose: "crash kit"}
}

// issue takes a lease, and remembers its token.
func (s *scene) issue(vim string) v1.Lease {
	s.t.Helper()
	l, err := s.IssueLease(s.t.Context(), leaseRequest(vim), "")
	if err != nil {
		s.t.Fatalf("IssueLease(%s): %v", vim, err)
	}
	s.issued = append(s.issued, l.ID)
	s.handedOut(l)
	return l.Lease
}

// handedOut remembers the token of a lease.
func (s *scene) handedOut(l v1.IssuedLease) {
	s.tokens[l.ID] = append(s.tokens[l.ID], tokenOf(s.t, l))
}

// tokenOf reads the token out of a lease's client configuration.
func tokenOf(t testing.TB, l v1.IssuedLease) string {
	t.Helper()
	var c struct{ Status struct{ Token string } }
	if err := json.Unmarshal([]byte(l.ClientConfig.Text.Reveal()), &c); err != nil || c.Status.Token == "" {
		t.Fatalf("lease %s came without a token: %v", l.ID, err)
	}
	return c.Status.Token
}

// rotation replaces a VIM's credential by another of the same cluster.
func (s *scene) rotation() v1.Rotation {
	s.t.Helper()
	return v1.Rotation{Credential: v1.Credential{Token: secret.NewText(s.kube.newToken(s.t))}}
}

// vims are all that there are.
func (s *scene) vims() []v1.VIM {
	s.t.Helper()
	var all []v1.VIM
	for v, err := range s.AllVIMs(s.t.Context(), everyVIM) {
		if err != nil {
			s.t.Fatal(err)
		}
		all = append(all, v)
	}
	return all
}

// lease is one by its id.
func (s *scene) lease(id string) v1.Lease {
	s.t.Helper()
	l, err := s.Lease(s.ctx(), id)
	if err != nil {
		s.t.Fatal(err)
	}
	return l
}

// leases are all that there ever were.
func (s *scene) leases() []v1.Lease {
	s.t.Helper()
	var all []v1.Lease
	for l, err := range s.AllLeases(s.t.Context(), everyLease) {
		if err != nil {
			s.t.Fatal(err)
		}
		all = append(all, l)
	}
	return all
}

func (s *scene) ctx() context.Context { return s.t.Context() }
