package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// onSmallDisk opens a store on a file system of so many bytes.
func onSmallDisk(t *testing.T, size int) (s *Store, dir string) {
	t.Helper()
	dir = t.TempDir()
	err := unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d,mode=0700", size))
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
	s, err = Open(t.Context(), Options{Path: filepath.Join(dir, "data", "x.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, dir
}

// fill takes all the space that is left on the disk, and returns what gives it back.
func fill(t *testing.T, dir string) (empty func()) {
	t.Helper()
	path := filepath.Join(dir, "filler")
	f, err := os.Create(path)
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
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

// On a full disk every write is refused, says what to do, and leaves nothing; what there is is shown. When there is
// space again, all goes on.
func TestNothingIsWrittenOnAFullDisk(t *testing.T) {
	s, dir := onSmallDisk(t, 24<<20)
	v := broker.VIM{
		ID: "v", Project: "p", Name: "v", Type: "kubernetes", State: broker.VIMRegistered, CreatedBy: "alice",
		Current: broker.Generation{Number: 1, Key: "k", KeyStore: "s", SealedAs: broker.SealedCurrent},
	}
	if err := s.CreateVIM(t.Context(), v, 0, recorded(policy.VIMRegister, audit.Done)); err != nil {
		t.Fatal(err)
	}
	issue := func(id string) error {
		_, err := s.CreateLease(t.Context(), broker.Lease{ID: id, VIM: "v", VIMGeneration: 1, Project: "p", Principal: "alice"},
			broker.Quota{}, recorded(policy.LeaseIssue, audit.Intent))
		return err
	}
	for _, err := range []error{issue("l"), issue("revoking"), s.move(t, "revoking", broker.LeaseRevoking, audit.Intent)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	empty := fill(t, dir)
	for what, err := range map[string]error{
		"issuing a lease":           issue("another"),
		"beginning to revoke":       s.move(t, "l", broker.LeaseRevoking, audit.Intent),
		"recording the end":         s.move(t, "revoking", broker.LeaseRevoked, audit.Done),
		"deferring a revocation":    s.DeferLease(t.Context(), "revoking", 1, s.now(), "unreachable"),
		"an entry of a denial":      s.Append(t.Context(), recorded(policy.LeaseRevoke, audit.Denied)),
		"an entry of what was read": s.Append(t.Context(), recorded(policy.VIMShow, audit.Read)),
		"the check":                 s.Check(t.Context(), broker.Replica{}),
		"changing a VIM":            s.mayRename(t, "other"),
	} {
		refusal, ok := errors.AsType[*broker.Error](err)
		if !ok || !errors.Is(err, broker.ErrUnavailable) || !errors.Is(err, broker.ErrNoWrites) || !errors.Is(err, broker.ErrNoSpace) || refusal.Remedy == "" {
			t.Errorf("%s on a full disk = %v, want ErrUnavailable with a remedy", what, err)
		}
	}
	if l, err := s.Lease(t.Context(), "l"); err != nil || l.State != broker.LeasePending {
		t.Errorf("Lease on a full disk = %s, %v", l.State, err)
	}
	if v, err := s.VIM(t.Context(), "v"); err != nil || v.Name != "v" {
		t.Errorf("VIM on a full disk = %s, %v", v.Name, err)
	}

	empty()
	if err := s.Check(t.Context(), broker.Replica{}); err != nil {
		t.Errorf("the check of a disk that has space again = %v", err)
	}
	if err := s.move(t, "revoking", broker.LeaseRevoked, audit.Done); err != nil {
		t.Errorf("revoking with space again = %v", err)
	}
	entries, err := s.Entries(t.Context(), audit.Query{Limit: 10})
	if err != nil || len(entries) != 5 || entries[0].Outcome != audit.Done {
		t.Errorf("%d entries are recorded, %v, want four of before and one of afterwards", len(entries), err)
	}
}

func recorded(a policy.Action, o audit.Outcome) audit.Entry {
	return audit.Entry{Principal: "alice", Project: "p", Action: a, Outcome: o, Detail: map[string]string{"reason": "requested"}}
}

// move changes a lease's state, recorded as a part of revoking it.
func (s *Store) move(t *testing.T, id string, to broker.LeaseState, o audit.Outcome) error {
	t.Helper()
	_, err := s.UpdateLease(t.Context(), id, func(l *broker.Lease) error {
		l.State = to
		if to == broker.LeaseRevoked {
			l.RevokedAt = s.now()
		}
		return nil
	}, recorded(policy.LeaseRevoke, o))
	return err
}

func (s *Store) mayRename(t *testing.T, name string) error {
	t.Helper()
	_, err := s.UpdateVIM(t.Context(), "v", func(v *broker.VIM) error {
		v.Name = name
		return nil
	}, recorded(policy.VIMUpdate, audit.Done))
	return err
}
