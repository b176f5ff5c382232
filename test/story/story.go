// Package story tells what a user sees of the binary, as testscript files: a
// real server and the real command line. What they are pointed at, a
// fake cluster or a real one, is for the tests that import it to bring.
package story

import (
	"fmt"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// Command is a command of a story's script.
type Command = func(ts *testscript.TestScript, neg bool, args []string)

// HeedSignals has this process, and what it starts, ignore no signal that a terminal
// sends, as processes do that were started by nohup or in a shell's background.
func HeedSignals() {
	for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s) // a handler of ours is the default in what is started
		}
	}
}

// Run tells the stories in dir, each as a subtest, with the binary bin and with
// the directories in path found before the system's. To the commands given it
// adds:
//
//	broker [ARG...]    start "vimbroker serve", in the try-out mode if nothing is given,
//	                   and set VIMBROKER_ADDR; its log goes to serve.log
//	stop [KILL]        end it by SIGTERM, which must end well, or by SIGKILL
//	capture VAR RE     set a variable to the first group of RE in the last output
//	until TIME CMD...  run a program until it succeeds (with !, fails), at most that long
//	leftover           assert that files of leases are on disk; with !, that none are
func Run(t *testing.T, dir, bin string, path []string, commands map[string]Command) {
	t.Helper()
	HeedSignals()
	all := map[string]Command{"broker": startBroker, "stop": stopBroker, "capture": capture, "until": until, "leftover": leftover}
	maps.Copy(all, commands)
	testscript.Run(t, testscript.Params{
		Dir:                 dir,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			dirs := append([]string{filepath.Dir(bin)}, path...)
			e.Setenv("PATH", strings.Join(append(dirs, e.Getenv("PATH")), string(os.PathListSeparator)))
			e.Values[key{}] = &state{bin: bin}
			return nil
		},
		Cmds: all,
	})
}

type key struct{}

// state is what one story has running.
type state struct {
	bin    string
	broker *Broker
}

func of(ts *testscript.TestScript) *state { return ts.Value(key{}).(*state) }

func startBroker(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) == 0 {
		args = []string{"--dev", "--listen", "127.0.0.1:0", "--data-dir", ts.MkAbs("data")}
		ts.Setenv("VIMBROKER_TOKEN_FILE", ts.MkAbs("data/dev-token"))
	}
	b, err := Serve(of(ts).bin, ts.MkAbs("."), []string{"HOME=" + ts.MkAbs("home"), "TMPDIR=" + ts.Getenv("TMPDIR")}, args...)
	if (err == nil) == neg {
		ts.Fatalf("starting the server: %v", err)
	}
	if err != nil {
		return
	}
	ts.Defer(b.Kill)
	of(ts).broker = b
	ts.Setenv("VIMBROKER_ADDR", b.URL)
}

func stopBroker(ts *testscript.TestScript, neg bool, args []string) {
	b := of(ts).broker
	switch {
	case neg || b == nil || len(args) > 1 || len(args) == 1 && args[0] != "KILL":
		ts.Fatalf("usage: stop [KILL], of a broker that was started")
	case len(args) == 1:
		b.Kill()
	default:
		ts.Check(b.Stop())
	}
}

func capture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: capture NAME PATTERN")
	}
	found := regexp.MustCompile(args[1]).FindStringSubmatch(ts.ReadFile("stdout") + ts.ReadFile("stderr"))
	if len(found) != 2 {
		ts.Fatalf("no match for %s in the last output", args[1])
	}
	ts.Setenv(args[0], found[1])
}

// until is for what a real system does in its own time, and signals to nobody.
func until(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: [!] until TIME PROGRAM [ARG...]")
	}
	most, err := time.ParseDuration(args[0])
	ts.Check(err)
	for deadline := time.Now().Add(most); ; time.Sleep(100 * time.Millisecond) {
		last := time.Now().After(deadline)
		switch {
		case (ts.Exec(args[1], args[2:]...) == nil) != neg:
			return
		case last:
			ts.Fatalf("%s: not within %s", strings.Join(args[1:], " "), most)
		}
	}
}

func leftover(ts *testscript.TestScript, neg bool, _ []string) {
	found, err := Leftover(ts.Getenv("TMPDIR"))
	ts.Check(err)
	if (len(found) > 0) == neg {
		ts.Fatalf("files of leases: %v", found)
	}
}

// Leftover lists the files of leases that clients with this TMPDIR have on disk, but for the
// exec plugin's cache, whose files go when their leases have expired.
func Leftover(tmp string) ([]string, error) {
	found, err := filepath.Glob(filepath.Join(tmp, "vimbroker-*", "*", "*"))
	if err != nil {
		return nil, fmt.Errorf("looking for files of leases: %w", err)
	}
	return slices.DeleteFunc(found, func(name string) bool { return filepath.Base(filepath.Dir(name)) == "leases" }), nil
}
