package conformance

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/policy/audit/tree"
)

func auditLog(t *testing.T, s storeTest) {
	if err := s.Check(s.ctx, broker.Replica{}); err != nil {
		t.Errorf("Check = %v", err)
	}
	full := entry("first")
	full.Detail = map[string]string{"role": "edit", "vim": `"'\ é`}
	mustBeFull(t, full, "Seq", "Damaged")
	given := full
	given.Seq = 99 // the sink says what it is
	given.Time = full.Time.Add(300 * time.Nanosecond).In(time.FixedZone("", 3600))
	if err := s.Append(s.ctx, given); err != nil {
		t.Fatalf("Append = %v", err)
	}
	full.Seq = 1
	wantSame(t, "the first entry", s.entries(t), []audit.Entry{full})

	for i, alter := range []func(*audit.Entry){
		func(e *audit.Entry) { e.Project = "south" },
		func(e *audit.Entry) { e.Principal = "bob" },
		func(e *audit.Entry) { e.Action = policy.LeaseIssue },
		func(e *audit.Entry) { e.Resource = "other"; e.Detail = nil },
		func(e *audit.Entry) { e.Time = epoch.Add(-time.Hour) }, // a clock that was set back
		func(e *audit.Entry) { e.Time = epoch.Add(time.Hour); e.Outcome = audit.Denied },
	} {
		e := entry("many")
		alter(&e)
		if err := s.Append(s.ctx, e); err != nil {
			t.Fatalf("Append(%d) = %v", i+2, err)
		}
	}
	for name, c := range map[string]struct {
		q    audit.Query
		want []int64
	}{
		"all, newest first":     {audit.Query{Limit: 100}, []int64{7, 6, 5, 4, 3, 2, 1}},
		"limit":                 {audit.Query{Limit: 2}, []int64{7, 6}},
		"before":                {audit.Query{Limit: 2, Before: 6}, []int64{5, 4}},
		"project":               {audit.Query{Limit: 100, Project: "south"}, []int64{2}},
		"principal":             {audit.Query{Limit: 100, Principal: "bob"}, []int64{3}},
		"action":                {audit.Query{Limit: 100, Action: policy.LeaseIssue}, []int64{4}},
		"resource":              {audit.Query{Limit: 100, Resource: "other"}, []int64{5}},
		"since":                 {audit.Query{Limit: 100, Since: epoch}, []int64{7, 5, 4, 3, 2, 1}},
		"since, many match":     {audit.Query{Limit: 1, Since: epoch.Add(-time.Hour)}, []int64{7}},
		"since, in a project":   {audit.Query{Limit: 100, Since: epoch, Project: "south"}, []int64{2}},
		"since later":           {audit.Query{Limit: 100, Since: epoch.Add(time.Minute)}, []int64{7}},
		"since before the last": {audit.Query{Limit: 100, Since: epoch, Before: 7, Resource: "many"}, []int64{4, 3, 2}},
		"refused request":       {audit.Query{Limit: 100, Request: "req-many"}, []int64{7}},
		"nothing":               {audit.Query{Limit: 100, Project: "east"}, nil},
	} {
		got, err := s.Entries(s.ctx, c.q)
		if err != nil {
			t.Errorf("Entries(%s) = %v", name, err)
		}
		var seqs []int64
		for _, e := range got {
			seqs = append(seqs, e.Seq)
		}
		wantSame(t, "entries: "+name, seqs, c.want)
	}

	for _, e := range []audit.Entry{
		{Kind: policy.KindVIM, Resource: "v1", Project: "south", Detail: map[string]string{"vim": "v1", "vimName": "edge", "vimProject": "west", "lease": "l1", "credential-id": "JTI=1"}},
		{Kind: policy.KindLease, Resource: "l1", Project: "west", Detail: map[string]string{"vim": "v1", "vimName": "edge", "vimProject": "west", "lease": "l1"}},
		{Kind: policy.KindVIM, Resource: "v1", Project: "south", Outcome: audit.Failed, Detail: map[string]string{"vim": "v1", "vimProject": "west"}},
		{Kind: policy.KindLease, Resource: "l1", Project: "south", Outcome: audit.Failed, Detail: map[string]string{"lease": "l1"}},
	} {
		e.Time, e.Principal, e.Action = epoch, "carol", policy.LeaseShow
		if e.Outcome == "" {
			e.Outcome = audit.Done
		}
		if err := s.Append(s.ctx, e); err != nil {
			t.Fatalf("Append(%+v) = %v", e, err)
		}
	}
	for name, c := range map[string]struct {
		q    audit.Query
		want []int64
	}{
		"VIM":                      {audit.Query{Limit: 100, VIM: "v1"}, []int64{10, 9, 8}},
		"VIM by name":              {audit.Query{Limit: 100, VIMName: "edge"}, []int64{9, 8}},
		"resource, a lease":        {audit.Query{Limit: 100, Resource: "l1"}, []int64{11, 9}},
		"resource of a project":    {audit.Query{Limit: 100, Resource: "l1", Project: "west"}, []int64{9}},
		"lease":                    {audit.Query{Limit: 100, Lease: "l1"}, []int64{11, 9, 8}},
		"credential":               {audit.Query{Limit: 100, CredentialID: "JTI=1"}, []int64{8}},
		"one outcome":              {audit.Query{Limit: 100, Principal: "carol", Outcomes: []audit.Outcome{audit.Failed}}, []int64{11, 10}},
		"two outcomes":             {audit.Query{Limit: 100, Outcomes: []audit.Outcome{audit.Failed, audit.Denied}}, []int64{11, 10, 7}},
		"an outcome twice":         {audit.Query{Limit: 100, Outcomes: []audit.Outcome{audit.Failed, audit.Failed}}, []int64{11, 10}},
		"outcomes, a page":         {audit.Query{Limit: 1, Outcomes: []audit.Outcome{audit.Failed, audit.Denied}, Before: 10}, []int64{7}},
		"outcomes, unusual or not": {audit.Query{Limit: 3, Outcomes: []audit.Outcome{audit.Failed, audit.Done}}, []int64{11, 10, 9}},
		"failures of an action":    {audit.Query{Limit: 100, Action: policy.LeaseShow, Outcomes: []audit.Outcome{audit.Failed}}, []int64{11, 10}},
		"failures of a project":    {audit.Query{Limit: 100, Project: "west", Outcomes: []audit.Outcome{audit.Failed, audit.Denied}}, []int64{10}},
		"failures, of one there":   {audit.Query{Limit: 100, Project: "south", Principal: "carol", Outcomes: []audit.Outcome{audit.Failed}}, []int64{11, 10}},
		"failures of nobody's":     {audit.Query{Limit: 100, Project: "nobody", Action: policy.LeaseShow, Outcomes: []audit.Outcome{audit.Failed}}, nil},
		"failures on a VIM":        {audit.Query{Limit: 100, VIM: "v1", Outcomes: []audit.Outcome{audit.Failed}}, []int64{10}},
		"principal of a project":   {audit.Query{Limit: 100, Project: "south", Principal: "carol"}, []int64{11, 10, 8}},
		"action of a project":      {audit.Query{Limit: 100, Project: "west", Action: policy.LeaseShow}, []int64{10, 9, 8}},
		"VIM name in a project":    {audit.Query{Limit: 100, Project: "west", VIMName: "edge"}, []int64{9, 8}},
		"lease in a project":       {audit.Query{Limit: 100, Project: "west", Lease: "l1"}, []int64{9, 8}},
		"until":                    {audit.Query{Limit: 100, Until: epoch}, []int64{6}},
		"own, and on own VIMs":     {audit.Query{Limit: 100, Project: "west"}, []int64{10, 9, 8}},
		"a page of these":          {audit.Query{Limit: 2, Project: "west"}, []int64{10, 9}},
		"the next page":            {audit.Query{Limit: 2, Project: "west", Before: 9}, []int64{8}},
		"on own VIMs, all filters": {audit.Query{Limit: 2, Project: "west", VIM: "v1", VIMName: "edge", Lease: "l1", CredentialID: "JTI=1", Since: epoch, Until: epoch.Add(time.Second), Outcomes: []audit.Outcome{audit.Done}}, []int64{8}},
		"not on others' VIMs":      {audit.Query{Limit: 100, Project: "north", VIM: "v1"}, nil},
	} {
		got, err := s.Entries(s.ctx, c.q)
		if err != nil {
			t.Errorf("Entries(%s) = %v", name, err)
		}
		var seqs []int64
		for _, e := range got {
			seqs = append(seqs, e.Seq)
		}
		wantSame(t, "entries: "+name, seqs, c.want)
	}

	ended, cancel := context.WithCancel(s.ctx)
	cancel()
	if err := s.Append(ended, entry("ended")); !errors.Is(err, context.Canceled) {
		t.Errorf("Append with a context that has ended = %v, want its error", err)
	}
	all := s.entries(t)
	if len(all) != 11 {
		t.Errorf("there are %d entries, want 11", len(all))
	}
	VerifyLog(t, s.Store)
}

