package upgrade

import (
	"os"
	"slices"

	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/test/process"
	"github.com/vimbroker/vimbroker/test/story"
)

// server is one server of one version, as the administrator sees it.
type server struct {
	*client.Client
	*site
	addr, bin, config string
	broker            *story.Broker
}

// serve starts a version, and has it end with the test.
func (s *site) serve(name, bin string) *server {
	s.t.Helper()
	listen := process.FreeAddress(s.t)
	v := &server{site: s, bin: bin, addr: "http://" + listen, config: s.configure(name, listen)}
	v.Client = v.as(s.token)
	v.start()
	s.t.Cleanup(func() {
		v.broker.Kill()
		if text, err := os.ReadFile(v.broker.File); err == nil && s.t.Failed() {
			s.t.Logf("log of %s:\n%s", name, text)
		}
	})
	return v
}

// as is a client of the server with another token.
func (v *server) as(token string) *client.Client {
	v.t.Helper()
	c, err := client.New(client.Options{Addr: v.addr, Token: secret.NewText(token)})
	if err != nil {
		v.t.Fatal(err)
	}
	return c
}

func (v *server) start() {
	v.t.Helper()
	dir := v.t.TempDir()
	var err error
	if v.broker, err = story.Serve(v.bin, dir, []string{"HOME=" + dir}, "--config", v.config); err != nil {
		v.t.Fatal(err)
	}
}

func (v *server) stop() {
	v.t.Helper()
	if err := v.broker.Stop(); err != nil {
		v.t.Error(err)
	}
}

// register registers the cluster and the cloud, shared with every project.
func (v *server) register() {
	v.t.Helper()
	for _, r := range v.registrations() {
		if _, err := v.RegisterVIM(v.t.Context(), r, ""); err != nil {
			v.t.Fatal(err)
		}
	}
}

// issue takes a lease under a key.
func (v *server) issue(c *client.Client, vim, key string) v1.IssuedLease {
	v.t.Helper()
	r := v1.LeaseRequest{VIM: vim, Purpose: key}
	if vim == edge {
		r.Role, r.Namespaces = "view", []string{"default"}
	}
	l, err := c.IssueLease(v.t.Context(), r, key+"-"+vim)
	if err != nil {
		v.t.Fatalf("IssueLease(%s, %s): %v", vim, key, err)
	}
	return l
}

// pair takes a lease on each VIM.
func (v *server) pair(key string) []v1.IssuedLease {
	v.t.Helper()
	return []v1.IssuedLease{v.issue(v.Client, edge, key), v.issue(v.Client, cloud, key)}
}

// wantSame repeats the requests for leases under their keys, and wants the same answers.
func (v *server) wantSame(leases []v1.IssuedLease) {
	v.t.Helper()
	for _, l := range leases {
		again := v.issue(v.Client, l.VIMName, l.Purpose)
		if got, want := again.ClientConfig.Text.Reveal(), l.ClientConfig.Text.Reveal(); again.ID != l.ID || got != want || got == "" {
			v.t.Errorf("the repeated request for lease %s on %s is answered with lease %s, the same credential: %v", l.ID, l.VIMName, again.ID, got == want)
		}
	}
}

