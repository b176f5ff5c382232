package console

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// terminal opens a pseudo terminal.
func terminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo terminals here (mount devpts to run this test): %v", err)
	}
	t.Cleanup(func() { master.Close() })
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err = os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { slave.Close() })
	return master, slave
}

// A person at a terminal is asked, and does nothing but by a yes; whoever has no terminal is not asked.
func TestAPersonIsAskedAndOnlyAYesIsOne(t *testing.T) {
	const no = "nothing is done, as the answer is not yes"
	for typed, want := range map[string]string{"y\n": "", "YES\n": "", " yes \n": "", "n\n": no, "\n": no, "yess\n": no, "\x04": no} {
		master, slave := terminal(t)
		if _, err := master.WriteString(typed); err != nil {
			t.Fatal(err)
		}
		var asked bytes.Buffer
		p := &Console{In: slave, Err: &asked}
		if err := p.Confirm("Delete\nit?"); said(err) != want || asked.String() != "Delete it? [y/N] " {
			t.Errorf("%q: %v, asked %q; want %q", typed, err, &asked, want)
		}
	}
	_, slave := terminal(t)
	deaf, err := os.OpenFile(slave.Name(), os.O_WRONLY|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer deaf.Close()
	p := &Console{In: deaf, Err: &bytes.Buffer{}}
	if err := p.Confirm("Delete it?"); !strings.HasPrefix(said(err), "reading the answer: ") {
		t.Errorf("a terminal that cannot be read: %v", err)
	}
	none, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer none.Close()
	for name, p := range map[string]*Console{"a file": {In: none}, "a pipe": {In: strings.NewReader("n\n")}} {
		var asked bytes.Buffer
		p.Err = &asked
		if err := p.Confirm("Delete it?"); err != nil || asked.Len() > 0 {
			t.Errorf("%s: %v, asked %q", name, err, &asked)
		}
	}
}
