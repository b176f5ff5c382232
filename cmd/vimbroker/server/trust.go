package server

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/vimbroker/vimbroker/broker/strictyaml"
	"github.com/vimbroker/vimbroker/broker/trust"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/files"
	"github.com/vimbroker/vimbroker/drivers/openstack"
	"github.com/vimbroker/vimbroker/policy"
)

// trustConfig is one entry of the table of trust: only the configuration has one of Keystone.
type trustConfig struct {
	files.TrustEntry
	Keystone *keystoneCallers
}

// fields is the vocabulary of one.
func (t *trustConfig) fields(d *strictyaml.Document) strictyaml.Fields {
	all := t.Fields(d)
	all["keystone"] = func(n *yaml.Node, at string) {
		files.Made(d, &t.Keystone, (*keystoneCallers).fields)(n, at)
		t.Authority.Keystone = t.Keystone.AuthURL
	}
	return all
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
		t.Load(d, at+".")
		t.Authority = t.WithDefaults()
		for _, f := range t.Flaws() {
			d.Fault(nil, at+"."+f.Field, "%s", f.Text)
		}
		if t.Certified() && c.TLS.CertFile == "" && len(c.TrustedProxies.Networks) == 0 {
			d.Fault(nil, at+".certificates", "needs tls, or trustedProxies with clientCert: callers show certificates while connecting")
		}
	}
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

// entries are the entries of the table of trust.
func (c *config) entries() []trust.Authority {
	all := make([]trust.Authority, len(c.Trust))
	for i, t := range c.Trust {
		all[i] = t.Authority
	}
	return all
}

// certified reports whether callers have certificates.
func (c *config) certified() bool { return slices.ContainsFunc(c.entries(), trust.Authority.Certified) }

// mutual reports whether callers can show certificates.
func (c *config) mutual() bool { return c.TLS.CertFile != "" || c.TrustedProxies.ClientCert }

// letsIn reports whether an entry lets callers in.
func (c *config) letsIn() bool {
	for _, t := range c.Trust {
		if t.Keystone != nil || len(t.Principals) > 0 {
			return true
		}
	}
	return false
}

// trusted is the table as a reload compares it: the files' contents count, and not Keystone's entry.
func (c *config) trusted() any {
	text, _ := json.Marshal(slices.DeleteFunc(c.entries(), func(e trust.Authority) bool { return e.Keystone != "" }))
	return string(text) // of texts, numbers and lists
}

// fields is the vocabulary of a Keystone.
func (k *keystoneCallers) fields(d *strictyaml.Document) strictyaml.Fields {
	return strictyaml.Fields{
		"authURL": d.Text(&k.AuthURL),
		"caFile":  d.Text(&k.CAFile),
		"timeout": d.Duration(&k.Timeout),
		"auth":    d.Section(loginFields(&k.Login, d)),
		"roles":   files.Words(d, &k.Roles),
	}
}

func (k *keystoneCallers) open(log *slog.Logger, loggedIn func(context.Context, policy.Principal)) (*openstack.Callers, error) {
	o := k.CallersOptions
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
