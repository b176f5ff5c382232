package audit_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/audit"
)

func TestTallyCountsHowActsEnd(t *testing.T) {
	var tally audit.Tally
	allowed, _ := guard(allowing)
	allowed.Tally = &tally
	act, err := allowed.Enter(t.Context(), alice, policy.VIMCheck, edge, policy.Wish{})
	if err != nil {
		t.Fatal(err)
	}
	if got := tally.Results(); len(got) != 0 {
		t.Errorf("before an act has ended it is counted: %v", got)
	}
	act.Intent()
	act.Done()
	act.Done()
	act.Failed("endpoint unreachable")

	for name, refuse := range map[string]func(*audit.Guard) error{
		"Enter, of what is seen": func(g *audit.Guard) error {
			_, err := g.Enter(t.Context(), alice, policy.VIMDelete, edge, policy.Wish{})
			return err
		},
		"Hide": func(g *audit.Guard) error { return g.Hide(t.Context(), alice, policy.VIMDelete, edge) },
		"Missing": func(g *audit.Guard) error {
			return errors.Join(g.Missing(t.Context(), alice, policy.VIMDelete, policy.KindVIM), policy.ErrDenied)
		},
		"Refuse": func(g *audit.Guard) error {
			return errors.Join(g.Refuse(t.Context(), alice, policy.VIMDelete, edge), policy.ErrDenied)
		},
		"Enter, of what is hidden": func(g *audit.Guard) error {
			g.Policy = answer{}
			_, err := g.Enter(t.Context(), alice, policy.VIMDelete, edge, policy.Wish{})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			var tally audit.Tally
			g, _ := guard(answer{})
			g.Policy, g.Tally = showing{answer{}}, &tally
			if err := refuse(g); !errors.Is(err, policy.ErrDenied) {
				t.Fatalf("err = %v, want ErrDenied", err)
			}
			want := map[audit.Result]int{{Action: policy.VIMDelete, Outcome: audit.Denied}: 1}
			if diff := cmp.Diff(want, tally.Results()); diff != "" {
				t.Errorf("counted (-want +got):\n%s", diff)
			}
		})
	}
	want := map[audit.Result]int{
		{Action: policy.VIMCheck, Outcome: audit.Done}:                                  2,
		{Action: policy.VIMCheck, Outcome: audit.Failed, Class: "endpoint unreachable"}: 1,
	}
	if diff := cmp.Diff(want, tally.Results()); diff != "" {
		t.Errorf("counted (-want +got):\n%s", diff)
	}
}
