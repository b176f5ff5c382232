package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// options are what the command line says.
type options struct {
	root, hand, only, tests string
	run                     string
	seed                    uint64
	n, few, workers, seeds  int
	all, list, near         bool
	unreached, besides      bool
	slow, patience          time.Duration
	packages                []string
}

func main() {
	var o options
	flag.StringVar(&o.root, "root", ".", "the repository")
	flag.Uint64Var(&o.seed, "seed", 1, "says which faults are the sample")
	flag.IntVar(&o.n, "n", 600, "number of faults in the sample")
	flag.IntVar(&o.seeds, "seeds", 1, "samples of so many seeds, the first is -seed and each next one more: the tests are traced once for all")
	flag.BoolVar(&o.all, "all", false, "try every fault, but those that an earlier run tried since their function was changed")
	flag.StringVar(&o.only, "only", "", "try the faults whose name has this text, or one of several, each in a line")
	flag.StringVar(&o.hand, "hand", "", "try the faults of this file, which somebody wrote")
	flag.BoolVar(&o.besides, "besides", false, "try a sample besides what somebody wrote")
	flag.BoolVar(&o.list, "list", false, "print the names, and try nothing")
	flag.BoolVar(&o.unreached, "unreached", false, "try nothing, and print which of all faults no test reaches")
	flag.IntVar(&o.few, "few", 0, "the sample is of faults that some test reaches, but no more than this many")
	flag.BoolVar(&o.near, "near", false, "run only the tests of the packages with faults")
	flag.StringVar(&o.tests, "tests", "./...", "packages whose tests are run, with spaces between them")
	flag.StringVar(&o.run, "run", "", "run only the tests whose name matches this")
	flag.IntVar(&o.workers, "workers", 2, "tests side by side")
	flag.DurationVar(&o.slow, "slow", 30*time.Second, "leave out tests that take longer")
	flag.DurationVar(&o.patience, "patience", time.Minute, "time of tests for one fault")
	flag.Parse()
	o.packages = flag.Args()
	good, err := run(o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(2)
	}
	if !good {
		os.Exit(1)
	}
}

// run reports whether as many faults are noticed as the goals want.
func run(o options) (bool, error) {
	faults, err := choose(o)
	if err != nil {
		return false, err
	}
	if o.list {
		for _, f := range faults {
			fmt.Println(f.name)
		}
		return true, nil
	}
	known, err := readMissed(o.root)
	if err != nil {
		return false, err
	}
	done, err := openDone(o.root)
	if err != nil {
		return false, err
	}
	defer done.Close()
	if o.all {
		faults = slices.DeleteFunc(faults, done.has)
	}
	if len(faults) == 0 {
		fmt.Println("nothing is left to try")
		return true, nil
	}
	verdicts, err := tryAll(o, faults, done)
	if err != nil {
		return false, err
	}
	if o.unreached {
		unreached(os.Stdout, verdicts, known)
		return true, nil
	}
	return report(os.Stdout, verdicts, known), nil
}

// choose finds the faults that are to be tried.
func choose(o options) ([]*fault, error) {
	files, err := sources(o.root, o.packages)
	if err != nil {
		return nil, err
	}
	var faults []*fault
	if o.hand != "" {
		faults, err = readHand(o.root, o.hand)
	}
	written := slices.Clone(faults)
	if o.hand == "" || o.besides {
		for _, file := range files {
			found, failed := find(o.root, file)
			if failed != nil {
				return nil, failed
			}
			faults = append(faults, slices.DeleteFunc(found, func(f *fault) bool { return slices.ContainsFunc(written, f.meets) })...)
		}
	}
	if err != nil {
		return nil, err
	}
	if o.only != "" {
		texts := strings.Split(strings.TrimSpace(o.only), "\n")
		faults = slices.DeleteFunc(faults, func(f *fault) bool {
			return !slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(f.name, text) })
		})
		if len(faults) == 0 {
			return nil, fmt.Errorf("no fault's name has the text %q; -list prints them", o.only)
		}
	}
	if !o.all && !o.unreached && o.only == "" && (o.hand == "" || o.besides) && o.few == 0 {
		faults = append(written, o.sample(faults[len(written):])...)
	}
	for i, f := range faults {
		f.id = i + 1
	}
	return faults, nil
}

// sample is as many faults as are wanted of each seed; one of several seeds is there once.
func (o options) sample(faults []*fault) []*fault {
	var sample []*fault
	for seed := o.seed; seed < o.seed+uint64(max(1, o.seeds)); seed++ { //nolint:gosec // it is positive
		some, r := slices.Clone(faults), rand.New(rand.NewPCG(seed, 0))
		r.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
		for _, f := range some[:min(o.n, len(some))] {
			if len(f.seeds) == 0 {
				sample = append(sample, f)
			}
			f.seeds = append(f.seeds, seed)
		}
	}
	return sample
}

// sources are the files of the product's packages, from the root.
func sources(root string, packages []string) ([]string, error) {
	if len(packages) == 0 {
		packages = []string{"./..."}
	}
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	all, err := list(root, packages...)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, p := range all {
		dir, err := filepath.Rel(root, p.Dir)
		if err != nil || dir == "test" || strings.HasPrefix(dir, "test"+string(filepath.Separator)) || dir == filepath.Join("broker", "failpoint") {
			continue
		}
		for _, name := range p.GoFiles {
			files = append(files, filepath.Join(dir, name))
		}
	}
	return files, nil
}

// tryAll copies the repository and tries faults on the copy.
func tryAll(o options, faults []*fault, done *done) ([]verdict, error) {
	work, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)
	s := &suite{dir: filepath.Join(work, "copy"), work: work, slow: o.slow, workers: o.workers, only: o.run}
	began := time.Now()
	phase := func(format string, args ...any) {
		fmt.Printf("%6s  %s\n", time.Since(began).Round(time.Second), fmt.Sprintf(format, args...))
	}
	if err := copyTree(o.root, s.dir); err != nil {
		return nil, err
	}
	compiled, err := compileIn(o.root, s.dir, faults)
	if err != nil {
		return nil, err
	}
	phase("%d faults are compiled in; %d more do not compile", len(compiled), len(faults)-len(compiled))
	mod, err := module(o.root)
	if err != nil {
		return nil, err
	}
	faulty, patterns := map[string]bool{}, strings.Fields(o.tests)
	for _, f := range compiled {
		faulty[f.pkg] = true
	}
	s.postgres = faulty[postgres]
	if o.near {
		patterns = nil
		for pkg := range faulty {
			patterns = append(patterns, "./"+pkg)
		}
	}
	pkgs, err := s.programs(mod, faulty, patterns)
	if err != nil {
		return nil, err
	}
	phase("the tests of %d packages are built", len(pkgs))
	tests, err := s.trace(pkgs)
	if err != nil {
		return nil, err
	}
	phase("%d tests reach faults", len(tests))
	if o.unreached {
		return reaching(compiled, tests), nil
	}
	if o.few > 0 {
		compiled = o.sample(reachedByFew(compiled, tests, o.few))
		phase("%d of them are the sample", len(compiled))
	}
	var mu sync.Mutex
	var verdicts []verdict
	s.each(len(compiled), func(i int) {
		v := s.try(compiled[i], tests, o.patience)
		mu.Lock()
		defer mu.Unlock()
		verdicts = append(verdicts, v)
		done.add(v)
		if v.missed {
			phase("missed, %d tests reach it, %d of them not tried: %s:%d %s", v.reached, v.untried, v.fault.file, v.fault.line, v.fault.name)
		}
	})
	phase("%d faults are tried", len(verdicts))
	return verdicts, nil
}
