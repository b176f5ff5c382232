package main

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// program is a product with one package, whose tests leave some faults unnoticed.
var program = map[string]string{
	"go.mod": "module example.org/small\n\ngo 1.26\n",
	"sum/sum.go": `package sum

import "errors"

var ErrMany = errors.New("too many")

func Sum(of []int, most int) (total int, err error) {
	if len(of) > most {
		return 0, ErrMany
	}
	for _, n := range of {
		if n < 0 || n == 13 {
			continue
		}
		total += n
	}
	return total, nil
}

func Even(n int64) bool { return n%2 == 0 }

func First(a, b string) bool { return a < b }
`,
	"sum/sum_test.go": `package sum

import "testing"

func TestSum(t *testing.T) {
	if got, err := Sum([]int{1, 2, -3}, 4); got != 3 || err != nil {
		t.Error(got, err)
	}
	if _, err := Sum([]int{1, 2}, 1); err == nil {
		t.Error("nothing is too many")
	}
}

func TestEven(t *testing.T) {
	if !Even(2) {
		t.Error("2 is not even")
	}
}

func TestFirst(t *testing.T) {
	if !First("a", "b") {
		t.Error("a is not first")
	}
}
`,
	"hand.txt": `# by hand
H1: sum/sum.go
- if n < 0 || n == 13 {
- continue
+ if n < 0 || n == 13 {
+ if !ON { continue }
H2: sum/sum.go
- total += n
+ total += n; if ON && n == 13 { total++ }
`,
}

