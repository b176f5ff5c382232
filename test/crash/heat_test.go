package crash_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/vimbroker/vimbroker/broker/api/sol003"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/test/csar"
	"github.com/vimbroker/vimbroker/test/fakeheat"
	"github.com/vimbroker/vimbroker/test/fakekeystone"
)

// heatDeaths say the same of a server that runs a VNF on a cloud: the failpoints of Heat's driver, and those of the
// engine between which what it does lies.
var heatDeaths = map[string][]scenario{
	"heat.created":   {makingAStack},
	"heat.updated":   {scalingAStack, healingAStack, changingAStack},
	"heat.condemned": {healingAStack},
	"heat.checked":   {healingAStack},
	"heat.deleted":   {removingAStack},
	"heat.stopped":   {cancelingAStack},

	"secret-parameters.intent":     {sealingSecrets},
	"secret-parameters.key-stored": {sealingSecrets},
	"secret-parameters.sealed":     {sealingSecrets},
	"secret-parameters.swept":      {forgettingSecrets},
	"move.sealed":                  {movingAStack},
	"forget.given-up":              {forgettingAStack},
	"forget.forgotten":             {forgettingAStack},
	"keyring.rekey-intent":         {rekeyingSecretParameters, rekeyingASubscription, sealingAProfile},
	"keyring.rekey-stored":         {rekeyingSecretParameters, rekeyingASubscription, sealingAProfile},
	"keyring.rekeyed":              {rekeyingSecretParameters, rekeyingASubscription},

	"operation.linked":       {makingAnOwnLink},
	"operation.queued":       {makingAStack},
	"operation.begun":        {makingAStack},
	"operation.planned":      {makingAStack},
	"operation.leased":       {makingAStack, scalingAStack},
	"operation.processing":   {makingAStack},
	"operation.wave":         {makingAStack, scalingAStack, healingAStack, changingAStack, removingAStack},
	"operation.stage":        {makingAStack, removingAStack},
	"operation.leases-ended": {makingAStack},
	"operation.settled":      {makingAStack, removingAStack, leavingAnOwnLink},
}

func TestKilledWithAStack(t *testing.T) { withAStack.first(t) }

// stackCloud is a cloud that has a Heat beside its Neutron.
type stackCloud struct {
	*linkCloud
	heat *fakeheat.Server
}

func fakeStacks(t testing.TB) *stackCloud {
	t.Helper()
	c := &stackCloud{fakeNetworks(t, fakeCloud(t)), fakeheat.New(t)}
	c.heat.Believe(c.fake)
	c.fake.SetCatalog(
		fakekeystone.Endpoint{Service: "identity", Interface: "public", Region: "RegionOne", URL: c.fake.Endpoint + "/v3"},
		fakekeystone.Endpoint{Service: "orchestration", Interface: "public", Region: "RegionOne", URL: c.heat.URL + "/heat/v1/project"},
		fakekeystone.Endpoint{Service: "network", Interface: "public", Region: "RegionOne", URL: c.neutron.Endpoint()},
	)
	return c
}

func (c *stackCloud) registration(t testing.TB, name string) v1.Registration {
	t.Helper()
	r := c.linkCloud.registration(t, name)
	r.CACert += c.heat.CA
	return r
}

// others are stacks, and the trusts of stacks, too.
func (c *stackCloud) others(t testing.TB) []string {
	t.Helper()
	all := c.linkCloud.others(t)
	for _, name := range c.heat.Stacks() {
		all = append(all, "stack "+name)
	}
	for _, p := range c.fake.Planted() {
		all = append(all, p.Type+" "+p.ID)
	}
	return all
}

func heatOf(s *scene) *fakeheat.Server { return s.up.(*stackCloud).heat }

// nextVNFD is the descriptor of the package that a change goes over to.
const nextVNFD = "5f4a2c1e-93c5-4d0e-8d0f-7a35f1a40003"

// withVNF registers the cloud, uploads both packages and makes an instance without resources.
func withVNF(s *scene) {
	s.t.Helper()
	s.register("edge")
	for _, f := range []csar.Files{csar.TackerHeat(), csar.TackerHeatAs(nextVNFD, "affinity:", "proximity:")} {
		content := f.Zip(s.t)
		p, err := s.CreatePackage(s.ctx(), nil)
		if err == nil {
			err = s.UploadPackage(s.ctx(), p.ID, bytes.NewReader(content), int64(len(content)))
		}
		if err != nil {
			s.t.Fatal(err)
		}
	}
	if _, err := s.CreateVNF(s.ctx(), sol003.CreateVNFRequest{VNFDID: csar.TackerHeatVNFD, Name: "vnf"}); err != nil {
		s.t.Fatal(err)
	}
}

