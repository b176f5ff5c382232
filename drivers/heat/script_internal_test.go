package heat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/test/golden"
)

// The requests of a worker about instance i.
const (
	find   = "GET stacks?name=vnf-i"
	look1  = "GET stacks/vnf-i/k"
	list   = "GET stacks/vnf-i/k/resources?nested_depth=10"
	newest = "GET stacks/vnf-i/k/events?sort_dir=desc&limit=1"
	follow = "GET stacks/vnf-i/k/events?sort_dir=asc&limit=200"
	update = "PUT stacks/vnf-i/k"
	remove = "DELETE stacks/vnf-i/k"
	act    = "POST stacks/vnf-i/k/actions"
)

func shownAs(s, owner string) string {
	return fmt.Sprintf(`{"id":"k","stack_name":"vnf-i","stack_status":%q,"tags":["vimbroker.io/instance=%s"],"creation_time":"2031-05-06T07:08:09"}`, s, owner)
}

func found(s, owner string) string { return `{"stacks":[` + shownAs(s, owner) + `]}` }
func standing(s string) string     { return `{"stack":` + shownAs(s, "i") + `}` }
func deleted() string {
	return strings.Replace(standing("DELETE_COMPLETE"), `"creation_time"`, `"deletion_time":"2031-05-06T07:09:00","creation_time"`, 1)
}
func listed(parts ...string) string { return `{"resources":[` + strings.Join(parts, ",") + `]}` }
func happened(of ...string) string  { return `{"events":[` + strings.Join(of, ",") + `]}` }
func listedPart(name, s, reason, physical, within, nested string) string {
	links := fmt.Sprintf(`{"rel":"stack","href":"/stacks/%s"}`, within)
	if nested != "" {
		links += fmt.Sprintf(`,{"rel":"nested","href":"/stacks/%s"}`, nested)
	}
	return fmt.Sprintf(`{"resource_name":%q,"resource_type":"T","resource_status":%q,"resource_status_reason":%q,"physical_resource_id":%q,"links":[%s]}`, name, s, reason, physical, links)
}

func event1(name, physical, s string) string {
	return fmt.Sprintf(`{"id":"e","resource_name":%q,"physical_resource_id":%q,"resource_status":%q,"resource_status_reason":"why"}`, name, physical, s)
}

// top is a part of the stack itself.
func top(name, s, reason string) string { return listedPart(name, s, reason, "p-"+name, "vnf-i/k", "") }

// What a failed stack says: which resources failed, the lowest, at most five, and why, without what may not be told.
func TestWhatAFailureSays(t *testing.T) {
	many := func(n int) (all []string) {
		for i := range n {
			all = append(all, top(fmt.Sprint("r", i), "CREATE_FAILED", "w"))
		}
		return all
	}
	five := "resource r0 (T) is CREATE_FAILED: w; resource r1 (T) is CREATE_FAILED: w; resource r2 (T) is CREATE_FAILED: w; resource r3 (T) is CREATE_FAILED: w; resource r4 (T) is CREATE_FAILED: w"
	for name, c := range map[string]struct {
		now, all, want string
		kind           error
	}{
		"one":               {standing("CREATE_FAILED"), listed(top("a", "CREATE_COMPLETE", ""), top("b", "CREATE_FAILED", "s3cret is wrong")), "stack vnf-i is CREATE_FAILED: resource b (T) is CREATE_FAILED: (a value of the template) is wrong", lifecycle.ErrNotReady},
		"none":              {standing("CREATE_FAILED"), listed(top("a", "CREATE_COMPLETE", "")), "stack vnf-i is CREATE_FAILED", lifecycle.ErrNotReady},
		"five":              {standing("UPDATE_FAILED"), listed(many(5)...), "stack vnf-i is UPDATE_FAILED: " + five, lifecycle.ErrNotReady},
		"six":               {standing("UPDATE_FAILED"), listed(many(6)...), "stack vnf-i is UPDATE_FAILED: " + five + "; and others", lifecycle.ErrNotReady},
		"it cannot be seen": {`500 {}`, listed(many(1)...), "stack vnf-i failed: resource r0 (T) is CREATE_FAILED: w", lifecycle.ErrNotReady},
		"it is gone":        {`404 {"code":404}`, listed(many(1)...), "stack vnf-i failed: resource r0 (T) is CREATE_FAILED: w", lifecycle.ErrNotReady},
		"what is in it":     {standing("CREATE_FAILED"), `403 {"code":403}`, "cannot list the resources of stack vnf-i: Heat does not let the lease do it (403)", broker.ErrForbidden},
		"a nested one": {
			standing("CREATE_FAILED"), listed(listedPart("g", "CREATE_FAILED", "below", "n", "vnf-i/k", "n/n"), listedPart("0", "CREATE_FAILED", "w", "p", "n/n", "")),
			"stack vnf-i is CREATE_FAILED: resource g/0 (T) is CREATE_FAILED: w", lifecycle.ErrNotReady,
		},
		"a nested one by itself": {
			standing("CREATE_FAILED"), listed(listedPart("g", "CREATE_FAILED", "w", "n", "vnf-i/k", "n/n"), listedPart("0", "CREATE_COMPLETE", "", "p", "n/n", "")),
			"stack vnf-i is CREATE_FAILED: resource g (T) is CREATE_FAILED: w", lifecycle.ErrNotReady,
		},
	} {
		r, _ := worker(&script{answers: map[string][]string{look1: {c.now}, list: {c.all}}}, lifecycle.Wave{})
		r.wish.Unspoken = []string{"s3cret"}
		err := r.failure(t.Context(), &stack{ID: "k", Name: "vnf-i"})
		if e, ok := errors.AsType[*broker.Error](err); !ok || e.Kind != c.kind || e.Detail != c.want || e.Remedy == "" {
			t.Errorf("%s: %v, want %v: %s", name, err, c.kind, c.want)
		}
	}
}

