package cli_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/root"
	"github.com/vimbroker/vimbroker/test/clock"
)

// TestLinesGolden runs the command lines of testdata/lines, in this process, against a server that answers what the file says. The
// file then shows what each did; go test ./cmd/vimbroker/cli -run LinesGolden -update writes it anew. Lines that somebody writes:
//
//	= vim {"name": ...}         a thing that answers hold: "@vim", or {"@": "vim", "state": "..."} with other fields; the file
//	                            things has those of all files
//	[rules.yaml] text           a line of a file, for all lines below; [stdin] for the next command; [rules.yaml] alone ends the file
//	$ A=b vim list 'two words'  a command line, and its environment
//	< 200 Link=... {...}        the answer to its next request; < POST /v1/leases 200 ... to the next one of that route
//	< 404 no such VIM           a problem; < lost (no answer), < hang (none until the command gives up)
//	< 200 Meanwhile=a ...       before the answer another program writes the file a; Gone=a removes it, or the directory
//	^C                          the interrupt, in place of an answer or of the time that a wait would take
//	! unswept                   for the next command: its requests are not failed in turn
//	! unread                    for the next command: nobody takes its output; ! null: its output is the null device
//
// Lines that the test writes: > a request, + a wait, 1 and 2 what was printed, {name} a file that was written, ? the exit
// code where it is not 0. Of each command that succeeds each request is then refused, and then lost: ~ says what came of it, unless
// the command ended there with exit code 1 and the reason as its last words. So it goes with a command whose output nobody takes.
// (This is done once for each number of requests, the last for each form of output.)
func TestLinesGolden(t *testing.T) {
	update := flag.Lookup("update").Value.String() == "true"
	dir, err := filepath.Abs(filepath.Join("testdata", "lines"))
	if err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			got := newBench(t, filepath.Join(dir, "things")).play(string(want))
			if update {
				if err := os.WriteFile(name, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			} else if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("it goes another way (-want +got):\n%s", diff)
			}
		})
	}
}

// noon is the time at which every line begins.
var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// bench plays a file of command lines.
type bench struct {
	t      *testing.T
	server *httptest.Server
	dir    string
	things map[string]any
	files  map[string]string
	stdin  string
	sweep  bool
	output string          // empty, broken, or the null device
	swept  map[string]bool // kinds of runs whose requests were failed

	mu  sync.Mutex
	run *run // under way
}

// newBench makes one that knows the things of a file.
func newBench(t *testing.T, things string) *bench {
	b := &bench{t: t, dir: t.TempDir(), things: map[string]any{}, files: map[string]string{}, sweep: true, swept: map[string]bool{}}
	b.server = httptest.NewServer(http.HandlerFunc(b.serve))
	b.server.Config.SetKeepAlivesEnabled(false) // a client repeats what it lost on a connection that was used before
	t.Cleanup(b.server.Close)
	text, err := os.ReadFile(things)
	if err != nil {
		t.Fatal(err)
	}
	b.play(string(text))
	t.Chdir(b.dir)
	return b
}

// written are lines that the test writes.
var written = regexp.MustCompile(`^([>+12?~]( |$)|\{)`)

// play runs every line of a file, and returns the file as it has to be.
func (b *bench) play(text string) string {
	var out strings.Builder
	var line string // a command
	var answers []string
	flush := func() {
		if line != "" {
			out.WriteString(b.command(line, answers))
		}
		line, answers = "", nil
	}
	for one := range strings.Lines(text) {
		one = strings.TrimSuffix(one, "\n")
		switch {
		case written.MatchString(one):
		case strings.HasPrefix(one, "$ "):
			flush()
			line = one
		case line != "" && (strings.HasPrefix(one, "< ") || one == "^C"):
			answers = append(answers, one)
		default:
			flush()
			out.WriteString(one + "\n")
			b.prepare(one)
		}
	}
	flush()
	return out.String()
}

