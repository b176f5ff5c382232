package crash_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/broker/api/sol003"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/asset/spec"
	"github.com/vimbroker/vimbroker/test/csar"
	"github.com/vimbroker/vimbroker/test/fakekeystone"
	"github.com/vimbroker/vimbroker/test/fakeneutron"
	"github.com/vimbroker/vimbroker/test/field"
)

// afterCall is the failpoint that every call of Neutron passes.
const afterCall = "neutron.called"

// linkDeaths say in which flows a server whose VIM has networks is killed, and after which call of Neutron. [TestFieldKilledAfterEveryCallOfNeutron]
// has every call.
var linkDeaths = map[string][]scenario{
	afterCall + "#2": {linkingOnACloud},   // the network is made, without its tag
	afterCall + "#5": {linkingOnACloud},   // the subnet is made, without an interface of the router
	afterCall + "#8": {linkingOnACloud},   // the router has an interface, and there is no security group
	afterCall + "#4": {unlinkingOnACloud}, // the router has no interface any more
	afterCall + "#6": {unlinkingOnACloud}, // the subnet is gone, and the network is there
	"link.made":      {linkingOnACloud},
	"link.removed":   {unlinkingOnACloud},
}

func TestKilledWithALink(t *testing.T) { withALink.first(t) }

// A server is killed after each single call of Neutron's, of a link that is made and of one that is deleted.
func TestFieldKilledAfterEveryCallOfNeutron(t *testing.T) {
	field.Only(t)
	for _, sc := range []scenario{linkingOnACloud, unlinkingOnACloud, makingAnOwnLink, leavingAnOwnLink} {
		t.Run(sc.name, func(t *testing.T) {
			for n := 1; ; n++ {
				up := upstream(fakeNetworks(t, fakeCloud(t)))
				if sc.name == makingAnOwnLink.name || sc.name == leavingAnOwnLink.name {
					up = fakeStacks(t)
				}
				s := sc.begin(t, up, fmt.Sprintf("%s#%d", afterCall, n))
				if !sc.killed(s) {
					if n < 7 {
						t.Fatalf("Neutron is called only %d times", n-1)
					}
					t.Logf("killed after each of %d calls", n-1)
					s.stop()
					return
				}
				sc.conclude(s)
				if t.Failed() {
					t.Fatalf("the server was killed after call %d", n)
				}
			}
		})
	}
}

// linkCloud is a cloud that has a Neutron.
type linkCloud struct {
	*cloud
	neutron *fakeneutron.Server
}

func fakeNetworks(t testing.TB, c *cloud) *linkCloud {
	t.Helper()
	n := fakeneutron.New(t)
	n.Believe(c.fake)
	c.fake.SetCatalog(
		fakekeystone.Endpoint{Service: "identity", Interface: "public", Region: "RegionOne", URL: c.fake.Endpoint + "/v3"},
		fakekeystone.Endpoint{Service: "network", Interface: "public", Region: "RegionOne", URL: n.Endpoint()},
	)
	return &linkCloud{c, n}
}

func (c *linkCloud) registration(t testing.TB, name string) v1.Registration {
	t.Helper()
	r := c.cloud.registration(t, name)
	r.CACert += c.neutron.CA
	return r
}

// others are networks, and what is on them, too.
func (c *linkCloud) others(t testing.TB) []string {
	t.Helper()
	return append(c.cloud.others(t), c.neutron.All()...)
}

// link asks for the virtual link of these flows.
func (s *scene) link() (v1.VirtualLink, error) {
	r := v1.VirtualLinkRequest{Name: "sgi", VIM: "edge", Spec: &spec.LinkSpec{CIDR: "10.9.0.0/24"}}
	if s.kube != nil {
		r.Spec.NAD = &spec.PodNetwork{Type: "bridge", Device: "br1"}
	} else {
		r.Spec.Router, r.Spec.Rules = "r", []spec.SecurityRule{{Direction: "ingress", Protocol: "tcp", From: 80, To: 80}}
	}
	return s.CreateVirtualLink(s.ctx(), r)
}

