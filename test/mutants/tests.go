package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// test is one test function, which its package's program runs alone, or one part of a function that is slow.
type test struct {
	pkg, name string // of a part: its function, a slash, and its own name
	took      time.Duration
	reaches   []int
}

// suite runs the tests of a copy.
type suite struct {
	dir, work string // the copy, and a directory for programs and notes
	slow      time.Duration
	workers   int
	only      string // the tests whose name matches this
	postgres  bool   // there are faults of the package, so that its tests need a server
}

// listed is what "go list" says of a package.
type listed struct {
	ImportPath, ForTest, Name, Dir           string
	Deps, GoFiles, TestGoFiles, XTestGoFiles []string
}

// list asks for packages of the copy.
func list(dir string, args ...string) ([]listed, error) {
	c := exec.Command("go", append([]string{"list", "-json=ImportPath,ForTest,Name,Dir,Deps,GoFiles,TestGoFiles,XTestGoFiles"}, args...)...)
	c.Dir = dir
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("listing packages: %w", err)
	}
	var all []listed
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); {
		var one listed
		if err := d.Decode(&one); err != nil {
			return nil, fmt.Errorf("listing packages: %w", err)
		}
		all = append(all, one)
	}
	return all, nil
}

// programs builds the test program of each package that patterns name and that the faulty packages can be seen
// from: it imports one, or starts the program that does.
func (s *suite) programs(mod string, faulty map[string]bool, patterns []string) ([]string, error) {
	all, err := list(s.dir, append([]string{"-test"}, patterns...)...)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, p := range all {
		pkg, isTest := strings.CutSuffix(p.ImportPath, ".test")
		if !isTest {
			continue
		}
		pkg = strings.TrimPrefix(strings.TrimPrefix(pkg, mod), "/")
		sees := slices.ContainsFunc(p.Deps, func(dep string) bool {
			dep, _, _ = strings.Cut(dep, " ")
			return dep == mod+"/test/story" || faulty[strings.TrimPrefix(dep, mod+"/")]
		})
		if sees && !skipped.MatchString(pkg) {
			found = append(found, pkg)
		}
	}
	if len(found) == 0 {
		return nil, errors.New("no package of tests sees the faults")
	}
	var mu sync.Mutex
	var failed error
	s.each(len(found), func(i int) {
		args := []string{"test", "-c", everyComplaint(mod), "-ldflags=-w", "-o", s.program(found[i])}
		if tagged(filepath.Join(s.dir, found[i])) {
			args = append(args, "-tags=failpoints")
		}
		if said, err := output(s.dir, "go", append(args, "./"+found[i])...); err != nil {
			mu.Lock()
			failed = fmt.Errorf("%w\n%s", err, said)
			mu.Unlock()
		}
	})
	return found, failed
}

// skipped are packages of tests that ask nothing of the product, or run it for hours.
var skipped = regexp.MustCompile(`^test$|^test/(bench|mutants|real)\b`)

// tagged reports whether tests of a package kill it at failpoints.
func tagged(dir string) bool {
	files, _ := filepath.Glob(filepath.Join(dir, "*_test.go"))
	return slices.ContainsFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		return err == nil && regexp.MustCompile(`(?m)^//go:build .*\bfailpoints\b`).Match(text)
	})
}

func (s *suite) program(pkg string) string {
	return filepath.Join(s.work, strings.ReplaceAll(pkg, "/", "_")+".test")
}

