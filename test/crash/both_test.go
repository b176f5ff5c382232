package crash_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vimbroker/vimbroker/broker/api/sol003"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/test/csar"
	"github.com/vimbroker/vimbroker/test/field"
)

// TestKilledWithTwoParts kills a server that makes or removes an instance on two VIMs, before a real API server and a cloud: no
// lease and no resource is left on either.
func TestKilledWithTwoParts(t *testing.T) {
	diesInBoth(t, []death{{"heat.created", makingBoth}, {"operation.wave#2", removingBoth}, {"operation.stage#2", rollingBothBack}})
}

// TestFieldKilledWithTwoParts has all steps of each.
func TestFieldKilledWithTwoParts(t *testing.T) {
	field.Only(t)
	diesInBoth(t, []death{
		{"operation.planned", makingBoth},
		{"operation.leased", makingBoth},
		{"operation.processing", makingBoth},
		{"k8s.issue.token", makingBoth},
		{"operation.wave#2", makingBoth},
		{"operation.stage#2", makingBoth},
		{"operation.leased#3", makingBoth},
		{"operation.settled", makingBoth},
		{"operation.leased", removingBoth},
		{"heat.deleted", removingBoth},
		{"operation.leases-ended", removingBoth},
		{"operation.wave#2", rollingBothBack},
	})
}

func diesInBoth(t *testing.T, all []death) {
	t.Helper()
	pods := realCluster(t)
	for _, death := range all {
		t.Run(death.point+"/"+death.in.name, func(t *testing.T) {
			death.in.killedAt(t, &bothSystems{stackCloud: fakeStacks(t), pods: pods, on: map[string]bool{}}, death.point)
		})
	}
}

// bothSystems are a cloud and a cluster.
type bothSystems struct {
	*stackCloud
	pods *cluster
	// on are the ids of VIMs that are the cluster.
	on map[string]bool
}

func (b *bothSystems) registration(t testing.TB, name string) v1.Registration {
	t.Helper()
	if name == "pods" {
		return b.pods.registration(t, name)
	}
	return b.stackCloud.registration(t, name)
}

func (b *bothSystems) request(vim string) v1.LeaseRequest {
	if b.on[vim] {
		return b.pods.request(vim)
	}
	return b.stackCloud.request(vim)
}

func (b *bothSystems) secretOf(l v1.IssuedLease) string {
	if b.on[l.VIM] {
		return b.pods.secretOf(l)
	}
	return b.stackCloud.secretOf(l)
}

func (b *bothSystems) works(t testing.TB, secret string) bool {
	t.Helper()
	if strings.Count(secret, ".") == 2 {
		return b.pods.works(t, secret)
	}
	return b.stackCloud.works(t, secret)
}

func (b *bothSystems) objects(t testing.TB) []string {
	t.Helper()
	all := append(b.pods.objects(t), b.stackCloud.objects(t)...)
	slices.Sort(all)
	return all
}

func (b *bothSystems) others(t testing.TB) []string {
	t.Helper()
	return append(b.pods.others(t), b.stackCloud.others(t)...)
}

// maps are the names of the instance's objects on the cluster.
func (b *bothSystems) maps(t testing.TB) (names []string) {
	t.Helper()
	list, err := b.pods.clients.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{LabelSelector: "vimbroker.io/instance"})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range list.Items {
		names = append(names, o.Name)
	}
	return names
}