// A worker whose time is over says what Heat is still busy with, at most five, and what stopped it.
func TestWhatIsNotReadySays(t *testing.T) {
	busy := func(n int) (all []string) {
		all = append(all, listedPart("g", "CREATE_IN_PROGRESS", "", "n", "vnf-i/k", "n/n"), listedPart("0", "CREATE_IN_PROGRESS", "", "p", "n/n", ""), top("done", "CREATE_COMPLETE", ""))
		for i := range n - 1 {
			all = append(all, top(fmt.Sprint("r", i), "UPDATE_IN_PROGRESS", ""))
		}
		return all
	}
	const four = "g/0 is CREATE_IN_PROGRESS, r0 is UPDATE_IN_PROGRESS, r1 is UPDATE_IN_PROGRESS, r2 is UPDATE_IN_PROGRESS"
	late, stop := context.WithTimeout(t.Context(), 0)
	defer stop()
	for name, c := range map[string]struct {
		ctx       context.Context
		id        string
		all, want string
		cause     error
	}{
		"late":             {late, "k", listed(busy(1)...), "not ready in time: stack vnf-i: g/0 is CREATE_IN_PROGRESS", context.DeadlineExceeded},
		"stopped":          {ended(t, nil), "k", listed(busy(4)...), "the operation was stopped while it waited: stack vnf-i: " + four, context.Canceled},
		"five":             {late, "k", listed(busy(5)...), "not ready in time: stack vnf-i: " + four + ", r3 is UPDATE_IN_PROGRESS", context.DeadlineExceeded},
		"six":              {late, "k", listed(busy(6)...), "not ready in time: stack vnf-i: " + four + ", r3 is UPDATE_IN_PROGRESS", context.DeadlineExceeded},
		"nothing is":       {late, "k", listed(top("done", "CREATE_COMPLETE", "")), "not ready in time: stack vnf-i", context.DeadlineExceeded},
		"it is not listed": {late, "k", "500 {}", "not ready in time: stack vnf-i", context.DeadlineExceeded},
		"it has no id":     {late, "", listed(busy(1)...), "not ready in time: stack vnf-i", context.DeadlineExceeded},
	} {
		s := &script{answers: map[string][]string{list: {c.all}}}
		r, _ := worker(s, lifecycle.Wave{})
		err := r.unready(c.ctx, &stack{ID: c.id, Name: "vnf-i"})
		if e, ok := errors.AsType[*broker.Error](err); !ok || e.Kind != lifecycle.ErrNotReady || e.Detail != c.want || !errors.Is(e.Cause, c.cause) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
		if n := s.count(list); n != len(c.id) || len(s.asked) != n {
			t.Errorf("%s: Heat is asked %q", name, s.asked)
		}
	}
}

// An error stays what it is, but for that of a call that the end of the context has cut off.
func TestWhatIsCutOff(t *testing.T) {
	r, _ := worker(&script{}, lifecycle.Wave{})
	gone, refused := &broker.Error{Kind: broker.ErrUnreachable}, &broker.Error{Kind: broker.ErrForbidden}
	over := ended(t, nil)
	for _, c := range []struct {
		ctx  context.Context
		err  error
		want error
	}{{over, nil, nil}, {over, refused, broker.ErrForbidden}, {t.Context(), gone, broker.ErrUnreachable}, {over, gone, lifecycle.ErrNotReady}} {
		if err := r.cut(c.ctx, c.err); !errors.Is(err, c.want) || err == nil != (c.want == nil) {
			t.Errorf("%v, the context over %t: %v, want %v", c.err, c.ctx.Err() != nil, err, c.want)
		}
	}
}

