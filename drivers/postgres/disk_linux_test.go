package postgres_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/test/conformance"
	"github.com/vimbroker/vimbroker/test/real"
)

// TestFullDisk fills the disk that the tables are on: writes and looks say so, and that there is no space, what there is
// can be read, and all goes on with space again.
func TestFullDisk(t *testing.T) {
	server := real.OwnPostgres(t)
	disk := filepath.Join(server.Dir, "small")
	if err := os.Mkdir(disk, 0o711); err != nil { //nolint:gosec // what is in it is PostgreSQL's
		t.Fatal(err)
	}
	var owner unix.Stat_t
	if err := unix.Stat(server.Dir, &owner); err != nil {
		t.Fatal(err)
	}
	err := unix.Mount("tmpfs", disk, "tmpfs", 0, fmt.Sprintf("size=64m,mode=0700,uid=%d,gid=%d", owner.Uid, owner.Gid))
	if errors.Is(err, unix.EPERM) {
		t.Skip("this user may not mount a file system")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(disk, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	server.Exec(t, "", "CREATE TABLESPACE small OWNER vimbroker LOCATION '"+disk+"'")
	server.Exec(t, "", "ALTER ROLE vimbroker SET default_tablespace = small")
	dsn := server.DSN(t)
	s, other := mustOpen(t, dsn), mustOpen(t, dsn)
	if err := s.CreateVIM(t.Context(), registered("v", "core"), 0, entry); err != nil {
		t.Fatal(err)
	}

	filler := filepath.Join(disk, "filler")
	if err := fillUp(filler); err != nil {
		t.Fatal(err)
	}
	if err := other.Check(t.Context(), broker.Replica{}); !errors.Is(err, broker.ErrNoSpace) || !errors.Is(other.Refusal(), broker.ErrNoSpace) {
		t.Errorf("a look of a server that writes nothing = %v (%s), Refusal = %v", err, cause(err), other.Refusal())
	}
	if err := s.Refusal(); err != nil {
		t.Errorf("before anything was refused: %v", err)
	}
	if !real.Poll(t, time.Minute, func() bool {
		err = s.Append(t.Context(), entry)
		return err != nil
	}) {
		t.Fatal("everything can be written on a full disk")
	}
	if !errors.Is(err, broker.ErrUnavailable) || !errors.Is(err, broker.ErrNoWrites) || !errors.Is(err, broker.ErrNoSpace) {
		t.Errorf("Append on a full disk = %v (%s)", err, cause(err))
	}
	if err := s.Refusal(); !errors.Is(err, broker.ErrNoSpace) {
		t.Errorf("Refusal after that = %v", err)
	}
	if v, err := s.VIM(t.Context(), "v"); err != nil || v.Name != "core" {
		t.Errorf("VIM on a full disk = %+v, %v", v, err)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	wantWell(t, "with space again", s)
	wantWell(t, "with space again", other)
	if s.Refusal() != nil || other.Refusal() != nil {
		t.Errorf("with space again: %v and %v", s.Refusal(), other.Refusal())
	}
	conformance.VerifyLog(t, s)
}

// fillUp writes a file until there is no space.
func fillUp(name string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	for block := make([]byte, 4096); err == nil; {
		_, err = f.Write(block)
	}
	if errors.Is(err, unix.ENOSPC) {
		return nil
	}
	return err
}