// prepare reads a line that stands before a command.
func (b *bench) prepare(line string) {
	name, text, _ := strings.Cut(line, " ")
	switch {
	case name == "=":
		name, text, _ = strings.Cut(text, " ")
		b.things[name] = b.value(text)
	case line == "! unswept":
		b.sweep = false
	case line == "! unread":
		b.output = broken
	case line == "! null":
		b.output = os.DevNull
	case strings.HasPrefix(line, "[") && strings.HasSuffix(name, "]"):
		name = strings.Trim(name, "[]")
		switch {
		case name == "stdin":
			b.stdin += b.local(text) + "\n"
		case !strings.Contains(line, " "):
			delete(b.files, name)
		default:
			b.files[name] += b.local(text) + "\n"
		}
	case line != "" && !strings.HasPrefix(line, "#"):
		b.t.Errorf("nobody knows what this line means: %s", line)
	}
}

// local puts the server's address in place of its name in the file.
func (b *bench) local(text string) string {
	return strings.ReplaceAll(text, "http://SERVER", b.server.URL)
}

// neutral undoes local, and takes out where the test runs.
func (b *bench) neutral(text string) string {
	self, err := os.Executable()
	if err != nil {
		b.t.Fatal(err)
	}
	text = begunFile.ReplaceAllString(text, "$1.RANDOM")
	text = madeToken.ReplaceAllString(text, "${1}RANDOM")
	return strings.NewReplacer(b.server.URL, "http://SERVER", strings.TrimPrefix(b.server.URL, "http://"), "SERVER",
		url.QueryEscape(b.server.URL), "http://SERVER", b.dir, "DIR", self, "PROGRAM").Replace(text)
}

// begunFile is the name of a file that is not complete yet.
var begunFile = regexp.MustCompile(`(/\.[a-z]+)\.[0-9]+`)

// madeToken is a token that a command made, or its digest.
var madeToken = regexp.MustCompile(`(vbt_|sha256"?: "?)[0-9A-Za-z_-]{40,}`)

// value reads JSON, and puts the things in that it names.
func (b *bench) value(text string) any {
	var v any
	decoder := json.NewDecoder(strings.NewReader(b.local(text)))
	decoder.UseNumber()
	if err := decoder.Decode(&v); err != nil {
		b.t.Fatalf("%v: %s", err, text)
	}
	return b.filled(v)
}

func (b *bench) filled(v any) any {
	switch v := v.(type) {
	case string:
		if name, is := strings.CutPrefix(v, "@"); is && b.things[name] != nil {
			return b.things[name]
		}
	case []any:
		for i, one := range v {
			v[i] = b.filled(one)
		}
	case map[string]any:
		whole := map[string]any{}
		if name, is := v["@"].(string); is {
			base, known := b.things[name].(map[string]any)
			if !known {
				b.t.Fatalf("there is no thing %s", name)
			}
			maps.Copy(whole, base)
		}
		for key, one := range v {
			if whole[key] = b.filled(one); key == "@" || one == nil {
				delete(whole, key)
			}
		}
		return whole
	}
	return v
}

// run is one run of a command line.
type run struct {
	answers []string
	used    []bool
	// fails is the request, from 1, that gets another answer; 0 is none.
	fails           int
	with            string
	count           int
	events          []string
	cancel          context.CancelFunc
	clock           *clock.Clock
	out, err, files []string
	code            int
	command         string
	keys            []string
}

// key numbers the keys of requests, which are random.
func (r *run) key(key string) string {
	n := slices.Index(r.keys, key)
	if n < 0 {
		n, r.keys = len(r.keys), append(r.keys, key)
	}
	return "KEY-" + strconv.Itoa(n+1)
}

// kind is the same for runs that ask in the same way.
func (r *run) kind() string { return r.command + " " + strconv.Itoa(r.count) }

const (
	refusedWith = "< 409 not this time"
	lost        = "< lost"
	// broken is the fault of a pipe without a reader.
	broken = "nobody reads this"
)

// brokenPipe takes nothing.
type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New(broken) }

// outputFlag is the form of output that a line asks for.
var outputFlag = regexp.MustCompile(` (-o|--output)[ =][a-z]+`)

