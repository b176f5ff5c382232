package server

import (
	"cmp"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/broker/api/limit"
	"github.com/vimbroker/vimbroker/broker/strictyaml"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/files"
	"github.com/vimbroker/vimbroker/drivers/kubernetes"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/catalog"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/policy/egress"
)

// config is the configuration of serve. In the file, keys are spelled as in
// [config.fields]; a key that is absent means what defaults gives it.
type config struct {
	// Dev marks the try-out mode; only the flag sets it.
	Dev bool
	// Listen is host:port; port 0 takes a free one.
	Listen string
	// TLS holds the server's certificate chain and key, PEM. Both are needed
	// unless Listen is a loopback address.
	TLS struct{ CertFile, KeyFile string }
	// DataDir holds the database and the key directory.
	DataDir string
	// Database is where VIMs, leases and the audit log are kept.
	Database databaseConfig
	// KeyStores are the stores of keys: the first takes new ones, the others are read,
	// and emptied by "key migrate". None in the file means one key directory, in DataDir.
	KeyStores []keyStoreConfig
	// TokensFile lists the callers' tokens, by digest.
	TokensFile string
	// Trust is the table of those who say who further callers are.
	Trust []trustConfig
	// TokensAlarm raises an alarm where a token of TokensFile is used.
	TokensAlarm bool
	// TackerAPI is OpenStack Tacker's VIM API, at GET / and under /v1.0. Compat answers
	// with the status codes that Tacker's server sends instead of those it documents.
	TackerAPI struct{ Enabled, Compat bool }
	// ONAP is the API of ONAP's Kubernetes plugin, under /onap.
	ONAP onapConfig
	// Issuer is the URL by which clients know the server; empty: it gives clients no tokens.
	Issuer string
	// IssuerCAFile holds the authorities of the certificate by which clients know the server; empty: they
	// are in TLS.CertFile.
	IssuerCAFile string
	// SOL003 are the doors of ETSI's APIs, under /vnfpkgm, /vnflcm and /grant.
	SOL003 struct {
		// GrantLater: a grant request is answered with 202, and decided on when it is asked for.
		GrantLater bool
		Enabled    bool
		// VNFMCAFile holds the authorities of the certificates of VNFMs that are asked about their
		// operations; empty means the system's.
		VNFMCAFile string
		// SignersFile holds the authorities whose signers of packages are trusted; empty: none.
		SignersFile string
		// Notifications say how subscribers are met.
		Notifications notificationsConfig
	}
	// UI is the page for people's browsers, under /ui.
	UI struct{ Enabled bool }
	// Charts say how Helm charts are had that are in no package.
	Charts chartsConfig
	// VNF is [lifecycle.DefaultTerms] unless the file sets it.
	VNF lifecycle.Terms
	// Packages are [catalog.DefaultTerms] unless the file sets them.
	Packages catalog.Terms
	// Managements are the management clusters that are enabled at each start.
	Managements []managementConfig
	// PushTargets are where kubeconfigs may be pushed to.
	PushTargets []broker.PushTarget
	// TrustedProxies are in front of the server. Networks are addresses and CIDRs.
	TrustedProxies struct {
		Networks   []string
		Header     string
		ClientCert bool
	}
	// Limits bound the requests of callers; [api.DefaultLimits] unless the file sets them.
	Limits api.Limits
	// ReservedLabels are as in [broker.Options].
	ReservedLabels []string
	// PolicyDir holds more Cedar files (*.cedar); empty means only the built-in policies.
	PolicyDir string
	// Egress bounds what drivers may connect to; Projects override it whole.
	Egress   egressConfig
	Projects map[string]egressConfig
	// Terms are [broker.DefaultTerms] unless the file sets them; a quota of 0 means no
	// bound.
	Terms broker.Terms
	// StackTrustees are the ids of the users that Heat makes its stacks' trusts for.
	StackTrustees []string
	// Audit configures the audit log.
	Audit auditConfig
	// Trial says which fresh leases on clusters are tried; Escalating names further
	// namespaces whose identities can escalate, in addition to those found on the cluster.
	Trial      kubernetes.Trial
	Escalating []string
	LogLevel   slog.Level
	// LogFormat is "json" or "text".
	LogFormat string
	// ShutdownDelay is the time after a signal during which the server still serves while
	// /readyz says that it is not ready; ShutdownGrace is the time that requests may take
	// after that.
	ShutdownDelay, ShutdownGrace time.Duration

	// The content of the files named above; see [config.load].
	certificate *certificate
	tokens      *policy.StaticTokens
	policies    *policy.Policies
	egress      *projectRules
	proxies     api.Proxies
	signers     *x509.CertPool
	issuerPEM   string // of IssuerCAFile
}

