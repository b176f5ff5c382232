package server

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/vimbroker/vimbroker/broker/remote"
	"github.com/vimbroker/vimbroker/broker/strictyaml"
	"github.com/vimbroker/vimbroker/broker/trust"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/files"
	"github.com/vimbroker/vimbroker/drivers/openstack"
	"github.com/vimbroker/vimbroker/policy"
)

// trustConfig is one entry of the table of trust, with the files that it names.
type trustConfig struct {
	trust.Authority
	KeysFile, CAFile string
	Certificates     *struct{ CAFile, CRLFile string }
	Keystone         *keystoneCallers
}

// fields is the vocabulary of one.
func (t *trustConfig) fields(d *strictyaml.Document) strictyaml.Fields {
	return strictyaml.Fields{
		"name":       d.Text(&t.Name),
		"issuer":     d.Text(&t.Issuer),
		"vim":        d.Text(&t.VIM),
		"audience":   d.Text(&t.Audience),
		"algorithms": d.Texts(&t.Algorithms),
		"keysFile":   d.Text(&t.KeysFile),
		"caFile":     d.Text(&t.CAFile),
		"type":       d.Text(&t.Type),
		"maxLife":    d.Duration(&t.MaxLife),
		"once":       d.Flag(&t.Once),
		"platform":   d.Text(&t.Platform),
		"hold":       d.Duration(&t.Hold),
		"login": func(n *yaml.Node, at string) {
			t.Login = new(trust.Signin)
			d.Mapping(n, at, strictyaml.Fields{"clientID": d.Text(&t.Login.ClientID), "scopes": d.Texts(&t.Login.Scopes)})
		},
		"certificates": func(n *yaml.Node, at string) {
			t.Certificates = new(struct{ CAFile, CRLFile string })
			d.Mapping(n, at, strictyaml.Fields{"caFile": d.Text(&t.Certificates.CAFile), "crlFile": d.Text(&t.Certificates.CRLFile)})
		},
		"keystone": func(n *yaml.Node, at string) {
			t.Keystone = new(keystoneCallers)
			d.Mapping(n, at, t.Keystone.fields(d))
		},
		"principals": listed(d, &t.Principals, ruleFields),
	}
}

func ruleFields(r *trust.Mapping, d *strictyaml.Document) strictyaml.Fields {
	return strictyaml.Fields{
		"match": labelled(d, &r.Match), "name": d.Text(&r.Name), "project": d.Text(&r.Project),
		"projects": d.Texts(&r.Projects), "roles": d.Texts(&r.Roles),
	}
}

// labelled reads texts by keys that the file chooses.
func labelled(d *strictyaml.Document, to *map[string]string) strictyaml.ReadValue {
	return func(n *yaml.Node, at string) {
		*to = make(map[string]string)
		d.Pairs(n, at, func(key, value *yaml.Node, path string) {
			var text string
			d.Text(&text)(value, path)
			(*to)[key.Value] = text
		})
	}
}

// loadTrust reads the files of the table of trust, and notes every fault of it.
func (c *config) loadTrust(d *strictyaml.Document) {
	names, issuers := map[string]bool{}, map[string]bool{}
	keystones := 0
	for i := range c.Trust {
		t, at := &c.Trust[i], fmt.Sprintf("trust[%d]", i)
		if names[t.Name] {
			d.Fault(nil, at+".name", "is the name of another entry")
		}
		if t.Issuer != "" && issuers[t.Issuer] {
			d.Fault(nil, at+".issuer", "is the issuer of another entry")
		}
		names[t.Name], issuers[t.Issuer] = true, true
		if t.Keystone != nil {
			if keystones++; keystones > 1 {
				d.Fault(nil, at+".keystone", "is the second one: callers come from one Keystone")
			}
			if t.Issuer != "" || t.VIM != "" || t.Certificates != nil || len(t.Principals) > 0 {
				d.Fault(nil, at, "must be exactly one of issuer, vim, certificates and keystone, and with keystone without principals")
			}
			t.Keystone.load(d, at+".keystone")
			continue
		}
		t.load(d, at)
		t.Authority = t.WithDefaults()
		for _, f := range t.Flaws() {
			d.Fault(nil, at+"."+f.Field, "%s", f.Text)
		}
		if t.Certified() && c.TLS.CertFile == "" && len(c.TrustedProxies.Networks) == 0 {
			d.Fault(nil, at+".certificates", "needs tls, or trustedProxies with clientCert: callers show certificates while connecting")
		}
	}
}

// load reads the files of one entry, and notes their faults.
func (t *trustConfig) load(d *strictyaml.Document, at string) {
	if files.Authorities(d, at+".caFile", t.CAFile) != nil {
		text, _ := files.ReadNamed(t.CAFile) // a fault is noted above
		t.CA = remote.Certificates(string(text))
	}
	if t.KeysFile != "" {
		files.Permissions(d, at+".keysFile", t.KeysFile, files.WritableByOthers)
		text, err := files.ReadNamed(t.KeysFile)
		if err != nil {
			d.Fault(nil, at+".keysFile", "%v", err)
		}
		t.Keys = string(text)
	}
	if t.Certificates == nil {
		return
	}
	key := at + ".certificates."
	if t.Certificates.CAFile == "" {
		d.Fault(nil, key+"caFile", "must name the file of the authorities")
	}
	t.Authorities = files.Authorities(d, key+"caFile", t.Certificates.CAFile)
	if t.Authorities != nil {
		text, _ := files.ReadNamed(t.Certificates.CAFile) // a fault is noted above
		t.PEM = string(text)
	}
	if name := t.Certificates.CRLFile; name != "" {
		files.Permissions(d, key+"crlFile", name, files.WritableByOthers)
		text, err := files.ReadNamed(name)
		if err == nil {
			t.PEM += string(text)
			t.Revoked, err = readRevoked(text, t.PEM)
		}
		if err != nil {
			d.Fault(nil, key+"crlFile", "%v", err)
		}
	}
}

