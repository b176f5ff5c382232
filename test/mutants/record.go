package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// done remembers, in bin/mutants/done.txt, which faults were tried, each with its function's digest.
type done struct {
	file  *os.File
	known map[string]bool
}

func openDone(root string) (*done, error) {
	dir := filepath.Join(root, "bin", "mutants")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(dir, "done.txt"), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	d := &done{file: file, known: map[string]bool{}}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if _, which, ok := strings.Cut(lines.Text(), "\t"); ok {
			d.known[which] = true
		}
	}
	return d, nil
}

func (d *done) has(f *fault) bool { return d.known[f.of+"\t"+f.name] }

func (d *done) add(v verdict) {
	how := v.noticed
	if v.missed {
		how = "MISSED"
	}
	fmt.Fprintf(d.file, "%s\t%s\t%s\n", how, v.fault.of, v.fault.name)
}

func (d *done) Close() error { return d.file.Close() }

// missedFile lists missed faults that nobody mended: the name, and in the next line, indented, the reason.
const missedFile = "test/mutants/missed.txt"

// readMissed returns reasons by names.
func readMissed(root string) (map[string]string, error) {
	text, err := os.ReadFile(filepath.Join(root, missedFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	known, name := map[string]string{}, ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		reason, indented := strings.CutPrefix(line, "\t")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case !indented && name == "":
			name = line
		case indented && name != "":
			known[name], name = reason, ""
		default:
			return nil, fmt.Errorf("%s: %q is neither a name nor the reason of one", missedFile, line)
		}
	}
	if name != "" {
		return nil, fmt.Errorf("%s: no reason follows %q", missedFile, name)
	}
	return known, nil
}

// A file of faults by hand has for each: "name: file", the lines that are there, each after "- ", and those that
// stand there instead, each after "+ ", in which ON is true while the fault is on.
var handBegins = regexp.MustCompile(`^(\S+): (\S+\.go)$`)

// written is one of them.
type written struct{ name, file, was, is string }

// place finds where it stands: its lines are there once, with any indent.
func (w *written) place(root string) (*fault, error) {
	source, err := readFile(root, w.file)
	if err != nil {
		return nil, err
	}
	if !strings.Contains(w.is, "ON") {
		return nil, errors.New("the lines that stand there instead do not say ON")
	}
	var lines []string
	for line := range strings.Lines(w.was) {
		lines = append(lines, `[ \t]*`+regexp.QuoteMeta(strings.TrimSpace(line)))
	}
	found := regexp.MustCompile(`(?m)^`+strings.Join(lines, `\n`)+`$`).FindAllIndex(source, -1)
	if len(found) != 1 {
		return nil, fmt.Errorf("its lines stand %d times in %s", len(found), w.file)
	}
	at, end := found[0][0], found[0][1]
	line := 1 + strings.Count(string(source[:at]), "\n")
	return &fault{
		pkg: filepath.ToSlash(filepath.Dir(w.file)), file: w.file, name: w.name, of: "by hand",
		line: line, last: line + strings.Count(w.was, "\n") - 1,
		edits: func(id int) []edit {
			is := regexp.MustCompile(`\bON\b`).ReplaceAllString(strings.TrimSuffix(w.is, "\n"), fmt.Sprintf(switchOn, id))
			return []edit{{at: at, drop: end - at, text: is}}
		},
	}, nil
}

// readHand reads such a file.
func readHand(root, path string) ([]*fault, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var all []*written
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		m := handBegins.FindStringSubmatch(line)
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case m != nil:
			all = append(all, &written{name: m[1], file: m[2]})
		case len(all) > 0 && strings.HasPrefix(line, "- "):
			all[len(all)-1].was += line[2:] + "\n"
		case len(all) > 0 && strings.HasPrefix(line, "+ "):
			all[len(all)-1].is += line[2:] + "\n"
		default:
			return nil, fmt.Errorf("%s: %q begins no fault, and is no line of one", path, line)
		}
	}
	var faults []*fault
	for _, w := range all {
		f, err := w.place(root)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", path, w.name, err)
		}
		faults = append(faults, f)
	}
	return faults, nil
}