// each calls a function for each number below n, some side by side.
func (s *suite) each(n int, do func(i int)) {
	next := make(chan int)
	var wg sync.WaitGroup
	for range s.workers {
		wg.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}

// trace runs each test alone, and returns those that pass in time and reach a fault. The others are told.
func (s *suite) trace(pkgs []string) ([]*test, error) {
	wanted, err := regexp.Compile(s.only)
	if err != nil {
		return nil, err
	}
	var all []*test
	for _, pkg := range pkgs {
		c := exec.Command(s.program(pkg), "-test.list", "^(Test|Fuzz|Example)")
		c.Dir = filepath.Join(s.dir, pkg)
		out, err := c.Output()
		if err != nil {
			return nil, fmt.Errorf("listing the tests of %s: %w", pkg, err)
		}
		for name := range strings.Lines(string(out)) {
			if name = strings.TrimSpace(name); wanted.MatchString(name) {
				all = append(all, &test{pkg: pkg, name: name})
			}
		}
	}
	kept, late := s.traced(all)
	var parts []*test
	for _, t := range late {
		of := s.parts(t)
		if len(of) == 0 {
			fmt.Printf("left out, as it takes more than %v and has no parts: %s %s\n", s.slow, t.pkg, t.name)
		}
		parts = append(parts, of...)
	}
	more, late := s.traced(parts)
	for _, t := range late {
		fmt.Printf("left out, as it takes more than %v: %s %s\n", s.slow, t.pkg, t.name)
	}
	return append(kept, more...), nil
}

// traced runs each of some tests alone. It returns those that pass in time and reach a fault, and those that take
// too long. One that fails is told.
func (s *suite) traced(all []*test) (kept, slow []*test) {
	var mu sync.Mutex
	s.each(len(all), func(i int) {
		t := all[i]
		notes, err := os.MkdirTemp(s.work, "notes")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(notes)
		began := time.Now()
		passed, late := s.run(t.pkg, []*test{t}, "trace "+notes, s.slow)
		t.took = time.Since(began)
		t.reaches = reached(notes)
		mu.Lock()
		defer mu.Unlock()
		switch {
		case late:
			slow = append(slow, t)
		case !passed:
			fmt.Printf("left out, as it fails without a fault: %s %s\n", t.pkg, t.name)
		case len(t.reaches) > 0:
			kept = append(kept, t)
		}
	})
	return kept, slow
}

// begins is the line that a subtest begins with.
var begins = regexp.MustCompile(`(?m)^=== RUN   (\S+/\S+)$`)

// parts lists the subtests of a slow test that have none of their own. The test runs for it once more, whole.
func (s *suite) parts(t *test) []*test {
	ctx, cancel := context.WithTimeout(context.Background(), 20*s.slow)
	defer cancel()
	out, _ := s.command(ctx, t.pkg, t.pattern(), "", "-test.v").Output() // one that fails has listed some
	var names []string
	for _, m := range begins.FindAllSubmatch(out, -1) {
		names = append(names, string(m[1]))
	}
	var all []*test
	for _, name := range names {
		if !slices.ContainsFunc(names, func(other string) bool { return strings.HasPrefix(other, name+"/") }) {
			all = append(all, &test{pkg: t.pkg, name: name})
		}
	}
	return all
}

// pattern is what "go test -run" takes for this test alone.
func (t *test) pattern() string {
	levels := strings.Split(t.name, "/")
	for i, level := range levels {
		levels[i] = "^" + regexp.QuoteMeta(level) + "$"
	}
	return strings.Join(levels, "/")
}

// isPart reports whether it is a part of a test function: the pattern of such a one has no place beside others.
func (t *test) isPart() bool { return strings.Contains(t.name, "/") }

// reached reads which faults the processes of a test have noted.
func reached(notes string) []int {
	ids := map[int]bool{}
	files, _ := filepath.Glob(filepath.Join(notes, "*"))
	for _, file := range files {
		marks, _ := os.ReadFile(file)
		for id, mark := range marks {
			if mark != 0 {
				ids[id] = true
			}
		}
	}
	all := []int{}
	for id := range ids {
		all = append(all, id)
	}
	slices.Sort(all)
	return all
}

// run runs tests of a package with the switch as said, until the first failure, and reports whether all passed,
// and whether they took too long. A part of a test comes alone.
func (s *suite) run(pkg string, tests []*test, said string, most time.Duration) (passed, late bool) {
	ctx, cancel := context.WithTimeout(context.Background(), most)
	defer cancel()
	pattern := tests[0].pattern()
	for _, t := range tests[1:] {
		pattern += "|" + t.pattern()
	}
	c := s.command(ctx, pkg, pattern, said)
	err := c.Run()
	return err == nil || errors.Is(err, exec.ErrWaitDelay) && c.ProcessState.Success(), ctx.Err() != nil
}

// command runs what a pattern names in the program of a package, with the switch as said.
func (s *suite) command(ctx context.Context, pkg, pattern, said string, more ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, s.program(pkg), append([]string{"-test.run", pattern, "-test.failfast", "-test.timeout=0"}, more...)...)
	c.Dir = filepath.Join(s.dir, pkg)
	c.Env = append(os.Environ(), "VIMBROKER_REAL="+s.demand(pkg), "VIMBROKER_FIELD=0", "VIMBROKER_FAULT="+said)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = time.Second // a child of it holds the outputs
	return c
}

// demand says whether the tests of a package meet real systems. Those of drivers/postgres start a server of their own in
// a second, where its programs are found, and would notice nothing without it.
func (s *suite) demand(pkg string) string {
	if pkg == postgres && s.postgres {
		return ""
	}
	return "0"
}

const postgres = "drivers/postgres"

// verdict says how a fault came off.
type verdict struct {
	fault   *fault
	noticed string // test that failed, or the package of several
	missed  bool
	reached int // tests
	untried int // of those, as the fault's time was over
}

// try runs a fault with the tests that reach it: those of its own package first, in one process, then those of
// others, the most particular first, for as long as patience lasts.
func (s *suite) try(f *fault, tests []*test, patience time.Duration) verdict {
	v := verdict{fault: f}
	byPackage := map[string][]*test{}
	for _, t := range tests {
		if _, hit := slices.BinarySearch(t.reaches, f.id); hit {
			byPackage[t.pkg] = append(byPackage[t.pkg], t)
			v.reached++
		}
	}
	groups := []([]*test){}
	for _, group := range byPackage {
		slices.SortFunc(group, func(a, b *test) int {
			return int(a.took.Milliseconds()*int64(len(a.reaches)) - b.took.Milliseconds()*int64(len(b.reaches)))
		})
		for len(group) > 0 {
			n := 1
			for n < min(8, len(group)) && !group[0].isPart() && !group[n].isPart() {
				n++
			}
			groups = append(groups, group[:n])
			group = group[n:]
		}
	}
	cost := func(group []*test) (sum int64) {
		for _, t := range group {
			sum += t.took.Milliseconds()*int64(len(t.reaches)) + 1
		}
		if group[0].pkg != f.pkg {
			sum += 1 << 40
		}
		return sum / int64(len(group))
	}
	slices.SortStableFunc(groups, func(a, b []*test) int { return int(cost(a) - cost(b)) })
	var spent time.Duration
	for _, group := range groups {
		var names []string
		var want time.Duration
		for _, t := range group {
			names = append(names, t.name)
			want += t.took
		}
		if spent += want; spent > patience {
			v.untried += len(group)
			continue
		}
		if passed, late := s.run(group[0].pkg, group, strconv.Itoa(f.id), 3*want+20*time.Second); !passed {
			v.noticed = group[0].pkg + " " + strings.Join(names, "|")
			if late {
				v.noticed += " (hangs)"
			}
			return v
		}
	}
	v.missed = true
	return v
}
