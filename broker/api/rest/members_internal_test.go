package rest

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/asset"
	"github.com/vimbroker/vimbroker/broker/asset/spec"
	"github.com/vimbroker/vimbroker/policy"
)

// A link or a volume is made by its spec, or stands already: one of the two, and what was asked for is what is shown.
func TestAnAssetIsMadeOrStands(t *testing.T) {
	made, stands := &spec.LinkSpec{MTU: 1400}, &v1.ExistingNetwork{NetworkID: "n"}
	for _, c := range []struct {
		in    v1.VirtualLinkRequest
		field string
	}{
		{v1.VirtualLinkRequest{Spec: made}, ""},
		{v1.VirtualLinkRequest{Existing: stands}, ""},
		{v1.VirtualLinkRequest{}, "spec"},
		{v1.VirtualLinkRequest{Spec: made, Existing: stands}, "spec"},
		{v1.VirtualLinkRequest{Existing: &v1.ExistingNetwork{}}, "existing.networkId"},
	} {
		c.in.Name, c.in.VIM, c.in.Project, c.in.Shared, c.in.SharedWith, c.in.Spans = "a", "v", "demo", true, []string{"other"}, []spec.Span{{VIM: "c"}}
		asked, err := askedLink(c.in)
		if !refusesMember(err, c.field) {
			t.Errorf("%+v: %v, want field %q", c.in, err, c.field)
			continue
		}
		l := asset.Asset{Kind: policy.KindLink, Name: asked.Name, VIM: asked.VIM, Project: asked.Project, Shared: asked.Shared, SharedWith: asked.SharedWith, Spans: asked.Spans, Spec: asked.Spec, Existing: asked.Existing}
		if shown := virtualLink(l, v1.Standing{}).VirtualLinkRequest; c.field == "" && !reflect.DeepEqual(shown, c.in) {
			t.Errorf("shows %+v, was asked for %+v", shown, c.in)
		}
	}
	size, claim := &spec.VolumeSpec{Size: "1Gi", Namespace: "ns"}, &v1.ExistingClaim{ClaimName: "c", Namespace: "ns"}
	for _, c := range []struct {
		in    v1.VolumeRequest
		field string
	}{
		{v1.VolumeRequest{Spec: size}, ""},
		{v1.VolumeRequest{Existing: claim}, ""},
		{v1.VolumeRequest{}, "spec"},
		{v1.VolumeRequest{Spec: size, Existing: claim}, "spec"},
		{v1.VolumeRequest{Existing: &v1.ExistingClaim{Namespace: "ns"}}, "existing.claimName"},
	} {
		c.in.Name, c.in.VIM, c.in.Project, c.in.Shared, c.in.SharedWith = "a", "v", "demo", true, []string{"other"}
		asked, err := askedVolume(c.in)
		if !refusesMember(err, c.field) {
			t.Errorf("%+v: %v, want field %q", c.in, err, c.field)
			continue
		}
		l := asset.Asset{Kind: policy.KindVolume, ID: "1", Name: asked.Name, VIM: asked.VIM, Project: asked.Project, Shared: asked.Shared, SharedWith: asked.SharedWith, Volume: asked.Volume, Existing: asked.Existing}
		shown := volume(l, v1.Standing{})
		if c.field == "" && !reflect.DeepEqual(shown.VolumeRequest, c.in) {
			t.Errorf("shows %+v, was asked for %+v", shown.VolumeRequest, c.in)
		}
		if want := map[bool]string{true: "c", false: "vimbroker-1"}[c.in.Existing != nil]; c.field == "" && shown.ClaimName != want {
			t.Errorf("the claim is %q, want %q", shown.ClaimName, want)
		}
	}
}

// refusesMember reports whether an error is about a member, or none where that is empty.
func refusesMember(err error, field string) bool {
	var e *broker.Error
	return err == nil && field == "" || errors.As(err, &e) && errors.Is(err, broker.ErrInvalid) && e.Field == field && field != ""
}

func TestDurationsAndLabelsOfRequests(t *testing.T) {
	for text, want := range map[string]time.Duration{"": 0, "1ns": 1, "1h30m": 90 * time.Minute} {
		if d, err := duration("ttl", text); d != want || err != nil {
			t.Errorf("%q is %v, %v", text, d, err)
		}
	}
	for _, text := range []string{"0s", "-1ns", "1", "soon"} {
		if d, err := duration("ttl", text); d != 0 || !refusesMember(err, "ttl") {
			t.Errorf("%q is %v, %v", text, d, err)
		}
	}
	for _, c := range []struct {
		pairs []string
		want  map[string]string
	}{
		{nil, map[string]string{}},
		{[]string{"a=b", "c=", "d=e=f"}, map[string]string{"a": "b", "c": "", "d": "e=f"}},
		{[]string{"a=b", "a=b"}, map[string]string{"a": "b"}},
		{[]string{"a"}, nil},
		{[]string{"=b"}, nil},
		{[]string{"a=b", "a=c"}, nil},
		{[]string{""}, nil},
	} {
		got, err := labels(c.pairs)
		if !reflect.DeepEqual(got, c.want) || (err == nil) != (c.want != nil) {
			t.Errorf("labels %q are %v, %v; want %v", c.pairs, got, err, c.want)
		}
	}
}

// A domain stands for those of project and user that are not given, and for no other.
func TestADomainStandsForThoseThatAreNotGiven(t *testing.T) {
	for given, want := range map[[3]string][2]string{
		{}: {}, {"d", "", ""}: {"d", "d"}, {"d", "p", ""}: {"p", "d"}, {"d", "", "u"}: {"d", "u"}, {"d", "p", "u"}: {"p", "u"}, {"", "p", "u"}: {"p", "u"},
		{"", "p", ""}: {"p", ""}, {"", "", "u"}: {"", "u"},
	} {
		var in v1.Registration
		in.Domain, in.ProjectDomain, in.UserDomain = given[0], given[1], given[2]
		if scope := registration(in).Scope; scope.ProjectDomainName != want[0] || scope.UserDomainName != want[1] {
			t.Errorf("of %q project and user are of %q and %q, want %q", given, scope.ProjectDomainName, scope.UserDomainName, want)
		}
	}
}

// A VIM that is registered is as it was found last; another one is registered still, or drains, whatever was found.
func TestTheStatusOfAVIM(t *testing.T) {
	for _, health := range []broker.HealthStatus{broker.HealthUnchecked, broker.HealthReachable, broker.HealthUnreachable, broker.HealthUnopenable} {
		for state, want := range map[broker.VIMState]string{
			broker.VIMRegistered: string(health), broker.VIMRegistering: "registering", broker.VIMDraining: "draining",
		} {
			if got := vim(broker.VIM{State: state, Health: broker.Health{Status: health}}, started); got.Status != want || got.State != string(state) {
				t.Errorf("one that is %s and %s is shown as %s", state, health, got.Status)
			}
		}
	}
}