// command runs a line, and then once more for each request that fails; it returns what the file is to say.
func (b *bench) command(line string, answers []string) string {
	first := b.once(line, answers, 0, b.output)
	for i, used := range first.used {
		if !used {
			b.t.Errorf("%s: nothing asks for the answer %s", line, first.answers[i])
			first.events = append(first.events, first.answers[i])
		}
	}
	all := slices.Concat([]string{line}, first.events, first.out, first.err, first.files)
	if first.code != 0 {
		all = append(all, "? "+strconv.Itoa(first.code))
	}
	if b.sweep && first.code == 0 && !b.swept[first.kind()] {
		b.swept[first.kind()] = true
		for n := range first.count {
			for _, with := range []string{refusedWith, lost} {
				if said := b.failed(line, answers, first, n+1, with); said != "" {
					all = append(all, said)
				}
			}
		}
	}
	written := first.kind() + " written" + outputFlag.FindString(line)
	if b.sweep && first.code == 0 && len(first.out) > 0 && !b.swept[written] && !strings.HasPrefix(line, "$ __complete ") {
		b.swept[written] = true
		if r := b.once(line, answers, 0, broken); r.code != 1 || !strings.Contains(strings.Join(r.err, " "), broken) {
			all = append(all, "~ pipe: "+strings.Join(append(r.err, "? "+strconv.Itoa(r.code)), "; "))
		}
	}
	b.stdin, b.sweep, b.output = "", true, ""
	return b.neutral(strings.Join(all, "\n")) + "\n"
}

// failed runs a line with one request that fails, and says what comes of it; nothing where it is as the rule says.
func (b *bench) failed(line string, answers []string, first *run, n int, with string) string {
	r := b.once(line, answers, n, with)
	reason := "not this time"
	if with == lost {
		reason = "EOF"
	}
	if said := strings.Join(r.err, " "); r.code == 1 && r.count == n && len(r.files) == 0 && strings.Contains(said, reason) &&
		strings.HasPrefix(strings.Join(first.out, "\n"), strings.Join(r.out, "\n")) {
		return ""
	}
	kind, _, _ := strings.Cut(strings.TrimPrefix(with, "< "), " ")
	var requests []string
	for i := slices.Index(r.events, with) + 1; i < len(r.events); i++ {
		if !strings.HasPrefix(r.events[i], "<") {
			requests = append(requests, r.events[i])
		}
	}
	out := r.out
	if slices.Equal(out, first.out) && len(out) > 0 {
		out = []string{"1 as above"}
	}
	return fmt.Sprintf("~ %d %s: %s", n, kind, strings.Join(slices.Concat(requests, out, r.err, r.files, []string{"? " + strconv.Itoa(r.code)}), "; "))
}

// once runs a line.
func (b *bench) once(line string, answers []string, fails int, with string) *run {
	b.t.Helper()
	b.write()
	ctx, cancel := context.WithTimeout(b.t.Context(), time.Minute)
	defer cancel()
	r := &run{answers: answers, used: make([]bool, len(answers)), fails: fails, with: with, cancel: cancel, clock: clock.New(noon)}
	b.mu.Lock()
	b.run = r
	b.mu.Unlock()
	env := console.Environment{
		console.EnvAddr + "=" + b.server.URL, console.EnvToken + "=t0ken", "HOME=" + b.dir, "PATH=" + b.dir, "KUBECONFIG=" + b.dir + "/kubeconfig",
	}
	words := split(b.local(strings.TrimPrefix(line, "$ ")))
	for len(words) > 0 && setting.MatchString(words[0]) {
		env, words = append(env, words[0]), words[1:]
	}
	var out, said bytes.Buffer
	var stdout io.Writer = &out
	switch with {
	case broken:
		stdout = brokenPipe{}
	case os.DevNull:
		null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
		if err != nil {
			b.t.Fatal(err)
		}
		defer null.Close()
		stdout = null
	}
	c := &console.Console{
		Version: "1.2.3", In: strings.NewReader(b.stdin), Out: stdout, Err: &said, Env: env, Now: r.clock.Now,
		After: func(d time.Duration) <-chan time.Time { return b.wait(r, d) },
	}
	program := root.Command(c)
	program.SetArgs(words)
	program.SetIn(c.In)
	program.SetOut(stdout)
	program.SetErr(&said)
	if found, _, err := program.Find(words); err == nil {
		r.command = found.CommandPath()
	}
	r.code = c.ExitCode(program.ExecuteContext(ctx))
	if ctx.Err() == context.DeadlineExceeded {
		b.t.Errorf("%s: it does not end", line)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.run = nil
	r.out, r.err, r.files = prefixed("1 ", out.String()), prefixed("2 ", said.String()), b.changed()
	return r
}

var setting = regexp.MustCompile(`^[A-Z_]+=`)

// split divides a line into words as a shell does that knows single quotes alone.
func split(line string) (words []string) {
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			words[len(words)-1] += quoted + part
			continue
		}
		next := strings.Split(part, " ")
		if i > 0 {
			words[len(words)-1] += next[0]
			next = next[1:]
		}
		words = append(words, next...)
	}
	words = slices.DeleteFunc(words, func(word string) bool { return word == "" })
	for i, word := range words {
		words[i] = strings.ReplaceAll(word, quoted, "")
	}
	return words
}

