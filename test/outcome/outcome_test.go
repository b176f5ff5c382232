package outcome

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
)

const (
	one   = "11111111-1111-4111-8111-111111111111"
	other = "22222222-2222-4222-8222-222222222222"
)

func TestWhatDiffersFromRunToRunIsNumbered(t *testing.T) {
	begin := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)
	for _, ids := range [][]string{{one, other}, {other, one}} {
		o := &Outcome{begin: begin}
		o.Beside("plan", "wave")
		o.Note("plan", "b", ids[0])
		o.Note("plan", "a", ids[1])
		o.Note("ends")
		o.Note("plan", "a", begin.Add(time.Minute), strings.Repeat("0a", 32))
		Rows(o, "row", []string{one, other})
		want := "plan a #1\nplan b #2\nends\nplan a T+1m0s <sum>\nrow #1\nrow #2\n"
		if diff := cmp.Diff(want, plain(o.text())); diff != "" {
			t.Error(diff)
		}
	}
}

func TestAllThatIsSetIsShown(t *testing.T) {
	o := &Outcome{}
	o.Note("got", struct {
		Name, Empty string
		Text        secret.Text
		Of          map[string]int
		List        []time.Duration
		JSON        json.RawMessage
		Err         error
		Next        *struct{ N int }
		hidden      int
	}{
		Name: "a b", Text: secret.NewText("s"), Of: map[string]int{"y": 1, "x": 0}, List: []time.Duration{time.Second}, JSON: json.RawMessage(`{"a":1}`),
		Err: &broker.Error{Kind: errors.New("kind"), Field: "f"}, Next: &struct{ N int }{3}, hidden: 1,
	}, nil)
	const want = `got {Name:"a b" Text:"s" Of:[x:0 y:1] List:[1s] JSON:{"a":1} Err:{Kind:"kind" Field:f} Next:{N:3}} nil` + "\n"
	if diff := cmp.Diff(want, o.text()); diff != "" {
		t.Error(diff)
	}
	o.ended = true
	if o.Note("late"); o.text() != want {
		t.Errorf("what comes after the end is noted: %s", o.text())
	}
}

// Each golden file is one of a test that there is.
func TestNoOutcomeOutlivesItsTest(t *testing.T) {
	files, err := filepath.Glob("../../*/*/testdata/outcomes/*.txt")
	more, _ := filepath.Glob("../../*/testdata/outcomes/*.txt") // the pattern is a good one
	if files = append(files, more...); err != nil || len(files) == 0 {
		t.Fatalf("there are %d outcomes (%v)", len(files), err)
	}
	sources := map[string]string{}
	for _, file := range files {
		folder := filepath.Dir(filepath.Dir(filepath.Dir(file)))
		if sources[folder] == "" {
			tests, _ := filepath.Glob(filepath.Join(folder, "*_test.go"))
			for _, name := range tests {
				text, err := os.ReadFile(name) //nolint:gosec // of this repository
				if err != nil {
					t.Fatal(err)
				}
				sources[folder] += string(text)
			}
		}
		name, _, _ := strings.Cut(filepath.Base(file), ".")
		if !strings.Contains(sources[folder], "\nfunc "+name+"(") {
			t.Errorf("%s is of no test", file)
		}
	}
}