// egressConfig is one set of egress rules as text; empty lists mean the default.
type egressConfig struct {
	AllowLoopback bool
	Networks      []string
	Ports         []string
}

// defaults returns the configuration of an empty file.
func defaults(env console.Environment) config {
	return config{
		UI: struct{ Enabled bool }{true},

		Listen:   console.DefaultListen,
		DataDir:  stateDir(env),
		Terms:    broker.DefaultTerms(),
		Packages: catalog.DefaultTerms(),
		VNF:      lifecycle.DefaultTerms(),
		ONAP:     onapConfig{Wait: 10 * time.Minute},
		Limits:   api.DefaultLimits(),

		LogFormat:     "json",
		ShutdownGrace: 30 * time.Second,
	}
}

// stateDir is $XDG_STATE_HOME/vimbroker, or ~/.local/state/vimbroker, or empty
// where neither variable is set.
func stateDir(env console.Environment) string {
	if dir := env.Get("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "vimbroker")
	}
	if home := env.Get("HOME"); home != "" {
		return filepath.Join(home, ".local", "state", "vimbroker")
	}
	return ""
}

// fields is the file's vocabulary.
func (c *config) fields(d *strictyaml.Document) strictyaml.Fields {
	return strictyaml.Fields{
		"listen":  d.Text(&c.Listen),
		"dataDir": d.Text(&c.DataDir),
		"tls": d.Section(strictyaml.Fields{
			"certFile": d.Text(&c.TLS.CertFile),
			"keyFile":  d.Text(&c.TLS.KeyFile),
		}),
		"database": func(n *yaml.Node, at string) { d.Mapping(n, at, c.Database.fields(d)) },
		"keyStores": func(n *yaml.Node, at string) {
			files.Listed(d, &c.KeyStores, (*keyStoreConfig).fields)(n, at)
			if n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
				d.Fault(n, at, "must list a key store, or be left out")
			}
		},
		"tokensFile":  d.Text(&c.TokensFile),
		"tokensAlarm": d.Flag(&c.TokensAlarm),
		"trust":       files.Listed(d, &c.Trust, (*trustConfig).fields),
		"tackerAPI": d.Section(strictyaml.Fields{
			"enabled": d.Flag(&c.TackerAPI.Enabled),
			"compat": text(d, "tacker, or be left out", func(s string) bool {
				c.TackerAPI.Compat = s == "tacker"
				return s == "" || s == "tacker"
			}),
		}),
		"onapAPI": d.Section(c.ONAP.fields(d)),
		"oauth": d.Section(strictyaml.Fields{
			"issuer": d.Text(&c.Issuer),
			"caFile": d.Text(&c.IssuerCAFile),
		}),
		"sol003": d.Section(c.etsiFields(d)),
		"ui":     d.Section(strictyaml.Fields{"enabled": d.Flag(&c.UI.Enabled)}),
		"charts": d.Section(c.Charts.fields(d)),
		"vnf": d.Section(strictyaml.Fields{
			"driftInterval":        d.Duration(&c.VNF.DriftEvery),
			"operationsPerVIM":     d.Count(&c.VNF.PerVIM),
			"operationsPerProject": d.Count(&c.VNF.PerProject),
		}),
		"managementClusters": files.Listed(d, &c.Managements, (*managementConfig).fields),
		"pushTargets":        files.Listed(d, &c.PushTargets, targetFields),
		"trustedProxies": d.Section(strictyaml.Fields{
			"networks": d.Texts(&c.TrustedProxies.Networks),
			"header":   d.Text(&c.TrustedProxies.Header),

			"clientCert": d.Flag(&c.TrustedProxies.ClientCert),
		}),
		"reservedLabels": func(n *yaml.Node, at string) {
			d.Texts(&c.ReservedLabels)(n, at)
			if slices.Contains(c.ReservedLabels, "") {
				d.Fault(n, at, "must not hold an empty text, which every label begins with")
			}
		},
		"policyDir": d.Text(&c.PolicyDir),
		"egress":    d.Section(c.egressFields(d)),
		"lease":     d.Section(c.leaseFields(d)),
		"limits": d.Section(strictyaml.Fields{
			"address":   d.Section(strictyaml.Fields{"perSecond": rate(d, &c.Limits.Address)}),
			"principal": bound(d, &c.Limits.Principal),
			"project":   bound(d, &c.Limits.Project),
			"inFlight":  d.Count(&c.Limits.InFlight),
		}),
		"quota": d.Section(c.quotaFields(d)),
		"audit": func(n *yaml.Node, at string) {
			allowed := c.Audit.fields(d)
			allowed["checkpointInterval"] = d.Duration(&c.Terms.CheckpointEvery)
			d.Mapping(n, at, allowed)
		},
		"retention": d.Section(strictyaml.Fields{
			"audit":  keepFor(d, &c.Terms.Keep.Audit),
			"leases": keepFor(d, &c.Terms.Keep.Leases),
		}),
		"checkInterval": d.Duration(&c.Terms.CheckEvery),
		"log": d.Section(strictyaml.Fields{
			"level": text(d, "debug, info, warn or error", func(s string) bool {
				return s == "" || c.LogLevel.UnmarshalText([]byte(s)) == nil
			}),
			"format": d.Text(&c.LogFormat),
		}),
		"shutdownDelay": d.Duration(&c.ShutdownDelay),
		"shutdownGrace": d.Duration(&c.ShutdownGrace),
	}
}