// VerifyLog wants the entries of a log to be those of its tree, without a gap, from the first that was not removed.
func VerifyLog(t testing.TB, log audit.Log) {
	t.Helper()
	size, of, err := verified(t, log)
	for tries := 1; err == nil && size != of && tries < 10; tries++ { // a server may have written between the two looks
		size, of, err = verified(t, log)
	}
	if err != nil || size != of {
		t.Errorf("the log of %d entries, whose tree has %d, is not whole: %v", size, of, err)
	}
}

// verified is how many entries a log has, and how many of its tree, after it has grown.
func verified(t testing.TB, log audit.Log) (size, of int64, err error) {
	t.Helper()
	ctx := t.Context()
	if err := log.Grow(ctx); err != nil {
		t.Fatalf("Grow = %v", err)
	}
	state, err := log.Tree(ctx)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := log.EntriesAfter(ctx, 0, 100000)
	if err != nil {
		t.Fatal(err)
	}
	var from int64
	if len(entries) > 0 {
		from = entries[0].Seq - 1
	}
	frontier, err := tree.Frontier(ctx, log, state, from)
	if err != nil {
		t.Fatalf("Frontier = %v", err)
	}
	v, err := audit.NewVerifier(from, frontier, []audit.Point{{Head: state, Name: "its tree"}})
	if err != nil {
		t.Fatal(err)
	}
	lines := make([][]byte, len(entries))
	for i, e := range entries {
		if lines[i], err = audit.Line(e); err != nil {
			t.Fatal(err)
		}
	}
	err = v.Add(lines)
	return v.Size(), state.Size, err
}