// A canceled operation has Heat stop what it does with the instance's stack, and waits for that; it stops no deletion,
// and nobody else's stack.
func TestWhatIsStopped(t *testing.T) {
	for name, c := range map[string]struct {
		found []string
		act   string
		acts  int
		finds int
	}{
		"a busy one":         {[]string{found("UPDATE_IN_PROGRESS", "i"), found("UPDATE_IN_PROGRESS", "i"), found("UPDATE_FAILED", "i")}, "200 {}", 1, 3},
		"one that goes":      {[]string{found("UPDATE_IN_PROGRESS", "i"), `{"stacks":[]}`}, "200 {}", 1, 2},
		"one out of sight":   {[]string{found("UPDATE_IN_PROGRESS", "i"), "500 {}"}, "200 {}", 1, 2},
		"one that does not":  {[]string{found("UPDATE_IN_PROGRESS", "i")}, "409 {}", 1, 1},
		"one that is done":   {[]string{found("UPDATE_COMPLETE", "i")}, "200 {}", 0, 1},
		"one being deleted":  {[]string{found("DELETE_IN_PROGRESS", "i")}, "200 {}", 0, 1},
		"somebody else's":    {[]string{found("UPDATE_IN_PROGRESS", "j")}, "200 {}", 0, 1},
		"none":               {[]string{`{"stacks":[]}`}, "200 {}", 0, 1},
		"one never in sight": {[]string{"500 {}"}, "200 {}", 0, 1},
	} {
		s := &script{answers: map[string][]string{find: c.found, act: {c.act}}}
		r, _ := worker(s, lifecycle.Wave{})
		r.stop(t.Context())
		if s.count(act) != c.acts || s.count(find) != c.finds || len(s.asked) != c.acts+c.finds {
			t.Errorf("%s: Heat is asked %q, want to act %d times and to show %d times", name, s.asked, c.acts, c.finds)
		}
		if c.acts == 1 && !strings.Contains(s.bodies[len(s.bodies)-1], "cancel_without_rollback") {
			t.Errorf("%s: Heat is told %q", name, s.bodies)
		}
	}
	s := &script{answers: map[string][]string{find: {found("UPDATE_IN_PROGRESS", "i")}, act: {"200 {}"}}}
	r, _ := worker(s, lifecycle.Wave{})
	ctx, end := context.WithCancel(t.Context())
	r.pause = longestPause * 600
	r.client.HTTPClient.Transport = trip(func(q *http.Request) (*http.Response, error) {
		return s.RoundTrip(q.WithContext(context.WithoutCancel(q.Context())))
	})
	s.each = func(request string) {
		if request == act {
			end()
		}
	}
	r.stop(ctx)
	if n := s.count(find); n != 1 {
		t.Errorf("a stack is looked at %d times after the last moment", n-1)
	}
}

