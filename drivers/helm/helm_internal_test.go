package helm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/manifests"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/test/fakeobjects"
)

// An index whose turn does not come while the pull has time is looked at later.
func TestAnIndexWaitsForOtherCharts(t *testing.T) {
	d := New(Options{})
	leave, err := d.seats.Sit(t.Context(), "acme")
	if err != nil {
		t.Fatal(err)
	}
	defer leave()
	over, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	if _, _, err := d.find("acme")(over, nil, "web", "1.0.0"); !errors.Is(err, broker.ErrUnavailable) {
		t.Errorf("its turn did not come: %v, want %v", err, broker.ErrUnavailable)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, _, err := d.find("acme")(ended, nil, "web", "1.0.0"); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v, want %v", err, context.Canceled)
	}
}

// Of all revisions of a release one is kept unpacked.
func TestHeadersAreKeptOfEarlierRevisions(t *testing.T) {
	s := fakeobjects.New(t)
	in := lifecycle.PlanInput{Instance: uuid.NewString(), Namespace: "cnf", Mark: uuid.NewString()}
	const long = 1 << 20
	for n := range 3 {
		r := record{
			version: n + 1, mark: in.Mark,
			body: map[string]json.RawMessage{"version": json.RawMessage(fmt.Sprint(n + 1)), "name": quoted(strings.Repeat("a", long))},
			info: map[string]json.RawMessage{"status": quoted(strings.Repeat("s", long))},
		}
		value, err := r.packed(false)
		if err != nil {
			t.Fatal(err)
		}
		s.Put("/api/v1/namespaces/cnf/secrets/"+recordName(in, n+1), map[string]any{
			"apiVersion": "v1", "kind": "Secret", "data": map[string][]byte{"release": []byte(value)},
			"metadata": map[string]any{"name": recordName(in, n+1), "namespace": "cnf", "labels": map[string]any{
				"vimbroker.io/instance": in.Instance, markLabel: in.Mark,
			}},
		})
	}
	d := New(Options{})
	draft, err := d.Draft(s.Connection(d.Survey(in)), in)
	if err != nil {
		t.Fatal(err)
	}
	all, err := records(t.Context(), draft, in)
	if err != nil || len(all) != 3 {
		t.Fatalf("records = %d, %v, want 3", len(all), err)
	}
	for i, r := range all {
		kept := 0
		for _, text := range []map[string]json.RawMessage{r.body, r.info} {
			for _, v := range text {
				kept += len(v)
			}
		}
		if newest := i == len(all)-1; r.version != i+1 || r.mark != in.Mark || !r.own || newest != (kept > 2*long) || !newest && kept > 100 {
			t.Errorf("of revision %d (mark %s, own %v) %d bytes are kept", r.version, r.mark, r.own, kept)
		}
		again := r.whole()
		if again.version != r.version || again.mark != r.mark || again.own != r.own || len(again.text(again.body, "name")) != long {
			t.Errorf("revision %d as a whole: %d", r.version, again.version)
		}
	}
}

// What nobody would read again is not written.
func TestRecordsAreWrittenAsTheyAreRead(t *testing.T) {
	list := func(n int) json.RawMessage { return json.RawMessage("[" + strings.Repeat("1,", n-1) + "1]") }
	for name, c := range map[string]struct {
		value json.RawMessage
		fits  bool
	}{
		"a long list":      {list(releaseLimit.Items), true},
		"a longer list":    {list(releaseLimit.Items + 2), false},
		"too many values":  {json.RawMessage("[" + strings.Repeat(string(list(1000))+",", 101) + "1]"), false},
		"nests much":       {json.RawMessage(strings.Repeat("[", 60) + strings.Repeat("]", 60)), true},
		"nests too deeply": {json.RawMessage(strings.Repeat("[", 70) + strings.Repeat("]", 70)), false},
	} {
		r := record{
			body: map[string]json.RawMessage{"version": json.RawMessage("1"), "config": c.value},
			info: map[string]json.RawMessage{"status": quoted(deployed)},
		}
		if next := r.as(superseded, "it was"); next.status() != superseded || r.status() != deployed || len(r.info) != 1 {
			t.Errorf("%s: a record that gets a successor %s is %s with %v", name, next.status(), r.status(), r.info)
		}
		value, err := r.packed(false)
		if c.fits != (err == nil) || !c.fits && !errors.Is(err, broker.ErrInvalid) {
			t.Errorf("%s: packed = %v", name, err)
		}
		if err != nil {
			continue
		}
		if _, err := decode(&manifests.StoredSecret{Data: map[string][]byte{"release": []byte(value)}}); err != nil {
			t.Errorf("%s is written and not read: %v", name, err)
		}
	}
}
