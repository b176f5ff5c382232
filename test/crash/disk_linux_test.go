package crash_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
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

// TestRefusedOnAFullDisk revokes leases while the disk fills up: one whose intent cannot be recorded is refused, and its
// credential works. Once there is space it is revoked, and the reaper finishes what was begun; so does the next server.
func TestRefusedOnAFullDisk(t *testing.T) {
	for _, killed := range []bool{false, true} {
		t.Run(fmt.Sprintf("killed %t", killed), func(t *testing.T) {
			t.Parallel()
			disk := smallDisk(t)
			s := newSceneIn(t, fakeCluster(t), filepath.Join(disk, "data"))
			s.register("edge")
			for range 20 {
				s.issue("edge")
			}
			empty := fill(t, disk)
			var refused string
			var begun []string
			for _, id := range s.issued {
				if _, err := s.RevokeLease(t.Context(), id); err != nil {
					wantUnrecordable(t, err)
					refused = id
					break
				}
				begun = append(begun, id)
			}
			if refused == "" {
				t.Fatal("all revocations were recorded")
			}
			if out, err := s.command("lease", "revoke", refused).CombinedOutput(); err == nil || !strings.Contains(string(out), "make space there") {
				t.Errorf("lease revoke on a full disk: %v\n%s", err, out)
			}
			if !s.kube.works(t, s.tokens[refused][0]) {
				t.Error("the lease was ended by a revocation that was refused")
			}
			if killed {
				s.Kill()
			}
			empty()
			if killed {
				s.restart()
			}
			if l := s.lease(refused); l.State != "active" {
				t.Errorf("the lease whose revocation was refused is %s", l.State)
			}
			if out, err := s.command("lease", "revoke", refused).CombinedOutput(); err != nil {
				t.Errorf("lease revoke with space again: %v\n%s", err, out)
			}
			for _, id := range append(begun, refused) {
				eventually(t, "the lease is revoked", func() error {
					if l := s.lease(id); l.State != "revoked" {
						return errors.New(l.State)
					}
					return nil
				})
				s.wantDead(s.tokens[id][0])
			}
			s.prove()
		})
	}
}

// wantUnrecordable wants a 503 that says what to do.
func wantUnrecordable(t *testing.T, err error) {
	t.Helper()
	if problem, ok := errors.AsType[*client.Problem](err); !ok || problem.Status != http.StatusServiceUnavailable || !strings.Contains(problem.Remedy, "make space") {
		t.Errorf("RevokeLease on a full disk = %v, want 503 with a remedy", err)
	}
}

// smallDisk mounts a file system for one test.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=32m,mode=0700")
	if errors.Is(err, unix.EPERM) {
		t.Skip("this user may not mount a file system")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fill takes all the space that is left on a disk, and returns what gives it back.
func fill(t *testing.T, disk string) (empty func()) {
	t.Helper()
	name := filepath.Join(disk, "filler")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for block := make([]byte, 4096); err == nil; {
		_, err = f.Write(block)
	}
	if !errors.Is(err, unix.ENOSPC) {
		t.Fatalf("filling the disk = %v", err)
	}
	return func() {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
}

// wantReadyAgain waits for a server that was not ready to become so.
func (s *server) wantReadyAgain() {
	s.t.Helper()
	eventually(s.t, "the server is ready again", func() error { return s.Ready(s.t.Context()) })
}