func small(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range program {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if said, err := output(root, "git", "init", "-q"); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	return root
}

// Each fault is noticed or missed as the tests of the small product have it.
func TestFaultsAreTried(t *testing.T) {
	root := small(t)
	o := options{root: root, all: true, tests: "./...", workers: 2, slow: time.Minute, patience: time.Minute}
	faults, err := choose(o)
	if err != nil {
		t.Fatal(err)
	}
	known, err := openDone(root)
	if err != nil {
		t.Fatal(err)
	}
	defer known.Close()
	verdicts, err := tryAll(o, faults, known)
	if err != nil {
		t.Fatal(err)
	}
	got := map[bool][]string{}
	for _, v := range verdicts {
		got[v.missed] = append(got[v.missed], strings.TrimPrefix(v.fault.name, "sum/sum.go "))
	}
	for missed, want := range map[bool][]string{
		true: {
			"First boundary a < b", // of texts, and the fault does not compile
			"Sum boundary len(of) > most", "Sum boundary n < 0", "Sum constant n < 0", "Sum constant n == 13", "Sum operand n == 13",
		},
		false: {
			"Even answer n%2 == 0", "Even constant n%2 == 0", "First answer a < b", "Sum condition len(of) > most", "Sum condition n < 0 || n == 13", "Sum error ErrMany",
			"Sum operand n < 0", "Sum statement continue", "Sum statement total += n",
		},
	} {
		want = slices.DeleteFunc(want, func(name string) bool { return strings.HasPrefix(name, "First boundary") })
		if slices.Sort(got[missed]); !slices.Equal(got[missed], want) {
			t.Errorf("missed %v:\n%s\nwant\n%s", missed, strings.Join(got[missed], "\n"), strings.Join(want, "\n"))
		}
	}

	// What was tried is not tried again, until its function changes.
	again, err := openDone(root)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if left := slices.DeleteFunc(faults, again.has); len(left) != 1 || !strings.Contains(left[0].name, "First boundary") {
		t.Errorf("%d faults are left", len(left))
	}
}

// whole is a test that takes for ever as a whole while faults are on, but not part by part.
const whole = `package sum

import (
	"flag"
	"os"
	"strings"
	"testing"
	"time"
)

func TestWhole(t *testing.T) {
	if os.Getenv("VIMBROKER_FAULT") != "" && !strings.Contains(flag.Lookup("test.run").Value.String(), "/") {
		<-time.After(time.Hour)
	}
	t.Run("some/of two", func(t *testing.T) {
		if n, _ := Sum([]int{13, 1}, 2); n != 1 {
			t.Error(n)
		}
	})
	t.Run("none", func(t *testing.T) {
		if n, _ := Sum(nil, 0); n != 0 {
			t.Error(n)
		}
	})
}
`

// A test that is slow as a whole notices faults part by part.
func TestASlowTestIsRunInParts(t *testing.T) {
	root := small(t)
	if err := os.WriteFile(filepath.Join(root, "sum/whole_test.go"), []byte(whole), 0o600); err != nil {
		t.Fatal(err)
	}
	o := options{root: root, only: "Sum constant n == 13", tests: "./...", workers: 2, slow: 5 * time.Second, patience: time.Minute}
	faults, err := choose(o)
	if err != nil {
		t.Fatal(err)
	}
	known, err := openDone(root)
	if err != nil {
		t.Fatal(err)
	}
	defer known.Close()
	verdicts, err := tryAll(o, faults, known)
	if err != nil || len(verdicts) != 1 || verdicts[0].noticed != "sum TestWhole/some/of_two" {
		t.Errorf("%+v, %v: want it noticed by a part", verdicts, err)
	}
}

// Faults that somebody wrote are tried as those by rule are, and what stands nowhere is told.
func TestFaultsByHand(t *testing.T) {
	root := small(t)
	o := options{root: root, hand: filepath.Join(root, "hand.txt"), tests: "./...", workers: 2, slow: time.Minute, patience: time.Minute}
	faults, err := choose(o)
	if err != nil {
		t.Fatal(err)
	}
	known, err := openDone(root)
	if err != nil {
		t.Fatal(err)
	}
	defer known.Close()
	verdicts, err := tryAll(o, faults, known)
	if err != nil || len(verdicts) != 2 {
		t.Fatalf("%d faults are tried, %v", len(verdicts), err)
	}
	for _, v := range verdicts {
		if v.missed != (v.fault.name == "H2") {
			t.Errorf("%s is missed: %v", v.fault.name, v.missed)
		}
	}
	o.besides, o.n = true, 1000
	all, err := choose(o)
	if err != nil || len(all) <= 2 || all[0].name != faults[0].name || all[1].name != faults[1].name {
		t.Errorf("with a sample besides, %d faults are tried, %v", len(all), err)
	}
	for _, f := range all[2:] {
		if f.file == all[0].file && f.line == all[0].line {
			t.Errorf("%s stands in the lines of %s", f.name, all[0].name)
		}
	}
	o.besides = false
	for text, want := range map[string]string{
		"A: sum/sum.go\n- total -= n\n+ ON\n": "stand 0 times",
		"A: sum/sum.go\n- total += n\n+ x\n":  "do not say ON",
		"total\n":                             "begins no fault",
	} {
		if err := os.WriteFile(o.hand, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := choose(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q = %v, want %q", text, err, want)
		}
	}
}

// The list of missed faults names those that can still be compiled in, and each of a sample's seed is another sample.
func TestMissedFaultsAreThere(t *testing.T) {
	known, err := readMissed("../..")
	if err != nil || len(known) == 0 {
		t.Fatalf("%d missed faults, %v", len(known), err)
	}
	faults, err := choose(options{root: "../..", all: true})
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]int{}
	for _, f := range faults {
		names[f.name]++
	}
	for name := range known {
		if names[name] == 0 {
			t.Errorf("%s: no fault has the name %q: drop it, or name it as it is now", missedFile, name)
		}
	}
	for name, count := range names {
		if count > 1 {
			t.Errorf("%d faults have the name %q", count, name)
		}
	}
	sample := func(seed uint64) (names []string) {
		some, err := choose(options{root: "../..", seed: seed, n: 20, packages: []string{"./policy/..."}})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range some {
			names = append(names, f.name)
		}
		return names
	}
	if one := sample(1); !slices.Equal(one, sample(1)) || slices.Equal(one, sample(2)) || len(one) != 20 {
		t.Errorf("the sample of a seed is not one of 20: %q", one)
	}
}

// The faults that few tests reach are those that some does, and no more than wanted.
func TestFaultsThatFewTestsReach(t *testing.T) {
	faults := []*fault{{id: 1}, {id: 2}, {id: 3}, {id: 4}}
	tests := []*test{{reaches: []int{1, 2}}, {reaches: []int{1, 2, 4}}, {reaches: []int{2}}}
	var ids []int
	for _, f := range reachedByFew(faults, tests, 2) {
		ids = append(ids, f.id)
	}
	if !slices.Equal(ids, []int{1, 4}) {
		t.Errorf("faults %v are reached by one test or two, want 1 and 4", ids)
	}
	o := options{n: 1, seed: 3}
	if some := o.sample(faults); len(some) != 1 {
		t.Errorf("a sample of one has %d", len(some))
	}
}

// The samples of several seeds are those that each has alone; a fault of two is tried once.
func TestSamplesOfSeveralSeeds(t *testing.T) {
	fresh := func() (faults []*fault) {
		for id := range 40 {
			faults = append(faults, &fault{id: id})
		}
		return faults
	}
	want, got := map[uint64][]int{}, map[uint64][]int{}
	for seed := uint64(7); seed < 10; seed++ {
		for _, f := range (options{n: 15, seed: seed}).sample(fresh()) {
			want[seed] = append(want[seed], f.id)
		}
		slices.Sort(want[seed])
	}
	together, ids := (options{n: 15, seed: 7, seeds: 3}).sample(fresh()), map[int]bool{}
	for _, f := range together {
		ids[f.id] = true
		for _, seed := range f.seeds {
			got[seed] = append(got[seed], f.id)
		}
	}
	for _, of := range got {
		slices.Sort(of)
	}
	if !reflect.DeepEqual(got, want) || len(ids) != len(together) || len(ids) == 45 {
		t.Errorf("three seeds have %v in %d faults, %d of them once, want %v, some in two", got, len(together), len(ids), want)
	}
}