// domain are the floors of which 95 of 100 faults are noticed; of the others 90 are.
var domain = regexp.MustCompile(`^(broker|policy|lifecycle)\b|^drivers/(kubernetes|openstack|clusterapi|manifests|helm|heat|vault|barbican|keydir)\b`)

// report prints a table by package, and what was missed as missed.txt has it. It reports whether the goals are met.
func report(to io.Writer, verdicts []verdict, known map[string]string) bool {
	type row struct{ tried, noticed, equivalent, missed int }
	rows, groups := map[string]*row{}, map[string]*row{}
	of := func(all map[string]*row, name string) *row {
		if all[name] == nil {
			all[name] = &row{}
		}
		return all[name]
	}
	slices.SortFunc(verdicts, func(a, b verdict) int { return strings.Compare(a.fault.name, b.fault.name) })
	for _, v := range verdicts {
		group := "rest (goal 90 %)"
		if domain.MatchString(v.fault.pkg) {
			group = "domain (goal 95 %)"
		}
		counts := []*row{of(rows, v.fault.pkg), of(groups, "= "+group)}
		for _, seed := range v.fault.seeds {
			counts = append(counts, of(groups, fmt.Sprintf("= %d %s", seed, group)))
		}
		for _, r := range counts {
			r.tried++
			switch {
			case !v.missed:
				r.noticed++
			case strings.HasPrefix(known[v.fault.name], "equivalent"):
				r.equivalent++
			default:
				r.missed++
			}
		}
	}
	share := func(r *row) float64 { return 100 * float64(r.noticed) / float64(max(1, r.noticed+r.missed)) }
	line := func(name string, r *row) {
		fmt.Fprintf(to, "%-28s %5d %7d %10d %6d %6.1f %%\n", name, r.tried, r.noticed, r.equivalent, r.missed, share(r))
	}
	fmt.Fprintf(to, "\n%-28s %5s %7s %10s %6s\n", "package", "tried", "noticed", "equivalent", "missed")
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		line(name, rows[name])
	}
	good := true
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		line(name, groups[name])
		good = good && share(groups[name]) >= map[bool]float64{true: 95, false: 90}[strings.Contains(name, "domain")]
	}
	for _, v := range verdicts {
		if _, told := known[v.fault.name]; v.missed && !told {
			fmt.Fprintf(to, "\n%s\n\t%d tests reach it\n", v.fault.name, v.reached)
		}
	}
	return good
}

// reaching says of faults, none of which was tried, how many tests reach each.
func reaching(faults []*fault, tests []*test) (all []verdict) {
	count := map[int]int{}
	for _, t := range tests {
		for _, id := range t.reaches {
			count[id]++
		}
	}
	for _, f := range faults {
		all = append(all, verdict{fault: f, reached: count[f.id]})
	}
	return all
}

// reachedByFew are the faults that a test reaches, and no more than some do.
func reachedByFew(faults []*fault, tests []*test, most int) (few []*fault) {
	for _, v := range reaching(faults, tests) {
		if v.reached > 0 && v.reached <= most {
			few = append(few, v.fault)
		}
	}
	return few
}

// unreached prints the faults that no test reaches and missed.txt does not have, by place, and a table by package. One of
// a comparison is reached where it would be decided otherwise.
func unreached(to io.Writer, verdicts []verdict, known map[string]string) {
	type row struct{ all, unreached int }
	rows := map[string]*row{}
	slices.SortStableFunc(verdicts, func(a, b verdict) int {
		return cmp.Or(strings.Compare(a.fault.file, b.fault.file), a.fault.line-b.fault.line)
	})
	for _, v := range verdicts {
		r := rows[v.fault.pkg]
		if r == nil {
			r = &row{}
			rows[v.fault.pkg] = r
		}
		r.all++
		if _, told := known[v.fault.name]; v.reached == 0 && !told {
			r.unreached++
			fmt.Fprintf(to, "%s:%d %s\n", v.fault.file, v.fault.line, strings.TrimPrefix(v.fault.name, v.fault.file+" "))
		}
	}
	fmt.Fprintf(to, "\n%-28s %6s %9s\n", "package", "faults", "unreached")
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		r := rows[name]
		fmt.Fprintf(to, "%-28s %6d %9d %5.1f %%\n", name, r.all, r.unreached, 100*float64(r.unreached)/float64(r.all))
	}
}