// The instance's stack is gone on with once Heat is done with it.
func TestStackIsReady(t *testing.T) {
	failed := listed(top("a", "DELETE_FAILED", "in use"))
	for name, c := range map[string]struct {
		ctx   context.Context
		found []string
		want  string // its status, or the error
	}{
		"none":               {t.Context(), []string{`{"stacks":[]}`}, ""},
		"another name":       {t.Context(), []string{strings.ReplaceAll(found("CREATE_COMPLETE", "i"), "vnf-i", "vnf-j")}, ""},
		"done":               {t.Context(), []string{found("CREATE_COMPLETE", "i")}, "CREATE_COMPLETE"},
		"failed":             {t.Context(), []string{found("CREATE_FAILED", "i")}, "CREATE_FAILED"},
		"busy, then done":    {t.Context(), []string{found("CREATE_IN_PROGRESS", "i"), found("CREATE_COMPLETE", "i")}, "CREATE_COMPLETE"},
		"busy, then gone":    {t.Context(), []string{found("DELETE_IN_PROGRESS", "i"), `{"stacks":[]}`}, ""},
		"not deleted":        {t.Context(), []string{found("DELETE_FAILED", "i")}, "stack vnf-i is DELETE_FAILED: resource a (T) is DELETE_FAILED: in use"},
		"somebody's":         {t.Context(), []string{found("CREATE_COMPLETE", "j")}, "stack vnf-i exists on the cloud and is not the instance's"},
		"without an id":      {t.Context(), []string{strings.ReplaceAll(found("CREATE_COMPLETE", "i"), `"k"`, `"a/b"`)}, "cannot look for stack vnf-i: what answers is not Heat"},
		"no list":            {t.Context(), []string{`{}`}, "cannot look for stack vnf-i: what answers is not Heat"},
		"out of sight":       {t.Context(), []string{`500 {}`}, "cannot look for stack vnf-i: Heat cannot do it now (500)"},
		"busy, out of sight": {t.Context(), []string{found("CREATE_IN_PROGRESS", "i"), `500 {}`}, "cannot look for stack vnf-i: Heat cannot do it now (500)"},
		"busy to the end":    {nil, []string{found("CREATE_IN_PROGRESS", "i")}, "the operation was stopped while it waited: stack vnf-i: b is CREATE_IN_PROGRESS"},
	} {
		s := &script{answers: map[string][]string{find: c.found, look1: {standing("DELETE_FAILED")}, list: {failed}}}
		r, _ := worker(s, lifecycle.Wave{})
		ctx := c.ctx
		if ctx == nil { // it ends after the first look
			var end context.CancelFunc
			ctx, end = context.WithCancel(t.Context())
			s.answers[list] = []string{listed(top("b", "CREATE_IN_PROGRESS", ""))}
			r.pause = longestPause * 600
			after := http.RoundTripper(s)
			r.client.HTTPClient.Transport = trip(func(q *http.Request) (*http.Response, error) {
				defer end()
				return after.RoundTrip(q.WithContext(context.WithoutCancel(q.Context())))
			})
		}
		k, err := r.ready(ctx)
		got := ""
		if e, is := errors.AsType[*broker.Error](err); is {
			got = e.Detail
		} else if k != nil {
			got = string(k.Status)
		}
		if got != c.want || err != nil && k != nil {
			t.Errorf("%s: %q (%v, %v), want %q", name, got, k, err, c.want)
		}
	}
}

type trip func(*http.Request) (*http.Response, error)