// egressFields is the vocabulary of the key egress.
func (c *config) egressFields(d *strictyaml.Document) strictyaml.Fields {
	allowed := c.Egress.fields(d)
	allowed["projects"] = func(n *yaml.Node, at string) {
		c.Projects = make(map[string]egressConfig)
		d.Pairs(n, at, func(key, value *yaml.Node, path string) {
			var e egressConfig
			d.Mapping(value, path, e.fields(d))
			c.Projects[key.Value] = e
		})
	}
	return allowed
}

// etsiFields is the vocabulary of the key sol003.
func (c *config) etsiFields(d *strictyaml.Document) strictyaml.Fields {
	return strictyaml.Fields{
		"enabled":     d.Flag(&c.SOL003.Enabled),
		"signersFile": d.Text(&c.SOL003.SignersFile),
		"grantLater":  d.Flag(&c.SOL003.GrantLater),
		"vnfmCAFile":  d.Text(&c.SOL003.VNFMCAFile),
		"notifications": d.Section(strictyaml.Fields{
			"caFile":   d.Text(&c.SOL003.Notifications.CAFile),
			"certFile": d.Text(&c.SOL003.Notifications.CertFile),
			"keyFile":  d.Text(&c.SOL003.Notifications.KeyFile),
		}),
	}
}