// volume asks for the volume of these flows.
func (s *scene) volume() (v1.Volume, error) {
	return s.CreateVolume(s.ctx(), v1.VolumeRequest{Name: "data", VIM: "edge", Spec: &spec.VolumeSpec{Namespace: "default", Size: "1Gi"}})
}

// having is the preparation of a flow that begins with what another makes.
func having(made scenario) func(*scene) {
	return func(s *scene) {
		made.prepare(s)
		if err := made.act(s); err != nil {
			s.t.Fatal(err)
		}
	}
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
		name:    "delete a virtual link",
		prepare: having(linking),
		act: func(s *scene) error {
			_, err := s.DeleteVirtualLink(s.ctx(), "sgi", false)
			return err
		},
		after: linkIsWhole,
	}

	linkingOnACloud   = scenario{name: linking.name, prepare: linking.prepare, act: linking.act, after: networkIsWhole}
	unlinkingOnACloud = scenario{name: unlinking.name, prepare: unlinking.prepare, act: unlinking.act, after: networkIsWhole}

	makingAVolume = scenario{
		name:    "make a volume",
		prepare: linking.prepare,
		act: func(s *scene) error {
			_, err := s.volume()
			return err
		},
		after: volumeIsWhole,
	}
	removingAVolume = scenario{
		name:    "delete a volume",
		prepare: having(makingAVolume),
		act: func(s *scene) error {
			_, err := s.DeleteVolume(s.ctx(), "data", false)
			return err
		},
		after: volumeIsWhole,
	}

	// makingAnOwnLink has an instance make a link for itself before its operation begins.
	makingAnOwnLink = scenario{
		name:    "instantiate a VNF with a link of its own",
		prepare: withOwn,
		act:     makeStack,
		after:   ownLinkGoes,
	}
	// leavingAnOwnLink ends the last use of such a link.
	leavingAnOwnLink = scenario{
		name:    "terminate a VNF with a link of its own",
		prepare: having(makingAnOwnLink),
		act:     removingAStack.act,
		after:   ownLinkGoes,
	}
)