// withStack has the instance's stack made, too.
func withStack(s *scene) {
	s.t.Helper()
	withVNF(s)
	if err := makeStack(s); err != nil {
		s.t.Fatal(err)
	}
}

func vnf(s *scene) sol003.VNFInstance {
	s.t.Helper()
	for i, err := range s.AllVNFs(s.ctx()) {
		if err != nil {
			s.t.Fatal(err)
		}
		return i
	}
	s.t.Fatal("there is no instance")
	panic("unreachable")
}

func makeStack(s *scene) error { return operate(s, "instantiate", instantiation(s)) }

func instantiation(s *scene) sol003.InstantiateRequest {
	s.t.Helper()
	return sol003.InstantiateRequest{
		FlavourID: "simple", VIMs: map[string]sol003.VIMConnectionInfo{"vim": {VIMID: s.only().ID, VIMType: "ETSINFV.OPENSTACK_KEYSTONE.V_3"}},
		Params: sol003.AdditionalParams{NFV: jsontext.Value(`{"CP":{"VDU1_CP1":{"network":"net0"}}}`)},
	}
}

// operate begins an operation on the instance, and waits for its end.
func operate(s *scene, task string, request any) error {
	s.t.Helper()
	if _, err := s.BeginVNF(s.ctx(), vnf(s).ID, task, request); err != nil {
		return err
	}
	return awaitOperation(s, "COMPLETED")
}

// awaitOperation waits until the instance's newest operation is in that state; it fails if the server does not answer.
func awaitOperation(s *scene, want string) (err error) {
	s.t.Helper()
	eventually(s.t, "the operation is "+want, func() error {
		var o sol003.OpOcc
		if o, err = newest(s); cutOff(err) {
			return nil
		}
		if err == nil && o.State != want {
			err = fmt.Errorf("it is %s: %+v", o.State, o.Error)
		}
		return err
	})
	return err
}

func newest(s *scene) (sol003.OpOcc, error) {
	for o, err := range s.AllVNFOperations(s.ctx(), "") {
		return o, err
	}
	return sol003.OpOcc{}, errors.New("there is no operation")
}

// cancelStack begins to make the instance's stack, which Heat holds, and cancels that.
func cancelStack(s *scene, request sol003.InstantiateRequest) error {
	s.t.Helper()
	if _, err := s.BeginVNF(s.ctx(), vnf(s).ID, "instantiate", request); err != nil {
		return err
	}
	eventually(s.t, "Heat is at it", func() error {
		if len(heatOf(s).Stacks()) == 0 {
			return errors.New("it has no stack")
		}
		return nil
	})
	o, err := newest(s)
	if err != nil {
		return err
	}
	if err := s.CancelVNFOperation(s.ctx(), o.ID, sol003.CancelRequest{Mode: "FORCEFUL"}); err != nil {
		return err
	}
	return awaitOperation(s, "FAILED_TEMP")
}

