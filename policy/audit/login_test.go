package audit_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/clock"
	"github.com/vimbroker/vimbroker/test/testlog"
)

func TestLoginsAreRecordedOnceAnHour(t *testing.T) {
	now, s := clock.New(noon), &sink{}
	l := audit.NewLogins(s, now.Now, testlog.Silent(t))
	here := audit.WithSource(audit.WithRequest(t.Context(), "r1"), "192.0.2.7")
	s.fail = errors.New("disk full")
	l.In(here, alice) // is not recorded, and lets her in
	s.fail = nil
	for range 30 {
		l.In(here, alice)
		now.Add(time.Minute)
	}
	l.In(audit.WithSource(t.Context(), "192.0.2.8"), alice)
	now.Add(time.Hour)
	l.In(here, alice)
	if len(s.entries) != 3 {
		t.Fatalf("%d entries, want one for each address and one for the next hour", len(s.entries))
	}
	want := audit.Entry{
		Time: noon, Request: "r1", Principal: "alice", Project: "core", Action: audit.Login, Kind: audit.KindServer, Resource: "core",
		Outcome: audit.Done, Detail: map[string]string{"authenticator": "static", "source": "192.0.2.7"},
	}
	if diff := cmp.Diff(want, s.entries[0]); diff != "" {
		t.Errorf("entry (-want +got):\n%s", diff)
	}
}

func TestAFloodOfRefusedLoginsIsCounted(t *testing.T) {
	now, s := clock.New(noon), &sink{}
	l := audit.NewLogins(s, now.Now, testlog.Silent(t))
	from := func(address string) { l.Refused(audit.WithSource(t.Context(), address), policy.ErrUnauthenticated) }
	for range 1000 {
		from("192.0.2.7")
	}
	for i := range 1000 {
		from(fmt.Sprintf("2001:db8::%x", i))
	}
	if len(s.entries) != 60 {
		t.Errorf("2000 refusals in a moment are %d entries, want 60", len(s.entries))
	}
	now.Add(time.Minute)
	from("192.0.2.7")
	last := s.entries[len(s.entries)-1]
	// 999 more of that address, and 941 addresses that had no entry
	if last.Outcome != audit.Denied || last.Detail[audit.DetailRepeats] != "1940" || last.Detail[audit.DetailSource] != "192.0.2.7" {
		t.Errorf("the entry after the flood is %+v, want 1940 that were not told one by one", last)
	}
}

func TestAFloodThatEndsIsTold(t *testing.T) {
	now, s := clock.New(noon), &sink{}
	l := audit.NewLogins(s, now.Now, testlog.Silent(t))
	from := func(address string) { l.Refused(audit.WithSource(t.Context(), address), policy.ErrUnauthenticated) }
	for range 10 {
		from("192.0.2.7")
		from("192.0.2.8")
	}
	from("192.0.2.9")
	for i := range 100 { // 57 of them have an entry
		from(fmt.Sprintf("2001:db8::%x", i))
	}
	s.fail, s.asked = errors.New("disk full"), 0
	now.Add(time.Second)
	if l.Tell(t.Context()); s.asked != 1 {
		t.Errorf("a log that fails is asked %d times", s.asked)
	}
	from("192.0.2.9") // is one that was counted, and not yet told
	s.fail = nil
	l.Tell(t.Context())
	l.Tell(t.Context())
	var told []map[string]string
	for _, e := range s.entries[60:] {
		told = append(told, e.Detail)
	}
	// 9 of each of two addresses and 43 that had no entry, together, and the one of the third
	want := []map[string]string{{"repeats": "60"}, {"source": "192.0.2.9"}}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("told after the flood (-want +got):\n%s", diff)
	}
	for range 3 {
		from("192.0.2.8")
	}
	now.Add(time.Minute)
	for range 3 {
		from("192.0.2.8")
	}
	l.Tell(t.Context())
	if last := s.entries[len(s.entries)-1]; last.Outcome != audit.Denied || last.Action != audit.Login ||
		!cmp.Equal(last.Detail, map[string]string{"source": "192.0.2.8", "repeats": "1"}) {
		t.Errorf("the last entry is %+v, want two refusals to the address", last)
	}
}

func TestRefusalsAreToldByTheirReason(t *testing.T) {
	s := &sink{}
	l := audit.NewLogins(s, clock.New(noon).Now, testlog.Silent(t))
	here := audit.WithSource(t.Context(), "192.0.2.7")
	expired := &policy.RefusedLogin{Authenticator: "oidc:corp", Reason: "expired"}
	for range 3 {
		l.Refused(here, expired)
		l.Refused(here, fmt.Errorf("at the door: %w", &policy.RefusedLogin{Authenticator: "oidc:corp", Reason: "unknown key"}))
	}
	l.Tell(t.Context())
	var told []map[string]string
	for _, e := range s.entries {
		told = append(told, e.Detail)
	}
	of := func(reason string, more ...string) map[string]string {
		said := map[string]string{"source": "192.0.2.7", "authenticator": "oidc:corp", "reason": reason}
		if len(more) > 0 {
			said["repeats"] = more[0]
		}
		return said
	}
	want := []map[string]string{of("expired"), of("unknown key"), of("expired", "1"), of("unknown key", "1")}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	alice := alice
	alice.Login = policy.Arrival{Entry: "corp", Shown: "Alice"}
	l.In(here, alice)
	if got := s.entries[4].Detail; got["trust"] != "corp" || got["shown"] != "Alice" {
		t.Errorf("a login is told as %v", got)
	}
}