// wantListed wants these leases to be the active ones.
func (v *server) wantListed(leases ...[]v1.IssuedLease) {
	v.t.Helper()
	want, got := []string{}, []string{}
	for _, l := range slices.Concat(leases...) {
		want = append(want, l.ID)
	}
	for l, err := range v.AllLeases(v.t.Context(), client.LeaseQuery{}) {
		if err != nil {
			v.t.Fatal(err)
		}
		if l.State == "active" {
			got = append(got, l.ID)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		v.t.Errorf("the active leases are %q, want %q", got, want)
	}
}

// renew renews leases, and wants another credential for each.
func (v *server) renew(leases []v1.IssuedLease) {
	v.t.Helper()
	for i, l := range leases {
		got, err := v.RenewLease(v.t.Context(), l.ID, v1.Renewal{TTL: "30m"})
		if err != nil {
			v.t.Errorf("RenewLease of %s on %s: %v", l.Purpose, l.VIMName, err)
			continue
		}
		if text := got.ClientConfig.Text.Reveal(); text == "" || text == l.ClientConfig.Text.Reveal() {
			v.t.Errorf("RenewLease of %s on %s gives no other credential", l.Purpose, l.VIMName)
		}
		leases[i] = got
	}
}

// revoke revokes leases, and wants nothing of them upstream.
func (v *server) revoke(leases ...[]v1.IssuedLease) {
	v.t.Helper()
	for _, l := range slices.Concat(leases...) {
		got, err := v.RevokeLease(v.t.Context(), l.ID)
		if err != nil || got.State != "revoked" || v.upstream(l) {
			v.t.Errorf("RevokeLease of %s on %s = %s, %v; alive upstream: %v", l.Purpose, l.VIMName, got.State, err, v.upstream(l))
		}
	}
}

// wantRefused has the server renew and revoke leases, and wants it to do neither, and
// the leases as they were.
func (v *server) wantRefused(leases []v1.IssuedLease) {
	v.t.Helper()
	for _, l := range leases {
		if got, err := v.RenewLease(v.t.Context(), l.ID, v1.Renewal{TTL: "30m"}); err == nil {
			v.t.Errorf("RenewLease of %s on %s is %s, want an error", l.Purpose, l.VIMName, got.State)
		}
		if got, err := v.RevokeLease(v.t.Context(), l.ID); err == nil {
			v.t.Errorf("RevokeLease of %s on %s is %s, want an error", l.Purpose, l.VIMName, got.State)
		}
		if got, err := v.Lease(v.t.Context(), l.ID); err != nil || got.State != "active" || !v.upstream(l) {
			v.t.Errorf("lease %s on %s is %q, %v, and alive upstream: %v, want it as it was", l.Purpose, l.VIMName, got.State, err, v.upstream(l))
		}
	}
}

// wantOpen wants the stored credentials to open and to be accepted, and rows and VIMs
// to agree.
func (v *server) wantOpen() {
	v.t.Helper()
	v.wantCheck()
	v.wantNoDiscrepancy()
}

// wantCheck wants the stored credentials to open and to be accepted.
func (v *server) wantCheck() {
	v.t.Helper()
	for _, vim := range []string{edge, cloud} {
		got, err := v.CheckVIM(v.t.Context(), vim)
		if err != nil || got.Status != "reachable" || !got.CanMint {
			v.t.Errorf("CheckVIM(%s) = %q, can mint %v, %v; want it reachable", vim, got.Status, got.CanMint, err)
		}
	}
}

// wantNoDiscrepancy wants rows and VIMs to agree.
func (v *server) wantNoDiscrepancy() {
	v.t.Helper()
	for _, vim := range []string{edge, cloud} {
		inv, err := v.Inventory(v.t.Context(), vim, false)
		if err != nil || len(inv.Orphans)+len(inv.Ghosts) > 0 {
			v.t.Errorf("Inventory(%s) = %d orphans, %d ghosts, %v; want none", vim, len(inv.Orphans), len(inv.Ghosts), err)
		}
	}
}

// rotate seals everything under new keys.
func (v *server) rotate() {
	v.t.Helper()
	for _, vim := range []string{edge, cloud} {
		if _, err := v.RotateVIM(v.t.Context(), vim, v1.Rotation{}, 0); err != nil {
			v.t.Errorf("RotateVIM(%s): %v", vim, err)
		}
	}
}

// wantNothingLeft deletes the VIMs, which have no live leases, and wants nothing of them
// anywhere, and an unbroken audit log.
func (v *server) wantNothingLeft() {
	v.t.Helper()
	v.wantListed()
	v.wantOpen()
	for _, vim := range []string{edge, cloud} {
		if _, gone, err := v.DeleteVIM(v.t.Context(), vim, client.Deletion{}); err != nil || !gone {
			v.t.Errorf("DeleteVIM(%s): gone %v, %v", vim, gone, err)
		}
	}
	v.wantEmpty()
	v.run(v.bin, []string{"VIMBROKER_ADDR=" + v.addr, "VIMBROKER_TOKEN_FILE=" + v.file("token")}, "audit", "verify")
}
