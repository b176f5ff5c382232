package main

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// faultPackage is the package of the switch in the copy.
const faultPackage = "zzfault"

//go:embed switch.go.txt
var switchText []byte

func readFile(root, file string) ([]byte, error) { return os.ReadFile(filepath.Join(root, file)) }

// copyTree copies what git knows and what it would add, without what it ignores.
func copyTree(from, to string) error {
	out, err := output(from, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if err != nil {
		return err
	}
	for name := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		info, err := os.Lstat(filepath.Join(from, name))
		if errors.Is(err, os.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
			continue // it is deleted, or leads elsewhere
		}
		text, err := readFile(from, name)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(to, name)), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(to, name), text, info.Mode().Perm()); err != nil {
			return err
		}
	}
	return os.MkdirAll(filepath.Join(to, "bin"), 0o755)
}

// module is the path of the module.
func module(root string) (string, error) {
	text, err := readFile(root, "go.mod")
	if err != nil {
		return "", err
	}
	m := regexp.MustCompile(`(?m)^module (\S+)$`).FindSubmatch(text)
	if m == nil {
		return "", errors.New("go.mod names no module")
	}
	return string(m[1]), nil
}

// compileIn writes faults into the copy at dir, and returns those that compile: the others are left out.
func compileIn(root, dir string, faults []*fault) ([]*fault, error) {
	mod, err := module(root)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(dir, faultPackage), 0o755); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, faultPackage, "switch.go"), switchText, 0o600); err != nil {
		return nil, err
	}
	touched, packages := map[string]bool{}, []string{}
	for _, f := range faults {
		touched[f.file] = true
		if pkg := "./" + f.pkg; !slices.Contains(packages, pkg) {
			packages = append(packages, pkg)
		}
	}
	for range 40 {
		of := map[string][]*fault{}
		for _, f := range faults {
			of[f.file] = append(of[f.file], f)
		}
		for file := range touched {
			text, err := readFile(root, file)
			if err != nil {
				return nil, err
			}
			if err := os.WriteFile(filepath.Join(dir, file), apply(text, mod, of[file]), 0o600); err != nil {
				return nil, err
			}
		}
		said, err := output(dir, "go", append([]string{"build", everyComplaint(mod)}, packages...)...)
		if err == nil {
			return faults, nil
		}
		kept := withoutBroken(faults, string(said))
		if len(kept) == len(faults) {
			return nil, fmt.Errorf("the copy does not compile, and no fault stands where it says:\n%s", said)
		}
		for _, f := range faults {
			if !slices.Contains(kept, f) {
				fmt.Println("does not compile:", f.name)
			}
		}
		faults = kept
	}
	return nil, errors.New("the copy does not compile after 40 tries")
}

// everyComplaint is the flag that has the compiler say all that it finds in a package. Programs of tests are built
// with it, too: nothing is compiled twice.
func everyComplaint(mod string) string { return "-gcflags=" + mod + "/...=-e" }

// apply writes faults into the text of a file. Lines stay what they are.
func apply(text []byte, mod string, faults []*fault) []byte {
	if len(faults) == 0 {
		return text
	}
	var edits []edit
	for _, f := range faults {
		edits = append(edits, f.edits(f.id)...)
	}
	slices.SortStableFunc(edits, func(a, b edit) int {
		switch {
		case a.at != b.at:
			return a.at - b.at
		case a.closes != b.closes:
			if a.closes {
				return -1
			}
			return 1
		case a.closes && a.span != b.span:
			return a.span - b.span
		case a.closes:
			return b.rank - a.rank
		case a.span != b.span:
			return b.span - a.span
		}
		return a.rank - b.rank
	})
	var to bytes.Buffer
	at := 0
	for _, e := range edits {
		to.Write(text[at:e.at])
		to.WriteString(e.text)
		at = e.at + e.drop
	}
	to.Write(text[at:])
	clause := regexp.MustCompile(`(?m)^package \w+`)
	where := clause.FindIndex(to.Bytes())
	return slices.Concat(to.Bytes()[:where[1]], []byte("; import "+strconv.Quote(mod+"/"+faultPackage)), to.Bytes()[where[1]:])
}

var complaint = regexp.MustCompile(`(?m)^(\S+\.go):(\d+):`)

// withoutBroken leaves out the faults that stand where the compiler complains: those of comparisons, whose types
// are seen by the compiler only, before others in the line.
func withoutBroken(faults []*fault, said string) []*fault {
	broken := map[*fault]bool{}
	for _, m := range complaint.FindAllStringSubmatch(said, -1) {
		line, _ := strconv.Atoi(m[2])
		begins, spans := []*fault{}, []*fault{}
		for _, f := range faults {
			if f.file == filepath.ToSlash(filepath.Clean(m[1])) && f.line <= line && line <= f.last {
				spans = append(spans, f)
				if f.line == line {
					begins = append(begins, f)
				}
			}
		}
		if len(begins) == 0 {
			begins = spans
		}
		if likely := slices.DeleteFunc(slices.Clone(begins), func(f *fault) bool { return f.kind != "boundary" && f.kind != "constant" }); len(likely) > 0 {
			begins = likely
		}
		for _, f := range begins {
			broken[f] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(faults), func(f *fault) bool { return broken[f] })
}

// output runs a command in a directory, and returns what it says on both outputs.
func output(dir, name string, args ...string) ([]byte, error) {
	c := exec.Command(name, args...)
	c.Dir = dir
	out, err := c.CombinedOutput()
	if err != nil {
		return out, fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return out, nil
}