func (f trip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// What a wave asks of Heat, in order, how it ends, and what it tells.

// untold leaves out of observations what they do not say.
var untold = regexp.MustCompile(`,?"[A-Za-z]*":(false|null|""|0)`)

// TestDeedsOnAStack: what a wave asks Heat for, in which order and when, what it tells, and how it ends.
func TestDeedsOnAStack(t *testing.T) {
	var all []string
	done, checked, broken := event1("vnf-i", "k", "UPDATE_COMPLETE"), event1("vnf-i", "k", "CHECK_COMPLETE"), event1("vnf-i", "k", "CHECK_FAILED")
	complete := found("CREATE_COMPLETE", "i")
	mark := "PATCH stacks/vnf-i/k/resources/a"
	heal := lifecycle.Wave{Deed: lifecycle.Replace, VNFCs: []lifecycle.VNFC{{UID: "p-a"}}}
	look := lifecycle.Wave{Deed: lifecycle.Replace}
	const next = follow + "&marker=e"
	for name, c := range map[string]struct {
		wave    lifecycle.Wave
		answers map[string][]string
		asked   []string
		want    string // the error's detail
	}{
		"a stack without events is updated": {
			lifecycle.Wave{Deed: lifecycle.Apply},
			map[string][]string{find: {complete}, newest: {happened()}, update: {"202 {}"}, follow: {happened(done)}, look1: {standing("UPDATE_COMPLETE")}, list: {listed()}},
			[]string{find, newest, update, follow, look1, list},
			"",
		},
		"events after the last are followed": {
			lifecycle.Wave{Deed: lifecycle.Apply},
			map[string][]string{find: {complete}, newest: {happened(done)}, update: {"202 {}"}, next: {happened(), happened(done)}, look1: {standing("UPDATE_COMPLETE")}, list: {listed()}},
			[]string{find, newest, update, next, next, look1, list},
			"",
		},
		"a resource of the stack's name is not the stack": {
			lifecycle.Wave{Deed: lifecycle.Apply}, map[string][]string{
				find: {complete}, newest: {happened()}, update: {"202 {}"}, follow: {happened(event1("vnf-i", "other", "UPDATE_FAILED"), event1("x", "k", "UPDATE_FAILED"))},
				next: {happened(done)}, look1: {standing("UPDATE_COMPLETE")}, list: {listed()},
			}, []string{find, newest, update, follow, next, look1, list}, "",
		},
		"an update that fails": {
			lifecycle.Wave{Deed: lifecycle.Apply},
			map[string][]string{find: {complete}, newest: {happened()}, update: {"202 {}"}, follow: {happened(event1("vnf-i", "k", "UPDATE_FAILED"))}, look1: {standing("UPDATE_FAILED")}, list: {listed()}},
			[]string{find, newest, update, follow, look1, list},
			"stack vnf-i is UPDATE_FAILED",
		},
		"an update that is refused": {
			lifecycle.Wave{Deed: lifecycle.Apply},
			map[string][]string{find: {complete}, newest: {happened()}, update: {`400 {"code":400,"error":{"message":"bad"}}`}},
			[]string{find, newest, update},
			"cannot update stack vnf-i: Heat finds it invalid (400): bad",
		},
		"no events": {
			lifecycle.Wave{Deed: lifecycle.Apply}, map[string][]string{find: {complete}, newest: {`{}`}}, []string{find, newest}, "cannot follow stack vnf-i: what answers is not Heat",
		},
		"gone while it is followed": {
			lifecycle.Wave{Deed: lifecycle.Apply},
			map[string][]string{find: {complete}, newest: {happened()}, update: {"202 {}"}, follow: {`404 {"code":404}`}},
			[]string{find, newest, update, follow},
			"stack vnf-i was deleted while it was waited for",
		},
		"gone in the end": {
			lifecycle.Wave{Deed: lifecycle.Apply},
			map[string][]string{find: {complete}, newest: {happened()}, update: {"202 {}"}, follow: {happened(done)}, look1: {deleted()}},
			[]string{find, newest, update, follow, look1},
			"stack vnf-i was deleted meanwhile",
		},
		"going in the end": {
			lifecycle.Wave{Deed: lifecycle.Apply},
			map[string][]string{find: {complete}, newest: {happened()}, update: {"202 {}"}, follow: {happened(done)}, look1: {standing("DELETE_IN_PROGRESS")}},
			[]string{find, newest, update, follow, look1},
			"stack vnf-i was deleted meanwhile",
		},
		"not listed in the end": {
			lifecycle.Wave{Deed: lifecycle.Apply},
			map[string][]string{find: {complete}, newest: {happened()}, update: {"202 {}"}, follow: {happened(done)}, look1: {standing("UPDATE_COMPLETE")}, list: {`{}`}},
			[]string{find, newest, update, follow, look1, list},
			"cannot list the resources of stack vnf-i: what answers is not Heat",
		},
		"a check that finds nothing has an update follow": {
			look,
			map[string][]string{find: {complete}, list: {listed(top("a", "CREATE_COMPLETE", ""))}, newest: {happened()}, act: {"200 {}"}, follow: {happened(checked), happened(done)}, update: {"202 {}"}, look1: {standing("UPDATE_COMPLETE")}},
			[]string{find, list, newest, act, follow, newest, update, follow, look1, list},
			"",
		},
		"so has one that finds something": {
			look,
			map[string][]string{find: {complete}, list: {listed(top("a", "CREATE_COMPLETE", ""))}, newest: {happened()}, act: {"200 {}"}, follow: {happened(broken), happened(done)}, update: {"202 {}"}, look1: {standing("UPDATE_COMPLETE")}},
			[]string{find, list, newest, act, follow, newest, update, follow, look1, list},
			"",
		},
		"an update after a check that fails": {
			look,
			map[string][]string{find: {complete}, list: {listed()}, newest: {happened()}, act: {"200 {}"}, follow: {happened(checked)}, update: {`409 {"code":409}`}},
			[]string{find, list, newest, act, follow, newest, update},
			"cannot update stack vnf-i: the state of what stands there does not allow it (409)",
		},
		"a check that is refused": {
			look,
			map[string][]string{find: {complete}, list: {listed()}, newest: {happened()}, act: {`403 {"code":403}`}},
			[]string{find, list, newest, act},
			"cannot check stack vnf-i: Heat does not let the lease do it (403)",
		},
		"a check that is cut off": {
			look,
			map[string][]string{find: {complete}, list: {listed()}, newest: {happened()}, act: {"200 {}"}, follow: {`404 {"code":404}`}},
			[]string{find, list, newest, act, follow},
			"stack vnf-i was deleted while it was waited for",
		},
		"events that are refused": {
			look,
			map[string][]string{find: {complete}, list: {listed()}, newest: {`403 {"code":403}`}},
			[]string{find, list, newest},
			"cannot follow stack vnf-i: Heat does not let the lease do it (403)",
		},
		"parts that are refused": {
			look, map[string][]string{find: {complete}, list: {`403 {"code":403}`}}, []string{find, list}, "cannot list the resources of stack vnf-i: Heat does not let the lease do it (403)",
		},
		"what was asked for is replaced before the check": {
			heal,
			map[string][]string{find: {complete}, list: {listed(top("a", "CREATE_COMPLETE", ""), top("b", "CREATE_COMPLETE", ""))}, mark: {"200 {}"}, newest: {happened()}, update: {"202 {}"}, follow: {happened(done), happened(checked)}, act: {"200 {}"}, look1: {standing("UPDATE_COMPLETE")}},
			[]string{find, list, mark, newest, update, follow, look1, list, newest, act, follow},
			"",
		},
		"a check after a replacement that finds something has an update follow": {
			heal,
			map[string][]string{find: {complete}, list: {listed(top("a", "CREATE_COMPLETE", ""))}, mark: {"200 {}"}, newest: {happened()}, update: {"202 {}"}, follow: {happened(done), happened(broken), happened(done)}, act: {"200 {}"}, look1: {standing("UPDATE_COMPLETE")}},
			[]string{find, list, mark, newest, update, follow, look1, list, newest, act, follow, newest, update, follow, look1, list},
			"",
		},
		"a stack that is busy, and then done": {
			lifecycle.Wave{Deed: lifecycle.Apply},
			map[string][]string{find: {found("UPDATE_IN_PROGRESS", "i"), found("UPDATE_IN_PROGRESS", "i"), complete}, newest: {happened()}, update: {"202 {}"}, follow: {happened(), happened(), happened(done)}, look1: {standing("UPDATE_COMPLETE")}, list: {listed(top("a", "UPDATE_COMPLETE", ""))}},
			[]string{find, find, find, newest, update, follow, follow, follow, look1, list},
			"",
		},
		"what was marked is not marked again": {
			heal,
			map[string][]string{find: {complete}, list: {listed(top("a", "CHECK_FAILED", ""))}, newest: {happened()}, update: {"202 {}"}, follow: {happened(done), happened(checked)}, act: {"200 {}"}, look1: {standing("UPDATE_COMPLETE")}},
			[]string{find, list, newest, update, follow, look1, list, newest, act, follow},
			"",
		},
		"a nested stack that a check found broken is not replaced": {
			look,
			map[string][]string{find: {complete}, list: {listed(listedPart("g", "CHECK_FAILED", "", "n", "vnf-i/k", "n/n"))}, newest: {happened()}, act: {"200 {}"}, follow: {happened(checked), happened(done)}, update: {"202 {}"}, look1: {standing("UPDATE_COMPLETE")}},
			[]string{find, list, newest, act, follow, newest, update, follow, look1, list},
			"",
		},
		"what is in no stack is not replaced": {
			heal, map[string][]string{find: {complete}, list: {listed(listedPart("a", "CREATE_COMPLETE", "", "p-a", "", ""))}}, []string{find, list}, "cannot list the resources of stack vnf-i: what answers is not Heat",
		},
		"what cannot be marked": {
			heal, map[string][]string{find: {complete}, list: {listed(top("a", "CREATE_COMPLETE", ""))}, mark: {`404 {"code":404}`}}, []string{find, list, mark}, "cannot mark resource a unhealthy: Heat does not find it (404)",
		},
		"a replacement that fails": {
			heal,
			map[string][]string{find: {complete}, list: {listed(top("a", "CREATE_COMPLETE", ""))}, mark: {"200 {}"}, newest: {happened()}, update: {`409 {"code":409}`}},
			[]string{find, list, mark, newest, update},
			"cannot update stack vnf-i: the state of what stands there does not allow it (409)",
		},
		"a new stack": {
			lifecycle.Wave{Deed: lifecycle.Apply},
			map[string][]string{find: {`{"stacks":[]}`}, "POST stacks": {`201 {"stack":{"id":"k"}}`}, follow: {happened(event1("vnf-i", "k", "CREATE_COMPLETE"))}, look1: {standing("CREATE_COMPLETE")}, list: {listed()}},
			[]string{find, "POST stacks", follow, look1, list},
			"",
		},
		"a new stack without an id": {
			lifecycle.Wave{Deed: lifecycle.Apply}, map[string][]string{find: {`{"stacks":[]}`}, "POST stacks": {`201 {"stack":{"id":".."}}`}}, []string{find, "POST stacks"}, "cannot make stack vnf-i: what answers is not Heat",
		},
		"a stack that nobody was shown": {
			lifecycle.Wave{Deed: lifecycle.Apply}, map[string][]string{find: {`{"stacks":[]}`, `500 {}`}, "POST stacks": {`409 {"code":409}`}}, []string{find, "POST stacks", find}, "cannot look for stack vnf-i: Heat cannot do it now (500)",
		},
		"nothing to delete": {
			lifecycle.Wave{Deed: lifecycle.Delete}, map[string][]string{find: {`{"stacks":[]}`}}, []string{find}, "",
		},
		"somebody's is not deleted": {
			lifecycle.Wave{Deed: lifecycle.Delete}, map[string][]string{find: {found("CREATE_COMPLETE", "j")}}, []string{find}, "",
		},
		"a deletion is asked for once": {
			lifecycle.Wave{Deed: lifecycle.Delete},
			map[string][]string{find: {complete}, remove: {"204 "}, look1: {standing("DELETE_IN_PROGRESS"), standing("DELETE_IN_PROGRESS"), `404 {"code":404}`}, list: {`500 {}`}},
			[]string{find, remove, look1, list, look1, list, look1},
			"",
		},
		"one that is shown without its tags is ours still": {
			lifecycle.Wave{Deed: lifecycle.Delete}, map[string][]string{
				find: {complete}, remove: {"204 "}, list: {listed()},
				look1: {strings.ReplaceAll(standing("DELETE_IN_PROGRESS"), `"tags"`, `"no_tags"`), `404 {"code":404}`},
			}, []string{find, remove, look1, list, look1}, "",
		},
		"a deletion under way is waited for": {
			lifecycle.Wave{Deed: lifecycle.Delete}, map[string][]string{find: {found("DELETE_IN_PROGRESS", "i")}, look1: {deleted()}}, []string{find, look1}, "",
		},
		"one that is deleted with its trust still there is waited for": {
			lifecycle.Wave{Deed: lifecycle.Delete},
			map[string][]string{find: {complete}, remove: {"204 "}, look1: {standing("DELETE_COMPLETE"), deleted()}, list: {listed()}},
			[]string{find, remove, look1, list, look1},
			"",
		},
		"one that Heat cannot delete to the end": {
			lifecycle.Wave{Deed: lifecycle.Delete},
			map[string][]string{find: {complete}, remove: {"204 "}, look1: {standing("DELETE_COMPLETE"), standing("DELETE_FAILED")}, list: {listed()}},
			[]string{find, remove, look1, list, look1, list, look1, list},
			"stack vnf-i is DELETE_FAILED",
		},
		"one that fails is asked for again": {
			lifecycle.Wave{Deed: lifecycle.Delete},
			map[string][]string{find: {found("DELETE_FAILED", "i")}, remove: {"204 "}, look1: {standing("DELETE_FAILED")}, list: {listed()}},
			[]string{find, remove, look1, list, look1, list},
			"stack vnf-i is DELETE_FAILED",
		},
		"one that is gone by then": {
			lifecycle.Wave{Deed: lifecycle.Delete}, map[string][]string{find: {complete}, remove: {`404 {"code":404}`}, look1: {`404 {"code":404}`}}, []string{find, remove, look1}, "",
		},
		"one that is refused": {
			lifecycle.Wave{Deed: lifecycle.Delete}, map[string][]string{find: {complete}, remove: {`403 {"code":403}`}}, []string{find, remove}, "cannot delete stack vnf-i: Heat does not let the lease do it (403)",
		},
		"one that is another in the end": {
			lifecycle.Wave{Deed: lifecycle.Delete}, map[string][]string{find: {complete}, remove: {"204 "}, look1: {strings.ReplaceAll(standing("DELETE_IN_PROGRESS"), `"k"`, `"l"`)}}, []string{find, remove, look1}, "cannot look at stack vnf-i: what answers is not Heat",
		},
		"one of another name in the end": {
			lifecycle.Wave{Deed: lifecycle.Delete}, map[string][]string{find: {complete}, remove: {"204 "}, look1: {strings.ReplaceAll(standing("DELETE_IN_PROGRESS"), `vnf-i`, `vnf-j`)}}, []string{find, remove, look1}, "cannot look at stack vnf-i: what answers is not Heat",
		},
	} {
		c.wave.Objects = []lifecycle.Object{{Resource: lifecycle.Resource{Plural: stacks, Name: "vnf-i"}}, {Resource: lifecycle.Resource{Plural: pieces, Name: "a"}}}
		synctest.Test(t, func(t *testing.T) {
			s, began, line := &script{answers: c.answers}, time.Now(), []string{}
			note := func(says string) {
				line = append(line, fmt.Sprintf("%6s  %s", time.Since(began).Round(time.Millisecond), says))
			}
			sent := 0
			s.each = func(request string) {
				if len(s.bodies) > sent {
					request, sent = request+" "+s.bodies[sent], len(s.bodies)
				}
				note(request)
			}
			r, _ := worker(s, c.wave)
			r.pause = 100 * time.Millisecond
			r.progress = func(o lifecycle.Observation) {
				text, _ := json.Marshal(o)
				note("told " + untold.ReplaceAllString(string(text), ""))
			}
			ctx, end := context.WithTimeout(t.Context(), time.Hour)
			defer end()
			var err error
			switch c.wave.Deed {
			case lifecycle.Apply:
				err = r.apply(ctx, r.update)
			case lifecycle.Replace:
				err = r.apply(ctx, r.heal)
			default:
				err = r.remove(ctx)
			}
			got := ""
			if e, is := errors.AsType[*broker.Error](err); is {
				got = e.Detail
				line = append(line, fmt.Sprintf("%v: %s|%s", e.Kind, e.Detail, e.Remedy))
			}
			if got != c.want || err == nil != (c.want == "") || !slices.Equal(s.asked, c.asked) {
				t.Errorf("%s: %v, want %q; Heat is asked\n%q, want\n%q", name, err, c.want, s.asked, c.asked)
			}
			all = append(all, "== "+name+"\n"+strings.Join(line, "\n")+"\n")
		})
	}
	slices.Sort(all)
	text := strings.Join(all, "\n")
	golden.Compare(t, "testdata/deeds.txt", text)
}

// What is told of resources while Heat works, each status once, and of all in the end.
func TestWhatIsTold(t *testing.T) {
	w := lifecycle.Wave{Objects: []lifecycle.Object{{Resource: lifecycle.Resource{Plural: stacks, Name: "vnf-i"}}, {Resource: lifecycle.Resource{Plural: pieces, Name: "a"}}}}
	of := func(s string) string { return event1("a", "p", s) }
	s := &script{answers: map[string][]string{
		follow: {happened(of("CREATE_IN_PROGRESS"), of("CREATE_IN_PROGRESS"), of("CHECK_COMPLETE"), of("CREATE_FAILED"), of("UPDATE_COMPLETE"), of("DELETE_COMPLETE"), event1("vnf-i", "p", "CREATE_COMPLETE"), event1("vnf-i", "k", "CREATE_COMPLETE"))},
		look1:  {standing("CREATE_COMPLETE")}, list: {listed(top("a", "CREATE_COMPLETE", ""))},
	}}
	r, told := worker(s, w)
	if err := r.await(t.Context(), &stack{ID: "k", Name: "vnf-i"}, ""); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"a standing true ready false is CREATE_IN_PROGRESS", "a standing true ready false CREATE_FAILED: why", "a standing true ready true ",
		"a standing false ready false ", "vnf-i standing true ready true ", "a standing true ready true ",
	}
	if !slices.Equal(*told, want) {
		t.Errorf("told is %q, want %q", *told, want)
	}
	s.answers = map[string][]string{
		find: {found("CREATE_COMPLETE", "i")}, remove: {"204 "}, look1: {standing("DELETE_IN_PROGRESS"), `404 {"code":404}`},
		list: {listed(top("a", "DELETE_IN_PROGRESS", ""), listedPart("a", "DELETE_FAILED", "", "p", "n/n", ""))},
	}
	s.answers[list][0] = strings.Replace(s.answers[list][0], `"resource_status":"DELETE_FAILED"`, `"parent_resource":"g","resource_status":"DELETE_FAILED"`, 1)
	r, told = worker(s, w)
	if err := r.remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	want = []string{"a standing true ready false is DELETE_IN_PROGRESS", "vnf-i standing false ready false ", "a standing false ready false "}
	if !slices.Equal(*told, want) {
		t.Errorf("told of a deletion is %q, want %q", *told, want)
	}
}

