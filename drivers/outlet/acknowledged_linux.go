package outlet

import (
	"context"
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// acknowledged waits until the other machine has acknowledged all that was written to a
// TCP connection: until nothing waits in its queue (tcp(7), SIOCOUTQ).
func acknowledged(ctx context.Context, conn net.Conn) error {
	socket, ok := conn.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return err
	}
	for pause := 100 * time.Microsecond; ; pause = min(2*pause, 50*time.Millisecond) {
		var waiting int
		var asked error
		if err := raw.Control(func(fd uintptr) { waiting, asked = unix.IoctlGetInt(int(fd), unix.SIOCOUTQ) }); err != nil {
			return err
		}
		if asked != nil || waiting == 0 {
			return asked
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}
