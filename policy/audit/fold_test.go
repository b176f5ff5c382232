package audit_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// full is a sink that takes nothing while it is full.
type full struct {
	audit.Sink
	full    bool
	entries []audit.Entry
}

func (f *full) Append(_ context.Context, e audit.Entry) error {
	if f.full {
		return errors.New("full")
	}
	f.entries = append(f.entries, e)
	return nil
}

// One refusal that was only counted is told as it was, with nothing beside it, and the next time where it cannot be written.
func TestOneFoldedRefusalIsTold(t *testing.T) {
	sink, f := &full{}, audit.NewFolds()
	refusal := audit.Entry{Time: time.Unix(1000, 0), Action: policy.LeaseMint, Outcome: audit.Denied, Resource: "x", Detail: map[string]string{}}
	for range 2 {
		if err := audit.AppendRefusal(f.Under(t.Context(), "x"), sink, refusal); err != nil {
			t.Fatal(err)
		}
	}
	for _, full := range []bool{true, false} {
		sink.entries, sink.full = nil, full
		if err := f.Tell(t.Context(), sink, refusal.Time.Add(time.Hour)); (err != nil) != full {
			t.Errorf("Tell() = %v", err)
		}
	}
	if diff := cmp.Diff([]audit.Entry{refusal}, sink.entries); diff != "" {
		t.Errorf("it is told (-want +got):\n%s", diff)
	}
}

// A refusal is an entry of its own again once the hour is over, and not before.
func TestARefusalIsFoldedForAnHour(t *testing.T) {
	begun := time.Unix(1000, 0)
	for after, want := range map[time.Duration]int{0: 1, audit.FoldWithin - 1: 1, audit.FoldWithin: 2} {
		sink, f := &full{}, audit.NewFolds()
		for _, at := range []time.Time{begun, begun.Add(after)} {
			err := audit.AppendRefusal(f.Under(t.Context(), "x"), sink, audit.Entry{Time: at, Action: policy.LeaseMint, Outcome: audit.Denied, Detail: map[string]string{}})
			if err != nil {
				t.Fatal(err)
			}
		}
		if len(sink.entries) != want {
			t.Errorf("%v later there are %d entries, want %d", after, len(sink.entries), want)
		}
	}
}

// What was only counted is told once the hour is over, or the process ends, and nothing is lost or told twice, also
// where it cannot be written at first.
func TestFoldedRefusalsAreTold(t *testing.T) {
	now := time.Unix(1000, 0)
	var last time.Time
	sink := &full{}
	f := audit.NewFolds()
	refuse := func(about string) {
		t.Helper()
		last = now
		err := audit.AppendRefusal(f.Under(t.Context(), about), sink, audit.Entry{
			Time: now, Action: policy.LeaseMint, Outcome: audit.Denied, Resource: about, Detail: map[string]string{},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	tell := func(by time.Time, wants ...string) {
		t.Helper()
		sink.entries = nil
		if err := f.Tell(t.Context(), sink, by); (err != nil) != sink.full {
			t.Errorf("Tell() = %v", err)
		}
		var got []string
		for _, e := range sink.entries {
			got = append(got, e.Resource+" "+e.Detail[audit.DetailRepeats])
		}
		if len(got) != len(wants) || len(got) == 1 && (got[0] != wants[0] || !sink.entries[0].Time.Equal(last)) {
			t.Errorf("told are %q, want %q", got, wants)
		}
	}
	refuse("once")
	for range 5 {
		refuse("often")
		now = now.Add(time.Minute)
	}
	if len(sink.entries) != 2 {
		t.Errorf("six refusals of two kinds are %d entries", len(sink.entries))
	}
	tell(now.Add(-audit.FoldWithin)) // each counts on for its hour
	sink.full = true
	tell(now)
	refuse("often") // meanwhile, and counted on
	sink.full = false
	tell(now, "often 4")
	tell(now)
	refuse("often")
	if len(sink.entries) != 1 || sink.entries[0].Detail[audit.DetailRepeats] != "" {
		t.Errorf("the first one after that is told as %+v", sink.entries)
	}
}