// A deletion that outlasts its context is not ready; and a wave that is none is refused before anything is asked.
func TestWavesThatAreNotDone(t *testing.T) {
	s := &script{answers: map[string][]string{find: {found("CREATE_COMPLETE", "i")}, remove: {"204 "}, list: {listed()}}}
	r, told := worker(s, lifecycle.Wave{Objects: []lifecycle.Object{{}}})
	r.pause = longestPause * 600
	ctx, end := context.WithCancel(t.Context())
	r.client.HTTPClient.Transport = trip(func(q *http.Request) (*http.Response, error) {
		if q.Method == http.MethodDelete {
			end()
		}
		return s.RoundTrip(q.WithContext(context.WithoutCancel(q.Context())))
	})
	if err := r.remove(ctx); !errors.Is(err, lifecycle.ErrNotReady) || len(*told) > 0 {
		t.Errorf("a deletion that outlasts its context: %v, told is %q", err, *told)
	}
	object := lifecycle.Object{Resource: lifecycle.Resource{Plural: stacks, Name: "vnf-i"}, Manifest: secret.NewText("none")}
	err := New().Run(t.Context(), lifecycle.Connection{}, "i", lifecycle.Wave{Deed: lifecycle.Apply, Objects: []lifecycle.Object{object}}, nil)
	if e, is := errors.AsType[*broker.Error](err); !is || e.Kind != broker.ErrInvalid || e.Detail != "the manifest of stack vnf-i is none" {
		t.Errorf("a manifest that is none: %v", err)
	}
}