// leaseFields is the vocabulary of the key lease.
func (c *config) leaseFields(d *strictyaml.Document) strictyaml.Fields {
	return strictyaml.Fields{
		"defaultTTL":    d.Duration(&c.Terms.DefaultTTL),
		"maxTTL":        d.Duration(&c.Terms.MaxTTL),
		"standingTTL":   d.Duration(&c.Terms.StandingTTL),
		"standingIdle":  d.Duration(&c.Terms.StandingIdle),
		"standingMax":   d.Duration(&c.Terms.StandingMax),
		"endWithAccess": d.Flag(&c.Terms.EndWithAccess),
		"removeLeft":    d.Flag(&c.Terms.RemoveLeft),
		"stackTrustees": d.Texts(&c.StackTrustees),
		"trial": text(d, "always, sampled or never", func(s string) bool {
			c.Trial = kubernetes.Trial(s)
			return slices.Contains(kubernetes.Trials, c.Trial)
		}),
		"escalatingNamespaces": d.Texts(&c.Escalating),
	}
}

// quotaFields is the vocabulary of the key quota.
func (c *config) quotaFields(d *strictyaml.Document) strictyaml.Fields {
	return strictyaml.Fields{
		"perPrincipal": d.Count(&c.Terms.Quota.PerPrincipal),
		"perClient":    d.Count(&c.Terms.Quota.PerClient),
		"perVIM":       d.Count(&c.Terms.Quota.PerVIM),
		"perProject":   d.Count(&c.Terms.Quota.PerProject),
		"vims":         d.Count(&c.Terms.VIMs.PerProject),
		"packages":     d.Count(&c.Packages.PerProject),
		"vnfInstances": d.Count(&c.VNF.Instances),
		"links":        d.Count(&c.VNF.Links),
		"packageMiB":   mebibytes(d, &c.Packages.MaxSize),
		"packagesMiB":  mebibytes(d, &c.Packages.BytesPerProject),
	}
}

// text reads a text that take takes; want says which it does.
func text(d *strictyaml.Document, want string, take func(string) bool) strictyaml.ReadValue {
	return func(n *yaml.Node, at string) {
		var s string
		if d.Text(&s)(n, at); !take(s) {
			d.Fault(n, at, "must be %s", want)
		}
	}
}

// bound reads what one caller or project may do.
func bound(d *strictyaml.Document, to *limit.Bound) strictyaml.ReadValue {
	return d.Section(strictyaml.Fields{"perSecond": rate(d, to), "inFlight": d.Count(&to.InFlight)})
}

// rate reads the requests a second; twice as many may come at once after a rest.
func rate(d *strictyaml.Document, to *limit.Bound) strictyaml.ReadValue {
	return func(n *yaml.Node, at string) {
		d.Count(&to.PerSecond)(n, at)
		to.Burst = 2 * to.PerSecond
	}
}

// mebibytes reads a number of bytes, which is written in MiB.
func mebibytes(d *strictyaml.Document, to *int64) strictyaml.ReadValue {
	return func(n *yaml.Node, at string) {
		count := int(*to >> 20)
		d.Count(&count)(n, at)
		*to = int64(count) << 20
	}
}

func (e *egressConfig) fields(d *strictyaml.Document) strictyaml.Fields {
	return strictyaml.Fields{
		"allowLoopback": d.Flag(&e.AllowLoopback),
		"networks":      d.Texts(&e.Networks),
		"ports":         d.Texts(&e.Ports),
	}
}

// loadConfig reads a file over the defaults, and lets override have the last word.
// The one error holds every fault of the file, and of the files that it names.
func loadConfig(name string, env console.Environment, override func(*config, *strictyaml.Document)) (config, error) {
	c, d, err := parseConfig(name, env)
	if err != nil {
		return c, err
	}
	override(&c, d)
	c.validate(d)
	c.load(d)
	return c, d.Err()
}

// loadDatabase is loadConfig of a configuration of which only the database is used:
// of the files that it names it reads no other. They may be there for the server
// alone, and while it runs.
func loadDatabase(name string, env console.Environment) (config, error) {
	c, d, err := parseConfig(name, env)
	if err != nil {
		return c, err
	}
	c.validate(d)
	c.Database.load(d)
	return c, d.Err()
}

