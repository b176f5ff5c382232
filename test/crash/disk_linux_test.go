package crash_test

import (
	"errors"
	"net/http"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
)

// fillDisk lets no file of the process grow or change any more, as a full or
// read-only disk does; emptyDisk ends that.
func (s *server) fillDisk()  { s.limitFiles(0) }
func (s *server) emptyDisk() { s.limitFiles(unix.RLIM_INFINITY) }

func (s *server) limitFiles(size uint64) {
	s.t.Helper()
	limit := unix.Rlimit{Cur: size, Max: unix.RLIM_INFINITY}
	err := unix.Prlimit(s.PID(), unix.RLIMIT_FSIZE, &limit, nil)
	if errors.Is(err, unix.EPERM) {
		s.t.Skip("this system does not let a process limit its own children's files")
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// TestFullDisk fills the disk under a running server: everything that would have
// to be written is refused as unavailable, nothing is begun upstream, and all is
// well when there is space again, with the same process or the next one.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	s := newScene(t, fakeCluster(t))
	s.register("edge")
	s.issue("edge")
	s.remember()
	s.fillDisk()
	before := len(s.kube.fake.Tokens())
	calls := map[string]func() error{
		"RegisterVIM": func() error {
			_, err := s.RegisterVIM(t.Context(), s.kube.registration(t, "other"), "")
			return err
		},
		"RotateVIM":  func() error { _, err := s.RotateVIM(t.Context(), "edge", v1.Rotation{}, 0); return err },
		"IssueLease": func() error { _, err := s.IssueLease(t.Context(), s.up.request("edge"), ""); return err },
		"RenewLease": func() error { _, err := s.RenewLease(t.Context(), s.issued[0], v1.Renewal{}); return err },
		"RevokeLease": func() error {
			_, err := s.RevokeLease(t.Context(), s.issued[0])
			return err
		},
		"DeleteVIM": func() error {
			_, _, err := s.DeleteVIM(t.Context(), "edge", client.Deletion{Drain: true})
			return err
		},
	}
	for name, call := range calls {
		if err := call(); client.Status(err) != http.StatusServiceUnavailable {
			t.Errorf("%s on a full disk = %v, want 503", name, err)
		}
	}
	// One more administrator's token was made for the registration.
	if after := len(s.kube.fake.Tokens()); after != before+1 {
		t.Errorf("%d tokens were minted that could not be recorded", after-before-1)
	}
	if !s.kube.works(t, s.tokens[s.issued[0]][0]) {
		t.Error("the lease was ended by a revocation that was refused")
	}

	// It finds out by itself that it can do nothing.
	eventually(t, "the server is not ready", func() error {
		if s.Ready(t.Context()) == nil {
			return errors.New("it says that it is")
		}
		return nil
	})

	s.emptyDisk()
	s.wantReadyAgain()
	s.issue("edge")
	s.fillDisk()
	s.Kill()
	s.restart()
	s.prove()
}

// TestDiskFullBehindTheMint fills the disk when the token has been minted: what
// cannot be recorded is taken back, although that cannot be recorded either.
func TestDiskFullBehindTheMint(t *testing.T) {
	t.Parallel()
	s := newScene(t, fakeCluster(t))
	s.register("edge")
	s.kube.fake.After(http.MethodPost, "/token$", s.fillDisk)
	if _, err := s.IssueLease(t.Context(), s.up.request("edge"), ""); client.Status(err) != http.StatusServiceUnavailable {
		t.Errorf("IssueLease = %v, want 503", err)
	}
	if left := s.kube.objects(t); len(left) != 0 {
		t.Errorf("Secrets left upstream: %q", left)
	}
	s.Kill()
	s.restart()
	s.prove()
}

// wantReadyAgain waits for a server that was not ready to become so.
func (s *server) wantReadyAgain() {
	s.t.Helper()
	eventually(s.t, "the server is ready again", func() error { return s.Ready(s.t.Context()) })
}
