package rows

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/grant"
	"github.com/vimbroker/vimbroker/broker/oauth"
	"github.com/vimbroker/vimbroker/lifecycle/bundle"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/golden"
)

// asked sets a field of a filter to something, and reports whether it is one of its criteria.
func asked(f reflect.StructField, v reflect.Value) bool {
	if f.Name == "Size" || f.Name == "Token" { // of a page
		return false
	}
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(time.Unix(int64(len(f.Name)), 0).UTC()))
	case []audit.Outcome:
		v.Set(reflect.ValueOf([]audit.Outcome{audit.Denied, audit.Failed, audit.Denied}))
	case []broker.LeaseState:
		v.Set(reflect.ValueOf([]broker.LeaseState{broker.LeaseRevoked, broker.LeaseActive}))
	default:
		switch v.Kind() {
		case reflect.String:
			v.SetString(strings.ToLower(f.Name))
		case reflect.Bool:
			v.SetBool(true)
		case reflect.Int, reflect.Int64:
			v.SetInt(7)
		default:
			return false
		}
	}
	return true
}

// Each criterion of a filter is a condition, alone, beside a project, and beside all others; so is the place after which a
// page begins.
func TestEachCriterionIsACondition(t *testing.T) {
	var text strings.Builder
	show := func(name string, all ...*Conditions) {
		for _, c := range all {
			where, args := c.SelectFrom("")
			fmt.Fprintf(&text, "%s:%s %v\n", name, where, args)
		}
	}
	each(show, "clusters", WhereClusters)
	each(show, "packages", WherePackages)
	each(show, "subscriptions", WhereSubscriptions)
	each(show, "grants", func(f grant.Filter) *Conditions {
		return WhereVNFGrants(f, func(name string) string { return "document." + name })
	})
	each(show, "clients", func(f oauth.Filter) *Conditions { return WhereClients(f, nil) })
	each(show, "bundles", func(f bundle.Filter) *Conditions {
		where, order := WhereBundles(f)
		where.Add("ordered by " + order)
		return where
	})
	each(show, "vims", VIMConditions)
	for _, few := range []bool{false, true} {
		for _, place := range []*Position{nil, {Names: []string{"north", "edge"}}, {Names: []string{"a", "edge"}}, {Names: []string{"z", "edge"}}} {
			name := fmt.Sprintf("vims that north sees, few %v, after %v", few, place)
			for _, f := range []broker.VIMFilter{{Project: "north"}, {Project: "north", Name: "core"}} {
				c := VIMConditions(f)
				own, all, granted := c.OfVIMs(c, f, few, place)
				show(name, own, all, granted)
			}
			if place != nil {
				show("clients of north after "+place.Names[0], WhereClients(oauth.Filter{Project: "north"}, place))
				show("clients after "+place.Names[0], WhereClients(oauth.Filter{}, place))
			}
		}
		show(fmt.Sprintf("leases that north sees, few %v", few), new(Conditions).OfProject("north", few)...)
		show(fmt.Sprintf("leases that all see, few %v", few), new(Conditions).OfProject("", few)...)
	}
	leases := func(end *Position) func(f broker.LeaseFilter) *Conditions {
		return func(f broker.LeaseFilter) *Conditions {
			f.Page = broker.Page{Size: 3}
			c, size, err := LeaseConditions(f, end)
			if err != nil || size != 3 {
				t.Fatalf("LeaseConditions(%+v) = size %d, %v", f, size, err)
			}
			return c
		}
	}
	each(show, "leases", leases(nil))
	show("leases to a place", leases(&Position{At: Micro(time.Unix(9, 0)), Names: []string{"l1"}})(broker.LeaseFilter{}))
	entries := func(change func(*audit.Query)) func(audit.Query) []*Conditions {
		return func(q audit.Query) []*Conditions { change(&q); return EntryConditions(q) }
	}
	eachOf(show, "entries", entries(func(*audit.Query) {}))
	eachOf(show, "entries that were refused", entries(func(q *audit.Query) { q.Outcomes = []audit.Outcome{audit.Denied} }))
	eachOf(show, "entries of any outcome", entries(func(q *audit.Query) { q.Outcomes = []audit.Outcome{audit.Failed, audit.Done} }))
	eachOf(show, "entries of an action", entries(func(q *audit.Query) { q.Action = "vim:delete" }))
	golden.Compare(t, "testdata/conditions.txt", text.String())
}

func each[F any](show func(string, ...*Conditions), name string, where func(F) *Conditions) {
	eachOf(show, name, func(f F) []*Conditions { return []*Conditions{where(f)} })
}

// eachOf shows the conditions of a filter without criteria, with each alone, with each beside a project, and with all.
func eachOf[F any](show func(string, ...*Conditions), name string, where func(F) []*Conditions) {
	var none, all F
	show(name, where(none)...)
	for _, f := range reflect.VisibleFields(reflect.TypeFor[F]()) {
		if f.Anonymous || !asked(f, reflect.ValueOf(&all).Elem().FieldByIndex(f.Index)) {
			continue
		}
		var one F
		asked(f, reflect.ValueOf(&one).Elem().FieldByIndex(f.Index))
		show(name+" by "+f.Name, where(one)...)
		if project := reflect.ValueOf(&one).Elem().FieldByName("Project"); project.IsZero() {
			project.SetString("north")
			show(name+" by project and "+f.Name, where(one)...)
		}
	}
	show(name+" by all", where(all)...)
}

// The next page of leases begins after a place, and a place that is none is refused.
func TestAPageOfLeasesBeginsAfterAPlace(t *testing.T) {
	place := Position{List: "leases", At: Micro(time.Unix(9, 0)), Names: []string{"l1"}}
	c, size, err := LeaseConditions(broker.LeaseFilter{Page: broker.Page{Size: 2, Token: Token(place)}}, nil)
	if err != nil || size != 2 {
		t.Fatalf("size %d, %v", size, err)
	}
	if text, args := c.SelectFrom(""); text != " WHERE (created_at, id) < (?, ?)" || fmt.Sprint(args) != fmt.Sprint([]any{Time(place.At), "l1"}) {
		t.Errorf("%s %v", text, args)
	}
	if _, _, err := LeaseConditions(broker.LeaseFilter{Page: broker.Page{Token: "x"}}, nil); err == nil {
		t.Error("a token that is none is taken")
	}
}
