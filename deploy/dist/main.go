// Command dist makes everything of a release: archives, packages for Debian and Fedora, an OCI image, and what says where
// they come from. Two runs on one commit, in any directory, make the same bytes.
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// release is what is made: every artefact is a file in out.
type release struct {
	// top is the project's directory, out that of the artefacts, work that of their parts.
	top, out, work string
	// version is the content of the file VERSION, commit the one that is built, and made its time, which every file of an
	// artefact has.
	version, commit string
	made            time.Time
	// servers are the platforms of the server, clients those of the command line alone.
	servers, clients []platform
	// pages are the manual pages and completions, licences the texts of all modules.
	pages    []file
	licences []byte
	// known are the licences of modules, by path@version.
	known map[string]string
	// sources are the artefacts, and the platform whose programs each holds.
	sources map[string]platform
}

// file is one file of an artefact.
type file struct {
	name string // with slashes, relative
	mode os.FileMode
	data []byte
}

func main() {
	out := flag.String("out", "dist", "directory of the artefacts, made anew")
	key := flag.String("key", "", "file of the Ed25519 key (PKCS #8, PEM) that signs; without it nothing is signed")
	here := flag.Bool("here", false, "only for this machine's platform, for a quick look")
	manual := flag.String("manual", "", "only write the manual, as HTML, to this directory")
	flag.Parse()
	if err := run(*out, *key, *here, *manual); err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1)
	}
}

func run(out, key string, here bool, manual string) error {
	r, err := begin()
	if err != nil {
		return err
	}
	if manual != "" {
		return r.manual(manual)
	}
	if err := r.open(out); err != nil {
		return err
	}
	defer os.RemoveAll(r.work)
	r.choose(here)
	for _, step := range []func() error{
		r.readPages, r.build, r.readLicences, r.archives, r.packages, r.image, r.chart, r.bills, func() error { return r.papers(key) }, r.table,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// begin finds out what is released.
func begin() (*release, error) {
	top, err := command("", "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, err
	}
	r := &release{top: top, sources: map[string]platform{}, known: map[string]string{}}
	if r.commit, err = command(top, "git", "rev-parse", "HEAD"); err != nil {
		return nil, err
	}
	seconds, err := command(top, "git", "log", "-1", "--format=%ct")
	if err != nil {
		return nil, err
	}
	at, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return nil, err
	}
	r.made = time.Unix(at, 0).UTC()
	version, err := os.ReadFile(filepath.Join(top, "VERSION"))
	if err != nil {
		return nil, err
	}
	r.version = strings.TrimSpace(string(version))
	return r, nil
}

// open empties the directory of the artefacts, and makes one for their parts.
func (r *release) open(out string) (err error) {
	if r.out, err = filepath.Abs(out); err != nil {
		return err
	}
	if err := emptied(r.out); err != nil {
		return err
	}
	r.work, err = os.MkdirTemp("", "dist-")
	return err
}

// emptied makes a directory, or removes the artefacts of an earlier run from it; a directory with anything else is refused.
func emptied(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return os.MkdirAll(dir, 0o755)
	}
	if err != nil {
		return err
	}
	entries = slices.DeleteFunc(entries, func(e os.DirEntry) bool { return e.Name() == "docs" }) // the manual's
	if len(entries) > 0 {
		if _, err := os.Stat(filepath.Join(dir, sums)); err != nil {
			return fmt.Errorf("%s holds other files than those of a release; name another directory", dir)
		}
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// command runs a program and returns what it prints.
func command(dir, name string, args ...string) (string, error) {
	c := exec.Command(name, args...)
	c.Dir, c.Stderr = dir, os.Stderr
	text, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(text)), nil
}

// write makes one artefact.
func (r *release) write(name string, data []byte) error {
	return os.WriteFile(filepath.Join(r.out, name), data, 0o644)
}

// table says what each artefact weighs.
func (r *release) table() error {
	entries, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	slices.SortFunc(entries, func(a, b os.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return err
		}
		if info.Size() < 100_000 {
			continue // papers
		}
		fmt.Fprintf(w, "%s\t%.1f MB\n", e.Name(), float64(info.Size())/1e6)
	}
	return w.Flush()
}
