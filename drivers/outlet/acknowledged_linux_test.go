package outlet

import (
	"bytes"
	"context"
	"errors"
	"net"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// narrow listens where a machine takes few bytes before somebody reads them.
func narrow(t *testing.T) net.Listener {
	t.Helper()
	config := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) (err error) {
		failed := c.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF, 4096) })
		return errors.Join(err, failed)
	}}
	l, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// fill writes until nothing more can wait on this side.
func fill(t *testing.T, conn net.Conn) {
	t.Helper()
	raw, err := conn.(syscall.Conn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	text := bytes.Repeat([]byte("x"), 64<<10)
	for err == nil {
		if failed := raw.Control(func(fd uintptr) { _, err = unix.Write(int(fd), text) }); failed != nil {
			t.Fatal(failed)
		}
	}
	if !errors.Is(err, unix.EAGAIN) {
		t.Fatal(err)
	}
}

// TestBytesAreWaitedForUntilTheyAreTaken, or the caller gives up; a connection that is closed took none.
func TestBytesAreWaitedForUntilTheyAreTaken(t *testing.T) {
	l := narrow(t)
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	wantError(t, "a connection that was sent nothing", acknowledged(ended, conn), "")
	fill(t, conn)
	if err := acknowledged(ended, conn); !errors.Is(err, context.Canceled) {
		t.Errorf("bytes that nobody takes: %v", err)
	}
	other, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = bytes.NewBuffer(nil).ReadFrom(other) }()
	wantError(t, "bytes that are taken", acknowledged(t.Context(), conn), "")
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	if err := acknowledged(t.Context(), conn); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a connection that is closed: %v", err)
	}
	memory, _ := net.Pipe()
	wantError(t, "a connection in memory", acknowledged(t.Context(), memory), "")
}
