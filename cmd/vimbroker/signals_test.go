package main

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vimbroker/vimbroker/cmd/vimbroker/lessee"
)

// command is this program as a process of its own.
func (i *installation) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self, args...)
	c.Env = append(i.env[:len(i.env):len(i.env)], asProgram+"=1")
	return c
}

// echo tells each signal that it gets on a line of its own, and ends on TERM.
const echo = `for s in INT HUP QUIT USR1 USR2 WINCH; do trap "echo got $s" $s; done; trap "echo got TERM; exit 5" TERM
echo started; while :; do read x < $TICKS; done 2> /dev/null`

// ticks is a FIFO with a line every 20 ms: a shell that reads it runs its traps by then. One that waited for the signal alone
// would miss that which comes just before it waits.
func ticks(t *testing.T) string {
	t.Helper()
	name := t.TempDir() + "/ticks"
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(name, os.O_RDWR, 0) // for reading too, so that it waits for no reader
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	go func() {
		for {
			if _, err := f.WriteString("\n"); err != nil {
				return // the test has ended
			}
			time.Sleep(20 * time.Millisecond)
		}
	}()
	return name
}

// expect reads lines until one ends in want, and returns all that were read.
func expect(t *testing.T, lines *bufio.Reader, want string) (read []string) {
	t.Helper()
	for {
		line, err := lines.ReadString('\n')
		line = strings.TrimRight(line, "\r\n")
		read = append(read, line)
		if strings.HasSuffix(line, want) {
			return read
		}
		if err != nil {
			t.Fatalf("output ended (%v) before %q: %q", err, want, read)
		}
	}
}

func TestExecPassesEverySignalOn(t *testing.T) {
	i := install(t)
	c := i.command(t, "exec", "edge", "--", "sh", "-c", echo)
	c.Env = append(c.Env, "TICKS="+ticks(t))
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no terminal, whoever runs this test
	stdout, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(stdout)
	expect(t, lines, "started")
	var last os.Signal = syscall.SIGTERM // ends the command
	for _, s := range append(without(lessee.Relayed, last), last) {
		if err := c.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
		expect(t, lines, "got "+strings.TrimPrefix(unix.SignalName(s.(syscall.Signal)), "SIG"))
	}
	if err := c.Wait(); c.ProcessState.ExitCode() != 5 {
		t.Errorf("exec ended with %v, want the command's 5", err)
	}
	if left := i.leases(); len(left) != 0 {
		t.Errorf("the cluster still holds %v", left)
	}
}

// What nohup or a shell in the background has it ignore, exec ignores and so does
// the command: a hang-up does not end either.
func TestExecIgnoresWhatItIsToldToIgnore(t *testing.T) {
	i := install(t)
	c := i.command(t, "exec", "edge", "--", "sh", "-c", `kill -HUP $$ $PPID; kill -INT $$ $PPID; echo goes on`)
	c.Args = append([]string{"sh", "-c", `trap "" HUP INT && exec "$0" "$@"`, c.Path}, c.Args[1:]...)
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	c.Path = sh
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if out, err := c.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != "goes on" {
		t.Errorf("exec = %v, %s", err, out)
	}
	if left := i.leases(); len(left) != 0 {
		t.Errorf("the cluster still holds %v", left)
	}
}

func without(all []os.Signal, one os.Signal) []os.Signal {
	return slices.DeleteFunc(slices.Clone(all), func(s os.Signal) bool { return s == one })
}

func TestExecAtATerminalDoesNotDeliverKeysTwice(t *testing.T) {
	i := install(t)
	master, slave := terminal(t)
	c := i.command(t, "exec", "edge", "--", "sh", "-c", echo)
	c.Env = append(c.Env, "TICKS="+ticks(t))
	c.Stdin, c.Stdout, c.Stderr = slave, slave, slave
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	lines := bufio.NewReader(master)
	expect(t, lines, "started")
	for range 3 {
		if _, err := io.WriteString(master, "\x03"); err != nil { // ^C
			t.Fatal(err)
		}
		expect(t, lines, "got INT")
	}
	// Whatever was passed on besides came before this.
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for _, line := range expect(t, lines, "got TERM") {
		if strings.HasSuffix(line, "got INT") {
			t.Error("one ^C reached the command twice")
		}
	}
	if err := c.Wait(); c.ProcessState.ExitCode() != 5 {
		t.Errorf("exec ended with %v, want the command's 5", err)
	}
	if left := i.leases(); len(left) != 0 {
		t.Errorf("the cluster still holds %v", left)
	}
}

// terminal opens a pseudo terminal.
func terminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo terminals here (mount devpts to run this test): %v", err)
	}
	t.Cleanup(func() { master.Close() })
	control, err := master.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var number int
	var failed error
	err = control.Control(func(fd uintptr) {
		if failed = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); failed == nil {
			number, failed = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
		}
	})
	if err != nil || failed != nil {
		t.Fatal(err, failed)
	}
	slave, err = os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { slave.Close() })
	return master, slave
}
