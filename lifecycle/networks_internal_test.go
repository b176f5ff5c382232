package lifecycle

import (
	"testing"

	"github.com/vimbroker/vimbroker/broker/asset/spec"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
)

// A link on one of the cloud's own networks needs a permission, and so says that it is, by whichever of the two its descriptor
// names it.
func TestALinkSaysThatItIsOnANetworkOfTheClouds(t *testing.T) {
	for v, want := range map[*vnfpkg.VirtualLink]spec.LinkSegment{
		{Type: "vlan", Physical: "physnet1"}:                     {Type: "vlan", Physical: "physnet1"},
		{Type: "vlan", Segmentation: 7}:                          {Type: "vlan", ID: 7},
		{Type: "vlan", Physical: "physnet1", Segmentation: 7}:    {Type: "vlan", Physical: "physnet1", ID: 7},
		{Type: "vlan", CIDR: "10.0.0.0/24", Gateway: "10.0.0.1"}: {},
	} {
		got := specOf(*v)
		if (got.Segment == nil) != (want == spec.LinkSegment{}) || got.Segment != nil && *got.Segment != want {
			t.Errorf("%+v is on %+v, want %+v", *v, got.Segment, want)
		}
		if got.CIDR != v.CIDR || got.Gateway != v.Gateway {
			t.Errorf("%+v is %+v", *v, got)
		}
	}
}
