package lifecycle_test

import (
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/test/outcome"
)

// pickyYard makes instances of files that are named so, and of no others.
type pickyYard struct {
	*yard
	name, wants string
}

func (y pickyYard) Name() string { return y.name }

func (y pickyYard) Basis(s lifecycle.Source) (lifecycle.Basis, error) {
	for _, f := range s.Named {
		if strings.HasPrefix(f, y.wants) {
			return lifecycle.Basis{Files: []string{"front"}, Namespace: "default"}, nil
		}
	}
	return lifecycle.Basis{}, broker.Invalid("additionalParams", "names nothing for %s", y.name)
}

// The first driver of the VIM's type that takes what the package holds makes the instance, and is its driver from
// then on.
func TestADriverIsChosenOnce(t *testing.T) {
	p := newPlantWith(t, func(o *lifecycle.Options, y *yard) {
		o.Drivers = []lifecycle.Driver{pickyYard{y, "charts", "chart/"}, pickyYard{y, "others", "chart/"}, y}
	})
	for named, want := range outcome.Sorted(map[string]string{"chart/web": "charts", "front": "yard"}) {
		i := p.made()
		p.completes(p.Instantiate(t.Context(), alice, i.ID, lifecycle.Instantiation{Flavour: "simple", VIM: "edge", Files: []string{named}}))
		if got := p.instance(i.ID).Shape.Driver; got != want {
			t.Errorf("an instance of %s is made by %q, want %q", named, got, want)
		}
		_, err := p.ChangePackage(t.Context(), alice, i.ID, lifecycle.PackageChange{VNFDID: "web-2", Files: []string{"BaseHOT/simple/x.yaml"}})
		wantKind(t, err, broker.ErrInvalid)
		p.completes(p.Terminate(t.Context(), alice, i.ID, nil))
	}
	_, err := p.Instantiate(t.Context(), alice, p.made().ID, lifecycle.Instantiation{Flavour: "simple", VIM: "edge", Files: []string{"BaseHOT/x"}})
	wantKind(t, err, broker.ErrInvalid)
	if err == nil || !strings.Contains(err.Error(), "no yard") {
		t.Errorf("the error is %v, want that of the last driver", err)
	}
}
