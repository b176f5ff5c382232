package oauth_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/oauth"
	"github.com/vimbroker/vimbroker/policy"
)

func TestTheFirstPlacementThatMatchesCounts(t *testing.T) {
	c := oauth.Client{Placements: []oauth.Placement{
		{VIM: "one-instance", Instance: "i-7"},
		{VIM: "north", VNFD: "vnfd-*", Parameters: map[string]string{"site": "north*"}},
		{VIM: "south", VNFD: "vnfd-*", Parameters: map[string]string{"site": "south", "kind": "?"}},
		{VIM: "rest", VNFD: "vnfd-[12]"},
	}}
	for want, a := range map[string]oauth.Ask{
		"one-instance": {VNFD: "vnfd-1", Instance: "i-7", Parameters: map[string]string{"site": "north"}},
		"north":        {VNFD: "vnfd-1", Instance: "i-8", Parameters: map[string]string{"site": "north-3"}},
		"south":        {VNFD: "vnfd-9", Parameters: map[string]string{"site": "south", "kind": "a"}},
		"rest":         {VNFD: "vnfd-1", Parameters: map[string]string{"site": "south", "kind": "ab"}},
		"":             {VNFD: "vnfd-3", Parameters: map[string]string{"site": "west"}},
	} {
		got, found := c.Place(a)
		if got.VIM != want || found != (want != "") {
			t.Errorf("Place(%+v) = %q, %v, want %q", a, got.VIM, found, want)
		}
	}
	if _, found := (oauth.Client{Placements: []oauth.Placement{{}}}).Place(oauth.Ask{}); !found {
		t.Error("an empty placement matches nothing")
	}
}

// What may pass is left for the grant: what a VIM says or a bound that others fill. All else keeps a placement from being written.
func TestWhichPlacementsAreLeftForTheGrant(t *testing.T) {
	s := set(t)
	c, _ := s.create(t, keeper, "tacker", "vnfm")
	for says, passes := range map[error]bool{
		broker.ErrUnreachable: true, broker.ErrUnauthorized: true, broker.ErrForbidden: true, broker.ErrConflict: true, broker.ErrQuota: true,
		broker.ErrDenied: false, broker.ErrNotFound: false, broker.ErrInvalid: false, broker.ErrUnsupported: false, broker.ErrUnavailable: false,
		broker.ErrUnopenable: false,
	} {
		s.leases.weigh = func(policy.Principal, broker.LeaseRequest) (broker.Lease, error) {
			return broker.Lease{}, &broker.Error{Kind: says, Detail: "so"}
		}
		if _, err := s.SetPlacements(t.Context(), keeper, c.ID, []oauth.Placement{{VIM: "edge"}}); (err == nil) != passes {
			t.Errorf("a VIM that says %v: %v", says, err)
		}
	}
}

func TestPlacementsAreCheckedWhenTheyAreWritten(t *testing.T) {
	s := set(t)
	c, _ := s.create(t, keeper, "tacker", "vnfm")
	var asked []policy.Principal
	s.leases.weigh = func(p policy.Principal, r broker.LeaseRequest) (broker.Lease, error) {
		asked = append(asked, p)
		switch r.VIM {
		case "gone":
			return broker.Lease{}, &broker.Error{Kind: broker.ErrNotFound, Field: "vim", Detail: "no such VIM"}
		case "denied":
			return broker.Lease{}, &broker.Error{Kind: broker.ErrDenied, Detail: "denied by policy"}
		case "down":
			return broker.Lease{}, &broker.Error{Kind: broker.ErrUnreachable, Detail: "no answer"}
		case "no-users":
			return broker.Lease{}, &broker.Error{Kind: broker.ErrUnsupported, Field: "credential", Detail: "no lease is a user"}
		case "no-standing":
			return broker.Lease{}, &broker.Error{Kind: broker.ErrUnsupported, Field: "standing", Detail: "no lease stands"}
		case "no-store":
			return broker.Lease{}, &broker.Error{Kind: broker.ErrUnavailable, Detail: "the store is away"}
		case "wide":
			return broker.Lease{Grade: broker.GradeUnbounded}, nil
		}
		return broker.Lease{Grade: broker.GradeNamespaces}, nil
	}
	put := func(p ...oauth.Placement) error {
		_, err := s.SetPlacements(t.Context(), keeper, c.ID, p)
		return err
	}
	long := strings.Repeat("x", 256)
	for field, p := range map[string]oauth.Placement{
		"placements[1].vnfd":       {VNFD: "["},
		"placements[1].zone":       {Zone: long},
		"placements[1].parameters": {Parameters: map[string]string{"site": long}},
		"placements[1].flavours":   {Flavours: map[string]string{"": "m1"}},
		"placements[1].images":     {Images: map[string]string{"a": "b\n"}},
		"placements[1].grade":      {Grade: "narrow"},
		"placements[1].profile":    {Profile: "password"},
		"placements[1].ttl":        {TTL: -1},
		"placements[1].profile ":   {VIM: "no-users"},
		"placements[1].profile  ":  {VIM: "no-standing"},
		"placements[1].vim":        {VIM: "gone"},
		"placements[1]":            {VIM: "denied"},
	} {
		err := put(oauth.Placement{}, p)
		if known := (*broker.Error)(nil); !errors.As(err, &known) || !errors.Is(err, broker.ErrInvalid) || known.Field != strings.TrimSpace(field) {
			t.Errorf("%+v = %v, want ErrInvalid about %s", p, err, field)
		}
	}
	if err := put(oauth.Placement{VIM: "wide", Grade: broker.GradeNamespaces}); !errors.Is(err, broker.ErrInvalid) {
		t.Errorf("a lease that would be wider than the placement says = %v", err)
	}
	if err := put(oauth.Placement{VIM: "no-store"}); !errors.Is(err, broker.ErrUnavailable) {
		t.Errorf("while the store is away = %v, want ErrUnavailable", err)
	}
	if err := put(make([]oauth.Placement, 33)...); !errors.Is(err, broker.ErrInvalid) {
		t.Errorf("33 placements = %v", err)
	}
	if shown, err := s.Client(t.Context(), keeper, c.ID); err != nil || len(shown.Placements) != 0 {
		t.Errorf("after refusals it has %+v, %v", shown.Placements, err)
	}
	want := oauth.Placement{VIM: "down", Grade: broker.GradeNamespaces}
	if err := put(want); err != nil {
		t.Errorf("a VIM that does not answer now = %v", err)
	}
	if shown, err := s.Client(t.Context(), keeper, c.ID); err != nil || len(shown.Placements) != 1 || shown.Placements[0].VIM != "down" {
		t.Errorf("it has %+v, %v", shown.Placements, err)
	}
	for _, p := range asked {
		if p.Name != "client:"+c.ID || p.Project != "core" {
			t.Errorf("the lease was weighed for %+v, and not for the client", p)
		}
	}
	for _, p := range []policy.Principal{mallet, member, c.Principal()} {
		if _, err := s.SetPlacements(t.Context(), p, c.ID, nil); !errors.Is(err, broker.ErrNotFound) {
			t.Errorf("by %s = %v, want ErrNotFound", p.Name, err)
		}
	}
	if _, err := s.Acting(t.Context(), keeper); !errors.Is(err, broker.ErrDenied) {
		t.Errorf("a person acts as a client: %v", err)
	}
	elsewhere := c.Principal()
	elsewhere.Project = "ran"
	if _, err := s.Acting(t.Context(), elsewhere); !errors.Is(err, policy.ErrUnauthenticated) {
		t.Errorf("a client acts in another project: %v", err)
	}
}