// replicas say how they are, whenever the store is checked, until they leave.
func replicas(t *testing.T, s storeTest) {
	one := broker.Replica{ID: "host-b/1", Version: "v1", Fault: "issuing: the key store cannot be used", StartedAt: epoch}
	mustBeFull(t, one, "SeenAt", "Late", "Own")
	other := broker.Replica{ID: "host-a/1", Version: "v2", StartedAt: epoch}
	list := func(want ...broker.Replica) {
		t.Helper()
		got, err := s.Replicas(s.ctx)
		for i := range got {
			if got[i].SeenAt.IsZero() {
				t.Errorf("nobody knows when %s was seen", got[i].ID)
			}
			got[i].SeenAt = time.Time{}
		}
		if err != nil {
			t.Errorf("Replicas = %v", err)
		}
		wantSame(t, "the replicas", got, want)
	}
	say := func(r broker.Replica) {
		t.Helper()
		if err := s.Check(s.ctx, r); err != nil {
			t.Errorf("Check = %v", err)
		}
	}
	say(one)
	say(other)
	list(other, one)
	one.Fault, one.StartedAt = "", epoch.Add(time.Second)
	say(one)
	list(other, one)
	for range 2 {
		if err := s.RemoveReplica(s.ctx, other.ID); err != nil {
			t.Errorf("RemoveReplica = %v", err)
		}
		list(one)
	}
}