// parseConfig reads a file over the defaults, and none that it names.
func parseConfig(name string, env console.Environment) (config, *strictyaml.Document, error) {
	c := defaults(env)
	text, err := files.ReadNamed(name)
	if err != nil {
		return c, nil, fmt.Errorf("reading the configuration: %w", err)
	}
	d := &strictyaml.Document{Name: name}
	if root := d.Parse(text); root != nil {
		d.Mapping(root, "", c.fields(d))
	}
	if fault := files.WritableByOthers(name); fault != "" {
		d.Fault(nil, "", "%s", fault)
	}
	return c, d, nil
}

// validate notes every fault that can be told without opening the data directory.
func (c *config) validate(d *strictyaml.Document) {
	need := func(ok bool, key, format string, args ...any) {
		if !ok {
			d.Fault(nil, key, format, args...)
		}
	}
	host, port, err := net.SplitHostPort(c.Listen)
	_, portErr := strconv.ParseUint(port, 10, 16)
	need(err == nil && portErr == nil, "listen", "must be host:port, like %s", console.DefaultListen)
	need(c.DataDir != "", "dataDir", "must name a directory (neither XDG_STATE_HOME nor HOME is set)")

	switch withTLS := c.TLS.CertFile != "" || c.TLS.KeyFile != ""; {
	case c.Dev:
		need(err != nil || egress.OwnHost(host), "listen",
			"--dev serves plain HTTP, so it listens on 127.0.0.1 or [::1] only; use --config for other addresses")
	case withTLS:
		need(c.TLS.CertFile != "", "tls.certFile", "must name the certificate chain that belongs to tls.keyFile")
		need(c.TLS.KeyFile != "", "tls.keyFile", "must name the key that belongs to tls.certFile")
	default:
		need(err != nil || egress.OwnHost(host), "tls", "must be set (certFile and keyFile) unless listen is a loopback address")
	}
	if !c.Dev && !c.letsIn() {
		need(c.TokensFile != "", "tokensFile",
			"must name the file of callers' tokens; make its first line with: vimbroker token new --name NAME --project PROJECT --role admin")
	}
	need(c.Issuer == "" || issuerForm(c.Issuer), "oauth.issuer",
		"must be an https URL without path, query and fragment, like https://vimbroker.example:8443; http only on loopback")
	need(c.IssuerCAFile == "" || https(c.Issuer), "oauth.caFile", "needs an oauth.issuer that is https: there is no certificate otherwise")
	c.validateKeyStores(d)
	c.Audit.validate(d)
	need((c.SOL003.Notifications.CertFile == "") == (c.SOL003.Notifications.KeyFile == ""),
		"sol003.notifications.certFile", "and keyFile go together")
	c.validateManagements(d)
	c.validateTargets(d)
	need(c.Terms.DefaultTTL <= c.Terms.MaxTTL, "lease.defaultTTL", "must not be longer than lease.maxTTL (%v)", c.Terms.MaxTTL)
	need(c.Terms.MaxTTL >= 10*time.Minute, "lease.maxTTL", "must be at least 10m, the shortest lease that Kubernetes gives")
	need(c.Terms.StandingTTL >= 10*time.Minute, "lease.standingTTL", "must be at least 10m, the shortest token that Kubernetes gives")
	need(c.Terms.StandingIdle >= time.Hour, "lease.standingIdle", "must be at least 1h")
	need(c.Terms.StandingIdle <= c.Terms.StandingMax, "lease.standingIdle",
		"must not be longer than lease.standingMax (%v)", c.Terms.StandingMax)
	c.validateLimits(need)
	need(c.ShutdownDelay <= maxShutdownDelay, "shutdownDelay", "must be at most %v", maxShutdownDelay)
	need(c.Packages.MaxSize > 0, "quota.packageMiB", "must be at least 1")
	need(c.VNF.DriftEvery >= time.Minute, "vnf.driftInterval", "must be at least 1m")
	need(c.VNF.PerVIM >= 1 && c.VNF.PerVIM <= maxOperations, "vnf.operationsPerVIM", "must be 1 to %d", maxOperations)
	need(c.VNF.PerProject >= 1 && c.VNF.PerProject <= maxOperations, "vnf.operationsPerProject", "must be 1 to %d", maxOperations)
	need(c.Terms.CheckEvery >= 10*time.Second, "checkInterval", "must be at least 10s")
	need(c.Terms.CheckpointEvery >= time.Second, "audit.checkpointInterval", "must be at least 1s")
	need(slices.Contains([]string{"json", "text"}, c.LogFormat), "log.format", "must be json or text")
	c.proxies = c.trustedProxies(d)
}