// readRevoked reads lists of revoked certificates in PEM, each signed by an authority of the entry.
func readRevoked(text []byte, authorities string) (map[string]*x509.RevocationList, error) {
	lists := map[string]*x509.RevocationList{}
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		list, err := x509.ParseRevocationList(block.Bytes)
		if block.Type != "X509 CRL" || err != nil {
			return nil, fmt.Errorf("must hold lists of revoked certificates in PEM")
		}
		if !signedByOne(list, []byte(authorities)) {
			return nil, fmt.Errorf("holds a list that no authority of caFile has signed")
		}
		lists[string(list.RawIssuer)] = list
	}
	if len(lists) == 0 {
		return nil, fmt.Errorf("must hold lists of revoked certificates in PEM")
	}
	return lists, nil
}

func signedByOne(list *x509.RevocationList, authorities []byte) bool {
	for block, rest := pem.Decode(authorities); block != nil; block, rest = pem.Decode(rest) {
		if one, err := x509.ParseCertificate(block.Bytes); err == nil && list.CheckSignatureFrom(one) == nil {
			return true
		}
	}
	return false
}

// keystone is the entry whose callers bring tokens of a Keystone; nil if there is none.
func (c *config) keystone() *keystoneCallers {
	for _, t := range c.Trust {
		if t.Keystone != nil {
			return t.Keystone
		}
	}
	return nil
}

// entries are the entries of the table of trust but Keystone's.
func (c *config) entries() []trust.Authority {
	var all []trust.Authority
	for _, t := range c.Trust {
		if t.Keystone == nil {
			all = append(all, t.Authority)
		}
	}
	return all
}

// letsIn reports whether an entry lets callers in.
func (c *config) letsIn() bool {
	for _, t := range c.Trust {
		if t.Keystone != nil || len(t.Principals) > 0 {
			return true
		}
	}
	return false
}

// clientCAs are the authorities of the certificates that registered clients log in with; nil: there are none.
func (c *config) clientCAs() *x509.CertPool {
	return c.authorities(func(t trust.Authority) bool { return len(t.Principals) == 0 })
}

func everyEntry(trust.Authority) bool { return true }

// authorities are those of the entries that are meant; nil: there are none.
func (c *config) authorities(meant func(trust.Authority) bool) *x509.CertPool {
	var text strings.Builder
	for _, t := range c.entries() {
		if t.Certified() && meant(t) {
			text.WriteString(t.PEM + "\n")
		}
	}
	if text.Len() == 0 {
		return nil
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM([]byte(text.String()))
	return pool
}

// trusted is the table as a reload compares it: the files' contents count, and not Keystone's entry.
func (c *config) trusted() any {
	all := c.entries()
	for i := range all {
		all[i].Authorities, all[i].Revoked = nil, nil // are in PEM
	}
	return all
}

// fields is the vocabulary of a Keystone.
func (k *keystoneCallers) fields(d *strictyaml.Document) strictyaml.Fields {
	return strictyaml.Fields{
		"authURL": d.Text(&k.AuthURL),
		"caFile":  d.Text(&k.CAFile),
		"timeout": d.Duration(&k.Timeout),
		"auth":    d.Section(k.Auth.fields(d)),
		"roles":   labelled(d, &k.Roles),
	}
}

func (k *keystoneCallers) open(log *slog.Logger, loggedIn func(context.Context, policy.Principal)) (*openstack.Callers, error) {
	o := k.with(k.Auth)
	o.Log, o.LoggedIn = log, loggedIn
	return openstack.NewCallers(o)
}

const (
	// tokenAlarmAgain is how soon another use of the same token raises the alarm again.
	tokenAlarmAgain = time.Hour
	// maxSeen bounds the callers whose roles are remembered.
	maxSeen = 20_000
)

// watched is what is remembered of callers between requests. Safe for concurrent use.
type watched struct {
	mu     sync.Mutex
	tokens map[string]time.Time // when an alarm was raised
	roles  map[string]string
}

// tokenUsed notes the use of a static token, and raises an alarm where the site wants one.
func (s *server) tokenUsed(id string) {
	s.broker.TokenUsed(id)
	if !s.live.now.Load().TokensAlarm {
		return
	}
	now := s.store.Now()
	s.watched.mu.Lock()
	told, again := s.watched.tokens[id]
	again = again && now.Before(told.Add(tokenAlarmAgain))
	if !again {
		if s.watched.tokens == nil {
			s.watched.tokens = map[string]time.Time{}
		}
		s.watched.tokens[id] = now
	}
	s.watched.mu.Unlock()
	if !again {
		s.log.Error("a token of the tokens file is used, although tokensAlarm says that callers come otherwise", "token", id)
	}
}

// cameIn decides anew on the leases of a caller of the table of trust who has other roles than before.
func (s *server) cameIn(ctx context.Context, p policy.Principal) {
	if !s.config.Terms.EndWithAccess {
		return
	}
	whose, roles := p.Name+" "+p.Project, strings.Join(p.Roles, " ")
	s.watched.mu.Lock()
	same := s.watched.roles[whose] == roles
	if s.watched.roles == nil || len(s.watched.roles) >= maxSeen {
		s.watched.roles = map[string]string{}
	}
	s.watched.roles[whose] = roles
	s.watched.mu.Unlock()
	if !same {
		s.loggedIn(ctx, p)
	}
}