func withBoth(s *scene) {
	s.t.Helper()
	s.up.(*bothSystems).on[s.register("pods").ID] = true
	s.register("edge")
	files := csar.TackerHeat()
	for name, wave := range map[string]int{"first": -1, "beside": 0, "last": 1} {
		files["Files/kubernetes/"+name+".yaml"] = fmt.Sprintf(
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, annotations: {vimbroker.io/wave: %q}}\n", name, fmt.Sprint(wave))
	}
	content := files.Zip(s.t)
	p, err := s.CreatePackage(s.ctx(), nil)
	if err == nil {
		err = s.UploadPackage(s.ctx(), p.ID, bytes.NewReader(content), int64(len(content)))
	}
	if err == nil {
		_, err = s.CreateVNF(s.ctx(), sol003.CreateVNFRequest{VNFDID: csar.TackerHeatVNFD, Name: "vnf"})
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

var onBoth = sol003.InstantiateRequest{
	FlavourID: "simple", VIMs: map[string]sol003.VIMConnectionInfo{"machines": {VIMID: "edge"}, "containers": {VIMID: "pods"}},
	Params: sol003.AdditionalParams{NFV: jsontext.Value(`{"CP":{"VDU1_CP1":{"network":"net0"}}}`)},
}

func makeBoth(s *scene) error {
	s.t.Helper()
	return operate(s, "instantiate", onBoth)
}

func removeBoth(s *scene) error {
	return operate(s, "terminate", sol003.TerminateRequest{Type: "FORCEFUL"})
}

// bothStand proves that both parts were made, once, and removes them.
func bothStand(s *scene) {
	s.t.Helper()
	if err := awaitOperation(s, "COMPLETED"); err != nil {
		s.t.Fatal(err)
	}
	b := s.up.(*bothSystems)
	if maps, stacks := b.maps(s.t), b.heat.Stacks(); len(maps) != 3 || len(stacks) != 1 {
		s.t.Errorf("there are the objects %q and the stacks %q, want three and one", maps, stacks)
	}
	if err := removeBoth(s); err != nil {
		s.t.Fatal(err)
	}
	bothGone(s)
}

// bothGone proves that nothing is left of either part.
func bothGone(s *scene) {
	s.t.Helper()
	b := s.up.(*bothSystems)
	if maps, stacks := b.maps(s.t), b.heat.Stacks(); len(maps)+len(stacks) > 0 {
		s.t.Errorf("there are still the objects %q and the stacks %q", maps, stacks)
	}
	if n := b.heat.Count("POST", "/heat/v1/project/stacks"); n != 1 {
		s.t.Errorf("a stack was asked for %d times, want once", n)
	}
	if err := s.DeleteVNF(s.ctx(), vnf(s).ID); err != nil {
		s.t.Error(err)
	}
	s.stop()
	s.restart()
}

// removing terminates an instance that was made, after which nothing is left.
func removing(name string, prepare func(*scene), instantiate func(*scene) error, gone func(*scene)) scenario {
	return scenario{
		name: name,
		prepare: func(s *scene) {
			s.t.Helper()
			prepare(s)
			if err := instantiate(s); err != nil {
				s.t.Fatal(err)
			}
		},
		act: removeBoth,
		after: func(s *scene) {
			s.t.Helper()
			if err := awaitOperation(s, "COMPLETED"); err != nil {
				s.t.Fatal(err)
			}
			gone(s)
		},
	}
}

var (
	makingBoth = scenario{name: "instantiate on two VIMs", prepare: withBoth, act: makeBoth, after: bothStand}

	removingBoth = removing("terminate on two VIMs", withBoth, makeBoth, bothGone)

	// rollingBothBack takes back what was made while Heat held the stack.
	rollingBothBack = scenario{
		name: "roll back on two VIMs",
		prepare: func(s *scene) {
			s.t.Helper()
			withBoth(s)
			b := s.up.(*bothSystems)
			b.heat.Hold(true)
			if _, err := s.BeginVNF(s.ctx(), vnf(s).ID, "instantiate", onBoth); err != nil {
				s.t.Fatal(err)
			}
			eventually(s.t, "both parts are at it", func() error {
				if len(b.heat.Stacks()) == 0 || len(b.maps(s.t)) < 2 {
					return fmt.Errorf("there are %v and %v", b.heat.Stacks(), b.maps(s.t))
				}
				return nil
			})
			o, err := newest(s)
			if err == nil {
				err = s.CancelVNFOperation(s.ctx(), o.ID, sol003.CancelRequest{Mode: "FORCEFUL"})
			}
			if err != nil {
				s.t.Fatal(err)
			}
			if err := awaitOperation(s, "FAILED_TEMP"); err != nil {
				s.t.Fatal(err)
			}
			b.heat.Hold(false)
		},
		act: func(s *scene) error {
			o, err := newest(s)
			if err == nil {
				err = s.SettleVNFOperation(s.ctx(), o.ID, "rollback")
			}
			if err != nil {
				return err
			}
			return awaitOperation(s, "ROLLED_BACK")
		},
		after: func(s *scene) {
			s.t.Helper()
			if err := awaitOperation(s, "ROLLED_BACK"); err != nil {
				s.t.Fatal(err)
			}
			bothGone(s)
		},
	}
)
