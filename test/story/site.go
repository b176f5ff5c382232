package story

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/test/process"
)

// Site is a machine on which an operator follows a runbook: the directories of
// an installation below a directory of the test's, a server that runs by
// /etc/vimbroker/vimbroker.yaml there, and a shell with an administrator's token.
type Site struct {
	Shell
	// Root is where the machine's / is.
	Root string
	// Broker is the running server, nil while it is stopped.
	Broker *Broker
	// Replace are names on the page, and what stands for them here.
	Replace []string
	// Standing are settings (YAML) that every configuration here has besides.
	Standing string
}

// NewMachine makes a machine without a server, and without the program; the shell finds
// the programs in path before the system's.
func NewMachine(t testing.TB, path ...string) *Site {
	t.Helper()
	s := &Site{Root: t.TempDir()}
	for _, dir := range []string{"etc/systemd/system", "var/lib", "var/backups/state", "var/backups/keys", "usr/local/bin", "root/bin", "tmp"} {
		if err := os.MkdirAll(s.File(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	dirs := append([]string{s.File("usr/local/bin")}, append(path, os.Getenv("PATH"))...)
	s.Shell = Shell{Dir: s.File("root"), Env: []string{
		"HOME=" + s.File("root"), "TMPDIR=" + s.File("tmp"), "PATH=" + strings.Join(dirs, string(os.PathListSeparator)),
	}}
	t.Cleanup(func() {
		if s.Broker != nil {
			s.Broker.Kill()
		}
	})
	return s
}

// NewSite makes a machine with a server, and starts it.
// Settings are merged into its configuration, key by key at the top level; the
// shell finds the programs in path before the system's.
func NewSite(t testing.TB, bin, settings string, path ...string) *Site {
	t.Helper()
	listen := process.FreeAddress(t)
	s := NewMachine(t, path...)
	token, digest := policy.NewToken()
	for _, err := range []error{os.Mkdir(s.File("etc/vimbroker"), 0o700), os.Symlink(bin, s.program())} {
		if err != nil {
			t.Fatal(err)
		}
	}
	s.Write(t, "root/token", token+"\n")
	s.Write(t, "etc/vimbroker/tokens.yaml", "tokens:\n- {name: admin, project: default, roles: [admin], sha256: "+digest+"}\n")
	s.Write(t, "etc/vimbroker/vimbroker.yaml", "listen: "+listen+"\ndataDir: "+s.File("var/lib/vimbroker")+
		"\ntokensFile: "+s.File("etc/vimbroker/tokens.yaml")+"\negress: {allowLoopback: true}\n")
	program, err := os.ReadFile(bin)
	if err == nil {
		err = os.WriteFile(s.File("root/bin/vimbroker"), program, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.Env = append(s.Env, "VIMBROKER_ADDR=http://"+listen, "VIMBROKER_TOKEN_FILE="+s.File("root/token"))
	s.configure(t, settings)
	s.start(t)
	return s
}

// File is where a file of the machine is.
func (s *Site) File(name string) string { return filepath.Join(s.Root, name) }

// program is what the server runs.
func (s *Site) program() string { return s.File("usr/local/bin/vimbroker") }

// Write writes a file of the machine, for its owner alone.
func (s *Site) Write(t testing.TB, name, text string) {
	t.Helper()
	if err := os.WriteFile(s.File(name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Decode reads what a command line prints as JSON.
func (s *Site) Decode(t testing.TB, line string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(s.Must(t, line)), into); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
}

// Follow does the steps of a section.
func (s *Site) Follow(t testing.TB, steps []Step) {
	t.Helper()
	if len(steps) == 0 {
		t.Fatal("there are no steps to follow")
	}
	for _, step := range steps {
		line := s.here(step.Command)
		action, systemd := strings.CutPrefix(line, "systemctl ")
		switch {
		case step.Settings != "":
			s.configure(t, s.here(step.Settings))
			continue
		case step.Path != "":
			name, absolute := strings.CutPrefix(step.Path, "/")
			if !absolute {
				name = filepath.Join("root", name)
			}
			s.Write(t, name, s.here(step.Text))
			continue
		case systemd:
			s.systemctl(t, strings.TrimSuffix(action, " vimbroker"))
			continue
		case strings.HasPrefix(line, "export "):
			s.Before += line + "\n"
			continue
		}
		r := s.Try(t, line)
		t.Logf("%s: exit code %d", step.Command, r.Code)
		if (r.Code != 0) != step.Fails {
			t.Fatalf("%s: exit code %d, the runbook says that it fails: %v\n%s%s", step.Command, r.Code, step.Fails, r.Stdout, r.Stderr)
		}
	}
}

// places are the directories of an installation, as a runbook writes them.
var places = regexp.MustCompile(`(^|[ =:@"'])/(etc/vimbroker|etc/systemd|var/lib/vimbroker|var/backups|usr/local/bin|run/credentials/vimbroker\.service)\b`)

// here puts the machine's own places and names into a text.
func (s *Site) here(text string) string {
	text = places.ReplaceAllStringFunc(text, func(found string) string {
		i := strings.Index(found, "/")
		where := strings.Replace(found[i:], "/run/credentials/vimbroker.service", "/etc/vimbroker", 1)
		return found[:i] + s.Root + where
	})
	return strings.NewReplacer(s.Replace...).Replace(text)
}

// configure merges settings into the configuration file, as an operator edits it.
func (s *Site) configure(t testing.TB, settings string) {
	t.Helper()
	name := s.File("etc/vimbroker/vimbroker.yaml")
	text, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	file, change := map[string]any{}, map[string]any{}
	for _, part := range []struct {
		text []byte
		into map[string]any
	}{{text, file}, {[]byte(settings), change}, {[]byte(s.Standing), change}} {
		if err := yaml.Unmarshal(part.text, &part.into); err != nil {
			t.Fatalf("reading settings: %v\n%s", err, part.text)
		}
	}
	maps.Copy(file, change)
	if text, err = yaml.Marshal(file); err != nil {
		t.Fatal(err)
	}
	s.Write(t, "etc/vimbroker/vimbroker.yaml", string(text))
}

// systemctl does to the server what systemd would.
func (s *Site) systemctl(t testing.TB, action string) {
	t.Helper()
	switch action {
	case "daemon-reload":
		if _, err := os.Stat(s.File("etc/systemd/system/vimbroker.service")); err != nil {
			t.Fatalf("systemd does not find the unit: %v", err)
		}
	case "start", "enable --now":
		s.start(t)
	case "stop":
		s.stop(t)
	case "restart":
		s.stop(t)
		s.start(t)
	case "reload":
		s.reload(t)
	default:
		t.Fatalf("systemctl %s: the test knows daemon-reload, enable --now, start, stop, restart and reload", action)
	}
}

func (s *Site) start(t testing.TB) {
	t.Helper()
	var err error
	s.Broker, err = Serve(s.program(), s.Root, []string{"HOME=" + s.Root, "TMPDIR=" + s.File("tmp")}, "--config", s.File("etc/vimbroker/vimbroker.yaml"))
	if err != nil {
		t.Fatal(err)
	}
}

func (s *Site) stop(t testing.TB) {
	t.Helper()
	if s.Broker == nil {
		t.Fatal("the server is stopped already")
	}
	if err := s.Broker.Stop(); err != nil {
		t.Fatal(err)
	}
	s.Broker = nil
}

// reload sends the signal, and waits until the log says what came of it.
func (s *Site) reload(t testing.TB) {
	t.Helper()
	if err := s.Broker.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), process.Patience)
	defer cancel()
	const done = "the configuration is reloaded"
	if line, err := s.Broker.Log.Next(ctx, done, "the configuration is not reloaded"); err != nil || !strings.Contains(line, done) {
		t.Fatalf("systemctl reload: %s, %v", line, err)
	}
}
