package real_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/test/real"
)

// echo is a server that sends every line back.
func echo(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				_, _ = io.Copy(conn, conn)
			}()
		}
	}()
	return l.Addr().String()
}

// say sends a line and reads one back, waiting at most wait.
func say(conn net.Conn, wait time.Duration) error {
	if err := conn.SetDeadline(time.Now().Add(wait)); err != nil {
		return err
	}
	if _, err := io.WriteString(conn, "hello\n"); err != nil {
		return err
	}
	_, err := bufio.NewReader(conn).ReadString('\n')
	return err
}

func TestCutCable(t *testing.T) {
	c := real.NewCut(t, echo(t))
	dial := func() net.Conn {
		t.Helper()
		conn, err := net.Dial("tcp", c.Addr())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		return conn
	}
	const long, short = time.Minute, 50 * time.Millisecond

	open := dial()
	if err := say(open, long); err != nil {
		t.Fatalf("passing: %v", err)
	}
	c.BlackHole()
	if err := say(open, short); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("black hole, open connection: %v, want a deadline", err)
	}
	if err := say(dial(), short); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("black hole, new connection: %v, want a deadline", err)
	}
	c.Pass(t)
	if _, err := readLine(open, long); err != nil {
		t.Errorf("passing again, the line that was held: %v", err)
	}
	c.Strand()
	if err := say(open, short); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("stranded connection: %v, want a deadline", err)
	}
	if err := say(dial(), long); err != nil {
		t.Errorf("new connection beside a stranded one: %v", err)
	}
	c.Refuse()
	if err := say(open, long); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("refusing, open connection: %v, want it broken", err)
	}
	if _, err := net.Dial("tcp", c.Addr()); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("refusing, new connection: %v, want refused", err)
	}
	c.Pass(t)
	open = dial()
	if err := say(open, long); err != nil {
		t.Errorf("passing after refusing: %v", err)
	}
	c.Drop()
	if err := say(open, long); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("dropping, open connection: %v, want it broken", err)
	}
	conn, err := net.Dial("tcp", c.Addr()) // may itself see the break
	if err == nil {
		err = say(conn, long)
		conn.Close()
	}
	if err == nil || errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("dropping, new connection: %v, want it broken", err)
	}
}

func readLine(conn net.Conn, wait time.Duration) (string, error) {
	if err := conn.SetDeadline(time.Now().Add(wait)); err != nil {
		return "", err
	}
	return bufio.NewReader(conn).ReadString('\n')
}
