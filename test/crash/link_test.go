package crash_test

import (
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/asset/spec"
)

// link asks for the virtual link of these flows.
func (s *scene) link() (v1.VirtualLink, error) {
	return s.CreateVirtualLink(s.ctx(), v1.VirtualLinkRequest{
		Name: "sgi", VIM: "edge", Spec: &spec.LinkSpec{CIDR: "10.9.0.0/24", NAD: &spec.PodNetwork{Type: "bridge", Device: "br1"}},
	})
}

var (
	linking = scenario{
		name:    "make a virtual link",
		prepare: func(s *scene) { s.register("edge") },
		act: func(s *scene) error {
			_, err := s.link()
			return err
		},
		after: linkIsWhole,
	}
	unlinking = scenario{
		name: "delete a virtual link",
		prepare: func(s *scene) {
			s.register("edge")
			if _, err := s.link(); err != nil {
				s.t.Fatal(err)
			}
		},
		act: func(s *scene) error {
			_, err := s.DeleteVirtualLink(s.ctx(), "sgi", false)
			return err
		},
		after: linkIsWhole,
	}
)

// linkIsWhole: a link is there and ready, or is not; it can be asked for again, and deleted.
func linkIsWhole(s *scene) {
	for l, err := range s.AllVirtualLinks(s.ctx()) {
		if err != nil || l.State != "ready" {
			s.t.Errorf("the link is %s, %v", l.State, err)
		}
	}
	if l, err := s.link(); err != nil || l.State != "ready" {
		s.t.Errorf("asked for again the link is %q, %v", l.State, err)
	}
	if _, err := s.DeleteVirtualLink(s.ctx(), "sgi", false); err != nil {
		s.t.Errorf("DeleteVirtualLink = %v", err)
	}
}