// quoted marks a word that may be empty.
const quoted = "\x00"

// prefixed are the lines of a text.
func prefixed(prefix, text string) (lines []string) {
	for one := range strings.Lines(text) {
		whole, ended := strings.CutSuffix(one, "\n")
		if !ended {
			whole += `\`
		}
		lines = append(lines, strings.TrimRight(prefix+whole, " "))
	}
	return lines
}

// write makes the directory anew, with the files that the lines before name.
func (b *bench) write() {
	entries, err := os.ReadDir(b.dir)
	for _, e := range entries {
		if err == nil {
			err = os.RemoveAll(filepath.Join(b.dir, e.Name()))
		}
	}
	for name, text := range b.files {
		if err == nil {
			err = os.MkdirAll(filepath.Dir(filepath.Join(b.dir, name)), 0o700)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(b.dir, name), []byte(text), 0o600)
		}
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// changed are the lines of the files that a command wrote or removed.
func (b *bench) changed() (lines []string) {
	seen := map[string]bool{}
	err := filepath.WalkDir(b.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(b.dir, path)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		if before, there := b.files[name]; err != nil || there && before == string(text) {
			seen[name] = true
			return err
		}
		seen[name] = true
		info, err := e.Info()
		if err != nil {
			return err
		}
		if bytes.ContainsRune(text, 0) {
			text = []byte(unzipped(text))
		}
		lines = append(lines, prefixed("{"+name+"} ", fmt.Sprintf("%#o\n%s", info.Mode().Perm(), text))...)
		return nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(b.files)) {
		if !seen[name] {
			lines = append(lines, "{"+name+"} is removed")
		}
	}
	return lines
}

// unzipped tells what an archive holds.
func unzipped(text []byte) string {
	z, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		return "(binary)\n"
	}
	var out strings.Builder
	for _, f := range z.File {
		fmt.Fprintf(&out, "(%s)\n", f.Name)
		in, err := f.Open()
		if err == nil {
			_, err = io.Copy(&out, in) //nolint:gosec // it is a test's own
		}
		if err != nil {
			return "(broken)\n"
		}
	}
	return strings.TrimSuffix(out.String(), "\n") + "\n"
}

// wait is a wait of the command: it is over at once.
func (b *bench) wait(r *run, d time.Duration) <-chan time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	r.events = append(r.events, "+ "+d.String())
	if i := slices.Index(r.used, false); i >= 0 && r.answers[i] == "^C" {
		r.used[i], r.events = true, append(r.events, "^C")
		r.cancel()
		return nil
	}
	r.clock.Add(d)
	over := make(chan time.Time, 1)
	if len(r.events) < 1000 {
		over <- r.clock.Now()
	}
	return over
}

// next is the answer to a request of this route.
func (b *bench) next(r *run, route, request string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	r.events = append(r.events, request)
	if r.count++; r.count == r.fails {
		b.take(r, route)
		r.events = append(r.events, r.with)
		return r.with
	}
	answer := b.take(r, route)
	if answer == "" {
		if answer = lost; r.with == "" {
			b.t.Errorf("the file has no answer to the request %s", request)
			answer = "" // so that it is not written
		}
	}
	if answer != "" {
		r.events = append(r.events, answer)
	}
	if answer == "^C" {
		r.cancel()
	}
	return answer
}

// take takes the first answer that is for this route, or for any.
func (b *bench) take(r *run, route string) string {
	for i, answer := range r.answers {
		if named := routed.FindStringSubmatch(answer); r.used[i] || named != nil && named[1] != route {
			continue
		}
		r.used[i] = true
		return answer
	}
	return ""
}

// routed is an answer to a request of one route.
var routed = regexp.MustCompile(`^< ([A-Z]+ /\S*) `)

// serve answers as the file says.
func (b *bench) serve(w http.ResponseWriter, q *http.Request) {
	b.mu.Lock()
	r := b.run
	b.mu.Unlock()
	if r == nil {
		panic(http.ErrAbortHandler) // the command has ended
	}
	answer := b.next(r, q.Method+" "+q.URL.EscapedPath(), b.request(r, q))
	route := routed.FindString(answer)
	words := strings.SplitN(strings.TrimPrefix(strings.TrimPrefix(answer, route), "< "), " ", 2)
	status, err := strconv.Atoi(words[0])
	switch {
	case answer == "^C" || words[0] == "hang":
		<-q.Context().Done()
		return
	case err != nil:
		panic(http.ErrAbortHandler) // no answer
	}
	text := strings.Join(words[1:], "")
	for header.MatchString(text) {
		found := header.FindStringSubmatch(text)
		text = text[len(found[0]):]
		file := filepath.Join(b.dir, found[2])
		switch found[1] {
		case "Meanwhile":
			err = os.WriteFile(file, []byte("another's\n"), 0o600)
		case "Gone":
			err = os.RemoveAll(file)
		default:
			w.Header().Set(found[1], b.local(found[2]))
		}
		if err != nil {
			b.t.Error(err)
		}
	}
	var body []byte
	media := "application/json"
	switch {
	case w.Header().Get("Content-Type") != "":
		media, body = w.Header().Get("Content-Type"), []byte(strings.ReplaceAll(b.local(text), `\n`, "\n"))
		if thing, is := b.things[strings.TrimPrefix(text, "@")].(string); is {
			body = []byte(thing)
		}
	case strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") || strings.HasPrefix(text, `"`):
		if body, err = json.Marshal(b.value(text)); err != nil {
			b.t.Error(err)
		}
	case status >= 400:
		body, err = json.Marshal(map[string]any{"title": strings.ToLower(http.StatusText(status)), "detail": text, "requestId": "r-1"})
		if err != nil {
			b.t.Error(err)
		}
	}
	if status >= 400 && media == "application/json" {
		media = "application/problem+json"
	}
	if w.Header().Set("Content-Type", media); status == http.StatusNoContent {
		w.Header().Del("Content-Type")
	}
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// header is a header of an answer.
var header = regexp.MustCompile(`^([A-Z][A-Za-z-]+)=(\S*) ?`)

// usual are headers that say nothing of a command.
var usual = map[string]string{
	"Accept": "application/json", "Accept-Encoding": "gzip", "Authorization": "Bearer t0ken", "Content-Type": "application/json",
	"User-Agent": "vimbroker/1.2.3",
}

// request tells a request in a line.
func (b *bench) request(r *run, q *http.Request) string {
	text := "> " + q.Method + " " + q.URL.RequestURI()
	for _, name := range slices.Sorted(maps.Keys(q.Header)) {
		value := strings.Join(q.Header[name], ",")
		if name == "Idempotency-Key" {
			value = r.key(value)
		}
		if usual[name] != value && name != "Content-Length" {
			text += " " + name + "=" + strings.ReplaceAll(value, " ", "_")
		}
	}
	body, err := io.ReadAll(q.Body)
	if err != nil {
		return text + " (the body is cut off)"
	}
	if bytes.ContainsRune(body, 0) {
		body = []byte(unzipped(body))
	}
	if len(body) > 0 {
		text += " " + strings.ReplaceAll(strings.TrimSpace(string(body)), "\n", `\n`)
	}
	return text
}