// linkIsWhole: a link is there and ready, or is not; it can be asked for again, and deleted.
func linkIsWhole(s *scene) {
	s.t.Helper()
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

// networkIsWhole is linkIsWhole where a link is a network with a subnet, an interface of a router and a security group with its
// one rule: there is one of each, or none of any.
func networkIsWhole(s *scene) {
	s.t.Helper()
	neutron := s.up.(*linkCloud).neutron
	want := 0
	for l, err := range s.AllVirtualLinks(s.ctx()) {
		if want = 5; err != nil {
			s.t.Errorf("the link is %s, %v", l.State, err)
		}
	}
	one := func() {
		s.t.Helper()
		if all := neutron.All(); len(all) != want || len(slices.Compact(all)) != want {
			s.t.Errorf("on the cloud there is %q, want %d things", all, want)
		}
	}
	one()
	want = 5
	if l, err := s.link(); err != nil || l.Networks[0].NetworkID == "" || l.Networks[0].SubnetID == "" || l.Networks[0].SecurityGroupID == "" {
		s.t.Errorf("asked for again the link is %+v, %v", l, err)
	}
	one()
	linkIsWhole(s)
	want = 0
	one()
}

// volumeIsWhole: a volume is there with its claim, or neither is; it can be asked for again, and deleted.
func volumeIsWhole(s *scene) {
	s.t.Helper()
	claims := func() (names []string) {
		list, err := s.kube.clients.CoreV1().PersistentVolumeClaims("default").List(s.ctx(), metav1.ListOptions{})
		if err != nil {
			s.t.Fatal(err)
		}
		for _, c := range list.Items {
			names = append(names, c.Name)
		}
		return names
	}
	var named []string
	for v, err := range s.AllVolumes(s.ctx()) {
		if named = append(named, v.ClaimName); err != nil || v.State != "ready" {
			s.t.Errorf("the volume is %s, %v", v.State, err)
		}
	}
	if got := claims(); !slices.Equal(got, named) {
		s.t.Errorf("the volumes have the claims %q, and there are %q", named, got)
	}
	v, err := s.volume()
	if err != nil || v.State != "ready" || !slices.Equal(claims(), []string{v.ClaimName}) {
		s.t.Errorf("asked for again the volume is %s with claim %s of %q, %v", v.State, v.ClaimName, claims(), err)
	}
	if _, err := s.DeleteVolume(s.ctx(), "data", false); err != nil || len(claims()) > 0 {
		s.t.Errorf("DeleteVolume = %v, and there are claims %q", err, claims())
	}
}

// ownVNFD is the descriptor of the package whose instances make a link for themselves.
const ownVNFD = "5f4a2c1e-93c5-4d0e-8d0f-7a35f1a40031"

func withOwn(s *scene) {
	s.t.Helper()
	s.register("edge")
	content := csar.TackerHeatOwn(ownVNFD).Zip(s.t)
	p, err := s.CreatePackage(s.ctx(), nil)
	if err == nil {
		err = s.UploadPackage(s.ctx(), p.ID, bytes.NewReader(content), int64(len(content)))
	}
	if err == nil {
		_, err = s.CreateVNF(s.ctx(), sol003.CreateVNFRequest{VNFDID: ownVNFD, Name: "vnf"})
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// ownLinkGoes: an operation that has begun comes to its end. The link is there while its instance uses it, and is gone with it;
// so is one whose operation never began.
func ownLinkGoes(s *scene) {
	s.t.Helper()
	if o, err := newest(s); err == nil {
		if err := awaitOperation(s, "COMPLETED"); err != nil {
			s.t.Fatal(err)
		}
		if o.Operation == "INSTANTIATE" {
			wantOwnLinks(s, 1)
			if err := removingAStack.act(s); err != nil {
				s.t.Fatal(err)
			}
		}
	}
	wantOwnLinks(s, 0)
	if err := makeStack(s); err != nil {
		s.t.Fatal(err)
	}
	wantOwnLinks(s, 1)
	if err := removingAStack.act(s); err != nil {
		s.t.Fatal(err)
	}
	wantOwnLinks(s, 0)
	if err := s.DeleteVNF(s.ctx(), vnf(s).ID); err != nil {
		s.t.Error(err)
	}
	s.stop() // the next server has no stack to look at, see gone
	s.restart()
}

// wantOwnLinks waits until so many links are there, and as many networks.
func wantOwnLinks(s *scene, want int) {
	s.t.Helper()
	eventually(s.t, fmt.Sprintf("there are %d links", want), func() error {
		var all []v1.VirtualLink
		for l, err := range s.AllVirtualLinks(s.ctx()) {
			if err != nil {
				return err
			}
			all = append(all, l)
		}
		there := s.up.(*stackCloud).neutron.All()
		if len(all) != want || len(there) != 2*want {
			return fmt.Errorf("there are %d, and on the cloud %q", len(all), there)
		}
		return nil
	})
	if want == 0 {
		return
	}
	for l := range s.AllVirtualLinks(s.ctx()) {
		if one, err := s.VirtualLink(s.ctx(), l.ID); err != nil || one.UseCount != 1 || one.MadeFor != vnf(s).ID {
			s.t.Errorf("the link has %d uses, and was made for %s, %v", one.UseCount, one.MadeFor, err)
		}
		if _, err := s.DeleteVirtualLink(s.ctx(), l.ID, false); client.Status(err) != 409 {
			s.t.Errorf("a link that is used is deleted: %v", errors.Unwrap(err))
		}
	}
}
