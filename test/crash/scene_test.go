package crash_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
)

// upstream is what the kit knows of the system that the VIMs of a scene are. It
// outlives the servers that use it.
type upstream interface {
	// registration is one of the system under a name.
	registration(t testing.TB, name string) v1.Registration
	// credential is one that may stand in the place of the registered one.
	credential(t testing.TB) v1.Credential
	// request asks for what the kit's leases are.
	request(vim string) v1.LeaseRequest
	// secretOf reads the secret out of a lease's client configuration; empty if
	// there is none.
	secretOf(l v1.IssuedLease) string
	// works reports whether the system takes such a secret.
	works(t testing.TB, secret string) bool
	// objects are the names of the leases' objects, sorted.
	objects(t testing.TB) []string
	// others are the other objects that the broker made.
	others(t testing.TB) []string
}

// scene is one story: a system upstream, a data directory, and the processes that
// serve it one after the other.
type scene struct {
	*server // the present one
	servers []*server
	t       testing.TB
	up      upstream
	kube    *cluster // up, where that is one
	dir     string
	// issued are the leases that s.issue took, oldest first.
	issued []string
	// tokens are the secrets that leases were handed out with, by the lease's id.
	tokens map[string][]string
	// stood is a standing lease that a scenario took before its flow.
	stood v1.IssuedLease
	// before is what a scenario has seen before its flow, in words of its own.
	before []string
	visits visits
	// leaves: what a VNF consisted of stays upstream, as was asked for.
	leaves bool
	// head is the newest audit entry that was seen before a crash.
	head v1.AuditEntry
	// signedBefore is how many entries were signed before a server was started.
	signedBefore int64
}

// newScene begins a story: it starts a server on an empty data directory.
func newScene(t testing.TB, up upstream) *scene {
	t.Helper()
	return newSceneIn(t, up, filepath.Join(t.TempDir(), "data"))
}

// newSceneIn is newScene with the data directory, which is not there yet.
func newSceneIn(t testing.TB, up upstream, dir string) *scene {
	t.Helper()
	kube, _ := up.(*cluster)
	s := &scene{t: t, up: up, kube: kube, dir: dir, tokens: map[string][]string{}}
	s.restart()
	s.awaitSigned()
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

// register registers the system under a name.
func (s *scene) register(name string) v1.VIM {
	s.t.Helper()
	v, err := s.RegisterVIM(s.t.Context(), s.up.registration(s.t, name), "")
	if err != nil {
		s.t.Fatalf("RegisterVIM(%s): %v", name, err)
	}
	return v
}

// issue takes a lease, and remembers its secret.
func (s *scene) issue(vim string) v1.Lease {
	s.t.Helper()
	return s.take(s.up.request(vim))
}

func (s *scene) take(r v1.LeaseRequest) v1.Lease {
	s.t.Helper()
	l, err := s.IssueLease(s.t.Context(), r, "")
	if err != nil {
		s.t.Fatalf("IssueLease(%s): %v", r.VIM, err)
	}
	s.issued = append(s.issued, l.ID)
	s.handedOut(l)
	return l.Lease
}

// handedOut remembers the secret of a lease.
func (s *scene) handedOut(l v1.IssuedLease) {
	s.tokens[l.ID] = append(s.tokens[l.ID], s.secretOf(l))
}

func (s *scene) secretOf(l v1.IssuedLease) string {
	s.t.Helper()
	secret := s.up.secretOf(l)
	if secret == "" {
		s.t.Fatalf("lease %s came without a credential", l.ID)
	}
	return secret
}

// wantDead waits for a secret to be refused; a real API server may honour it for
// the life of its cache.
func (s *scene) wantDead(secret string) {
	s.t.Helper()
	eventually(s.t, "a credential is refused that no lease answers for", func() error {
		if s.up.works(s.t, secret) {
			return errors.New("it works")
		}
		return nil
	})
}

// rotation replaces a VIM's credential by another of the same system.
func (s *scene) rotation() v1.Rotation {
	s.t.Helper()
	return v1.Rotation{Credential: s.up.credential(s.t)}
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