var (
	makingAStack = scenario{
		name:    "instantiate a VNF",
		prepare: withVNF,
		act:     makeStack,
		after:   func(s *scene) { oneStack(s, 1) },
	}

	scalingAStack = scenario{
		name:    "scale a VNF",
		prepare: withStack,
		act: func(s *scene) error {
			steps := 2
			return operate(s, "scale", sol003.ScaleRequest{Type: sol003.ScaleOut, AspectID: "VDU1_scale", Steps: &steps})
		},
		after: func(s *scene) { oneStack(s, 3) },
	}

	// healingAStack replaces a VNFC, what somebody has marked, and nothing else.
	healingAStack = scenario{
		name: "heal a VNF",
		prepare: func(s *scene) {
			withStack(s)
			heatOf(s).Condemn("affinity")
			s.before = []string{heatOf(s).Physical("VDU1"), heatOf(s).Physical("affinity"), heatOf(s).Physical("VDU1_CP1")}
		},
		act: func(s *scene) error {
			return operate(s, "heal", sol003.HealRequest{VNFCs: []string{vnf(s).Instantiated.VNFCs[0].ID}})
		},
		after: func(s *scene) {
			if err := awaitOperation(s, "COMPLETED"); err != nil {
				s.t.Error(err)
			}
			now := []string{heatOf(s).Physical("VDU1"), heatOf(s).Physical("affinity"), heatOf(s).Physical("VDU1_CP1")}
			if now[0] == s.before[0] || now[1] == s.before[1] || now[2] != s.before[2] {
				s.t.Errorf("healed from %q to %q, want the first two replaced", s.before, now)
			}
			oneStack(s, 1)
		},
	}

	changingAStack = scenario{
		name:    "change the package of a VNF",
		prepare: withStack,
		act: func(s *scene) error {
			return operate(s, "change_vnfpkg", sol003.ChangePackageRequest{VNFDID: nextVNFD})
		},
		after: func(s *scene) {
			if err := awaitOperation(s, "COMPLETED"); err != nil {
				s.t.Error(err)
			}
			if heatOf(s).Physical("proximity") == "" || heatOf(s).Physical("affinity") != "" {
				s.t.Error("the stack is not of the package that was changed to")
			}
			oneStack(s, 1)
		},
	}

	removingAStack = scenario{
		name:    "terminate a VNF",
		prepare: withStack,
		act:     func(s *scene) error { return operate(s, "terminate", sol003.TerminateRequest{Type: "FORCEFUL"}) },
		after:   noStack,
	}

	// cancelingAStack cancels what Heat would go on with, and rolls it back.
	cancelingAStack = scenario{
		name: "cancel the instantiation of a VNF",
		prepare: func(s *scene) {
			withVNF(s)
			heatOf(s).Hold(true)
		},
		act: func(s *scene) error { return cancelStack(s, instantiation(s)) },
		after: func(s *scene) {
			if err := awaitOperation(s, "FAILED_TEMP"); err != nil {
				s.t.Error(err)
			}
			if now, _, _, _ := heatOf(s).Stack("vnf-" + vnf(s).ID); now != "CREATE_FAILED" {
				s.t.Errorf("canceled, and the stack is %s", now)
			}
			heatOf(s).Hold(false)
			o, err := newest(s)
			if err == nil {
				err = s.SettleVNFOperation(s.ctx(), o.ID, "rollback")
			}
			if err != nil {
				s.t.Fatal(err)
			}
			if err := awaitOperation(s, "ROLLED_BACK"); err != nil {
				s.t.Error(err)
			}
			gone(s)
		},
	}
)

// oneStack proves that the operation has come to its end, and that one stack was ever made, with so many VNFCs. Then it
// is terminated.
func oneStack(s *scene, vnfcs int) {
	s.t.Helper()
	if err := awaitOperation(s, "COMPLETED"); err != nil {
		s.t.Fatal(err)
	}
	i := vnf(s)
	if got := heatOf(s).Stacks(); !slices.Equal(got, []string{"vnf-" + i.ID}) {
		s.t.Errorf("there are the stacks %q, want one", got)
	}
	if n := len(s.up.(*stackCloud).fake.Planted()); n != 1 {
		s.t.Errorf("there are %d trusts, want that of the stack", n)
	}
	if n := len(i.Instantiated.VNFCs); n != vnfcs {
		s.t.Errorf("the instance has %d VNFCs, want %d", n, vnfcs)
	}
	if err := operate(s, "terminate", sol003.TerminateRequest{Type: "FORCEFUL"}); err != nil {
		s.t.Fatal(err)
	}
	gone(s)
}

// noStack proves that the termination has come to its end.
func noStack(s *scene) {
	s.t.Helper()
	if err := awaitOperation(s, "COMPLETED"); err != nil {
		s.t.Fatal(err)
	}
	gone(s)
}

// gone proves that of all stacks that were made, which was one, nothing is left, and deletes the instance. The next
// server has none to look at: a lease for that would come and go while leases are compared with what is upstream.
func gone(s *scene) {
	s.t.Helper()
	if n := heatOf(s).Count("POST", "/heat/v1/project/stacks"); n != 1 {
		s.t.Errorf("a stack was asked for %d times, want once", n)
	}
	if left := s.up.others(s.t); len(left) > 0 {
		s.t.Errorf("on the cloud there is still %q", left)
	}
	if err := s.DeleteVNF(s.ctx(), vnf(s).ID); err != nil {
		s.t.Error(err)
	}
	s.stop()
	s.restart()
}