// https reports whether a URL is one of TLS.
func https(at string) bool { return strings.HasPrefix(at, "https:") }

// issuerForm reports whether a text can be an issuer (RFC 8414 section 2). It has no path, so
// that the metadata are at one place for all who look for them.
func issuerForm(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.Path != "" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || u.User != nil {
		return false
	}
	return u.Scheme == "https" || u.Scheme == "http" && egress.OwnHost(u.Hostname())
}

// validateLimits notes what would refuse everybody, or more than it says.
func (c *config) validateLimits(need func(ok bool, key, format string, args ...any)) {
	l := c.Limits
	need(l.InFlight == 0 || l.InFlight >= minInFlight, "limits.inFlight", "must be at least %d, or 0 for no bound", minInFlight)
	need(l.InFlight == 0 || l.Project.InFlight <= l.InFlight, "limits.project.inFlight",
		"must not be more than limits.inFlight (%d)", l.InFlight)
}

// maxShutdownDelay bounds how long a server that is told to stop does nothing about it.
const maxShutdownDelay = 5 * time.Minute

// maxOperations bounds how many operations on VNF instances may be worked at the same time.
const maxOperations = 1000

// minInFlight is the least number of requests that a server takes at a time.
const minInFlight = 8

// trustedProxies makes networks of the configuration's strings; it notes every fault.
func (c *config) trustedProxies(d *strictyaml.Document) api.Proxies {
	p := api.Proxies{Header: http.CanonicalHeaderKey(cmp.Or(c.TrustedProxies.Header, api.ForwardedFor))}
	p.ClientCert = c.TrustedProxies.ClientCert
	if p.Header != api.ForwardedFor && p.Header != api.Forwarded {
		d.Fault(nil, "trustedProxies.header", "must be %s or %s, whichever the proxies set", api.ForwardedFor, api.Forwarded)
	}
	for _, text := range c.TrustedProxies.Networks {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			addr, addrErr := netip.ParseAddr(text)
			network, err = netip.PrefixFrom(addr, addr.BitLen()), addrErr
		}
		switch {
		case err != nil:
			d.Fault(nil, "trustedProxies.networks", "%s is no address and no network like 10.0.0.0/8", strictyaml.Printable(text))
		case network.Bits() == 0:
			d.Fault(nil, "trustedProxies.networks", "%s is everybody; name where the proxies are", strictyaml.Printable(text))
		}
		p.Networks = append(p.Networks, network)
	}
	return p
}

// minKeep is the shortest time that the past is kept.
const minKeep = 24 * time.Hour

// keepFor reads how long the past is kept.
func keepFor(d *strictyaml.Document, to *time.Duration) strictyaml.ReadValue {
	return func(n *yaml.Node, at string) {
		var s string
		d.Text(&s)(n, at)
		switch kept, err := time.ParseDuration(s); {
		case s == "":
		case s == "forever":
			*to = 0
		case err != nil || kept < minKeep:
			d.Fault(n, at, "must be forever, or a duration of at least 24h, like 8760h")
		default:
			*to = kept
		}
	}
}
