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
	s, err = Open(t.Context(), Options{Path: filepath.Join(dir, "data", "x.db"), Reserve: 2 << 20})
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

// When the disk is full, leases are revoked and their VIM is deleted, and whatever else would
// be written is refused; when there is space again, all goes on.
func TestLeasesAreRevokedOnAFullDisk(t *testing.T) {
	for name, give := range map[string]func(*Store) error{
		"found by a revocation":   func(*Store) error { return nil },
		"found by another write":  func(s *Store) error { return s.Check(t.Context()) },
		"found by a look at it":   func(s *Store) error { s.look(); return s.Check(t.Context()) },
		"found by what is denied": func(s *Store) error { return s.Append(t.Context(), recorded(policy.LeaseRevoke, audit.Denied)) },
	} {
		t.Run(name, func(t *testing.T) {
			s, dir := onSmallDisk(t, 24<<20)
			var ids []string
			v := broker.VIM{
				ID: "v", Project: "p", Name: "v", Type: "kubernetes", State: broker.VIMRegistered, CreatedBy: "alice",
				Current: broker.Generation{Number: 1, Key: "k", KeyStore: "s"},
			}
			if err := s.CreateVIM(t.Context(), v, 0, recorded(policy.VIMRegister, audit.Done)); err != nil {
				t.Fatal(err)
			}
			issue := func(id string) error {
				_, err := s.CreateLease(t.Context(), broker.Lease{ID: id, VIM: "v", VIMGeneration: 1, Project: "p", Principal: "alice"},
					broker.Quota{}, recorded(policy.LeaseIssue, audit.Intent))
				return err
			}
			for i := range 200 {
				ids = append(ids, fmt.Sprint("lease-", i))
				if err := issue(ids[i]); err != nil {
					t.Fatal(err)
				}
			}
			empty := fill(t, dir)
			if err := give(s); err != nil && !errors.Is(err, broker.ErrUnavailable) {
				t.Errorf("a write to a full disk = %v, want ErrUnavailable", err)
			}
			for _, id := range ids {
				if err := s.move(t, id, broker.LeaseRevoking, audit.Intent); err != nil {
					t.Fatalf("beginning to revoke %s on a full disk = %v", id, err)
				}
				if err := s.DeferLease(t.Context(), id, 1, s.now(), "unreachable"); err != nil {
					t.Fatalf("deferring %s on a full disk = %v", id, err)
				}
				if err := s.move(t, id, broker.LeaseRevoked, audit.Done); err != nil {
					t.Fatalf("revoking %s on a full disk = %v", id, err)
				}
			}
			for what, err := range map[string]error{
				"issuing a lease":  issue("another"),
				"a denial's entry": s.Append(t.Context(), recorded(policy.LeaseRevoke, audit.Denied)),
				"another entry":    s.Append(t.Context(), recorded(policy.VIMShow, audit.Read)),
				"the check":        s.Check(t.Context()),
				"changing a VIM":   s.mayRename(t, "other"),
			} {
				if !errors.Is(err, broker.ErrUnavailable) {
					t.Errorf("%s on a full disk = %v, want ErrUnavailable", what, err)
				}
			}
			if _, err := s.growTree(t.Context()); err != nil {
				t.Errorf("the log does not grow on a full disk: %v", err)
			}
			if err := s.DeleteVIM(t.Context(), "v", false, recorded(policy.VIMDelete, audit.Done)); err != nil {
				t.Errorf("deleting the VIM on a full disk = %v", err)
			}

			s.look()
			if s.Check(t.Context()) == nil {
				t.Error("the disk is still full, and the reserve is not kept")
			}
			empty()
			s.look()
			if err := s.Check(t.Context()); err != nil {
				t.Errorf("the check of a disk that has space again = %v", err)
			}
			if info, err := os.Stat(s.reserve.path); err != nil || info.Size() != 2<<20 || info.Mode().Perm() != 0o600 {
				t.Errorf("the reserve is %v, %v, want it kept again", info, err)
			}
		})
	}
}

// A disk with little space has a small reserve, and one with next to none has none and works.
func TestTheReserveLeavesSpace(t *testing.T) {
	for size, want := range map[int]bool{12 << 20: true, 4 << 20: false} {
		s, _ := onSmallDisk(t, size)
		info, err := os.Stat(s.reserve.path)
		if kept := err == nil; kept != want || kept && info.Size() > int64(size)/4 {
			t.Errorf("on a disk of %d bytes the reserve is %v, %v", size, info, err)
		}
		if err := s.Check(t.Context()); err != nil {
			t.Errorf("the check on a disk of %d bytes = %v", size, err)
		}
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
