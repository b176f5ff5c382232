package broker_test

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/test/fake"
)

// front forwards connections to a server until it is closed, as a load balancer does.
func front(t *testing.T, to string) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", strings.TrimPrefix(to, "https://"))
			if err != nil {
				_ = in.Close()
				continue
			}
			for _, pair := range [][2]net.Conn{{in, out}, {out, in}} {
				go func() { _, _ = io.Copy(pair[0], pair[1]); _ = pair[0].Close() }()
			}
		}
	}()
	return l
}

// A system that has a new authority or a new address is the same system: leases of before are renewed, inventoried and
// revoked through what is current. Where nothing changed a server that does not answer is asked once.
func TestLeasesOfBeforeFollowTheirSystem(t *testing.T) {
	for name, move := range map[string]func(*bench, net.Listener) broker.Change{
		"a new CA": func(b *bench, _ net.Listener) broker.Change {
			if err := b.kube.ReplaceCA(); err != nil {
				t.Fatal(err)
			}
			return broker.Change{CACert: &b.kube.CA}
		},
		"a new address": func(b *bench, l net.Listener) broker.Change {
			_ = l.Close()
			if err := b.kube.WrongCertificate(false); err != nil { // breaks the connections that there are
				t.Fatal(err)
			}
			return broker.Change{Endpoint: &b.kube.Endpoint}
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, benchOptions{})
			l := front(t, b.kube.Endpoint)
			r := b.registration("edge1")
			r.Endpoint = "https://" + l.Addr().String()
			if _, err := b.RegisterVIM(t.Context(), alice, r); err != nil {
				t.Fatal(err)
			}
			lease, _ := b.mustIssue(alice, "edge1")
			other, _ := b.mustIssue(alice, "edge1")
			change := move(b, l)
			change.Credential = broker.Credential{Kind: broker.CredentialBearerToken, Token: secret.NewText(b.kube.AdminTokenFor(0))}
			v, err := b.UpdateVIM(t.Context(), alice, "edge1", change)
			if err != nil {
				t.Fatal(err)
			}
			_, config, err := b.RenewLease(t.Context(), alice, lease.ID, 0)
			if err != nil || config.Endpoint != v.Current.Target.Endpoint || config.CACert != v.Current.Target.CACert {
				t.Errorf("RenewLease() = %s, %v, want what is current", config.Endpoint, err)
			}
			if found, err := b.Inventory(t.Context(), alice, "edge1", false); err != nil || len(found.Ghosts)+len(found.Unbound)+found.Unseen > 0 {
				t.Errorf("Inventory() = %+v, %v", found, err)
			}
			for _, id := range []string{lease.ID, other.ID} {
				if after, err := b.RevokeLease(t.Context(), alice, id); err != nil || after.State != broker.LeaseRevoked {
					t.Errorf("RevokeLease() = %s, %s, %v, want revoked", after.State, after.LastError, err)
				}
			}
			if n := b.upstream(); n != 0 {
				t.Errorf("%d accounts are left on the VIM", n)
			}
			b.clock.Add(time.Minute)
			b.mustReap()
			b.wantKeys(1)
		})
	}
	t.Run("nothing new but the credential", func(t *testing.T) {
		b := newBench(t, benchOptions{})
		b.mustRegister(alice, "edge1")
		l, _ := b.mustIssue(alice, "edge1")
		another := broker.Credential{Kind: broker.CredentialBearerToken, Token: secret.NewText(b.kube.AdminTokenFor(0))}
		if _, err := b.RotateVIM(t.Context(), alice, "edge1", another, 0); err != nil {
			t.Fatal(err)
		}
		b.kube.Fail(fake.Fault{Kind: fake.Drop, Times: 1})
		if after, err := b.RevokeLease(t.Context(), alice, l.ID); err != nil || after.State != broker.LeaseRevoking {
			t.Errorf("RevokeLease() = %s, %v, want that it is asked once and tried again later", after.State, err)
		}
	})
}
