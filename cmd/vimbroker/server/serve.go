package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/strictyaml"
	"github.com/vimbroker/vimbroker/cmd/vimbroker/console"
	"github.com/vimbroker/vimbroker/policy/audit"
)

// serveFlags are the flags of serve; those that are given win over the file.
type serveFlags struct {
	configFile, listen, dataDir, logFormat, logLevel string
	dev, check                                       bool
}

// serveHelp has every key that a first configuration needs, with the meaning of its absence.
const serveHelp = `Run the server until SIGINT or SIGTERM. Then /readyz says that it is not ready,
it goes on for shutdownDelay, and requests under way are finished.

--dev is for trying things out: plain HTTP on loopback, an admin token in
DATADIR/dev-token, VIMs on loopback allowed. Everything else needs --config,
a YAML file. Unknown keys are refused, and every fault is reported at once; what
is left out means:

  listen: 127.0.0.1:8420      # host:port; port 0 takes a free one
  tls: {certFile: , keyFile: }  # needed unless listen is a loopback address
  dataDir: ~/.local/state/vimbroker   # or $XDG_STATE_HOME/vimbroker
  database:                   # none: a file in dataDir, for one server
    postgres: {dsnFile: , maxConns: 20, migrate: false}   # see "vimbroker db"
  keyStores:                  # the first takes new keys; also vault, barbican
    - keydir: {dir: DATADIR/keys}
  tokensFile:                 # needed, or trust; see "vimbroker token new"
  trust: []                   # who says who callers are: [{name, issuer | vim |
                              #   certificates | keystone, principals}]
  oauth: {issuer: , caFile: } # none: nobody gets a token of the server
  tackerAPI: {enabled: false, compat: }  # Tacker's /v1.0/vims; on with --dev
  # ONAP's Kubernetes plugin, /onap; on with --dev; connectivity: none leases
  # nothing, compat answers with ONAP's own codes, mostly 500:
  onapAPI: {enabled: false, connectivity: lease, compat: false, wait: 10m}
  # /vnfpkgm, /vnflcm and /grant; on with --dev:
  sol003: {enabled: false, signersFile: , grantLater: false, vnfmCAFile: }
    # notifications: {caFile: , certFile: , keyFile: }
  ui: {enabled: true}         # the page for browsers, under /ui
  trustedProxies: {networks: [], header: X-Forwarded-For}  # balancers before it
  reservedLabels: []          # besides vimbroker.io/: need vim:label-reserved
  policyDir:                  # *.cedar beside the built-in policies
  egress:                     # what VIM endpoints may be connected to
    allowLoopback: false
    networks: []              # none: every ordinary unicast network
    ports: []                 # none: 80, 443 and 1024-65535
    projects: {}              # project: {allowLoopback, networks, ports}
  lease:                      # the last three: leases that stand, for VNFMs
    {defaultTTL: 1h, maxTTL: 12h, endWithAccess: false,
     standingTTL: 15m, standingIdle: 168h, standingMax: 4320h}
  limits:                     # what callers may ask; 0: no bound
    address: {perSecond: 2000}
    principal: {perSecond: 500, inFlight: 64}
    project: {perSecond: 1000, inFlight: 96}
    inFlight: 256             # of all; beyond it, 503
  quota:                      # live leases; 0: no bound
    {perPrincipal: 1000, perClient: 10000, perVIM: 10000, perProject: 10000,
     vims: 5000, vnfInstances: 10000, links: 1000,  # of a project, too
     packages: 1000, packageMiB: 2048, packagesMiB: 20480}
  checkInterval: 5m
  audit:
    checkpointInterval: 1m    # how often the log is signed, if it has grown
    anchors: []               # [{name: , kind: file, path: }]: get checkpoints
    egress: {}                # where sinks may be, like egress
    sinks: []                 # {name, kind: file|syslog|webhook, mode, within}
  retention:                  # how long the past is kept, or forever
    {audit: 43800h, leases: 8760h}
  log: {level: info, format: json}
  shutdownDelay:              # none; behind balancers, until they know: 5s
  shutdownGrace: 30s

deploy/vimbroker.yaml of the sources shows every key with a comment. On SIGHUP
the file is read again: tokens, trust, policies, egress rules, the certificate
and the issuer's authorities are replaced without a restart. A file with a
fault changes nothing, and the log says what is wrong. The log names each key
that changed and holds now, and each that needs a restart. A new database
password needs only a new dsnFile, which is read again before each connection,
as the files of key stores and Keystone are at each login. --check checks a
file without starting anything; "vimbroker reload" checks it, signals, and says
how the reload went.

It answers GET /healthz, /readyz, /metrics and /openapi.json without a token.`

func (p *program) serveCommand() *cobra.Command {
	var f serveFlags
	c := &cobra.Command{
		Use:   "serve --config FILE | --dev",
		Short: "Run the server",
		Long:  serveHelp,
		Example: `  vimbroker serve --dev
  vimbroker serve --dev --listen 127.0.0.1:8420 --data-dir ./data
  vimbroker serve --config /etc/vimbroker/vimbroker.yaml
  vimbroker serve --config /etc/vimbroker/vimbroker.yaml --check`,
		Args: console.Names(), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, _ []string) error {
			if f.dev == (f.configFile != "") {
				return console.Usagef(c, "give --config FILE, or --dev to try things out: one of the two")
			}
			read := func() (config, error) { return f.config(c, p.Env) }
			config, err := read()
			if err != nil {
				return err
			}
			if f.check {
				fmt.Fprintf(p.Out, "%s has no fault\n", cmp.Or(f.configFile, "serve --dev"))
				return nil
			}
			return p.serve(c.Context(), config, read)
		},
	}
	flags := c.Flags()
	flags.BoolVar(&f.dev, "dev", false, "try-out mode; NOT FOR PRODUCTION")
	flags.BoolVar(&f.check, "check", false, "only check the configuration and the files that it names; print every fault, one a line")
	flags.StringVar(&f.configFile, "config", "", "configuration file")
	flags.StringVar(&f.listen, "listen", "", "host:port to listen on (default "+console.DefaultListen+")")
	flags.StringVar(&f.dataDir, "data-dir", "",
		"directory of database and keys (default: $XDG_STATE_HOME/vimbroker or ~/.local/state/vimbroker)")
	flags.StringVar(&f.logLevel, "log-level", "", "debug, info, warn or error (default info)")
	flags.StringVar(&f.logFormat, "log-format", "", "json or text (default json, with --dev text)")
	console.MustComplete(c, "log-level", cobra.FixedCompletions([]string{"debug", "info", "warn", "error"},
		cobra.ShellCompDirectiveNoFileComp))
	console.MustComplete(c, "log-format", cobra.FixedCompletions([]string{"json", "text"}, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// config is the file's configuration, or that of the try-out mode, with the flags over it.
func (f *serveFlags) config(c *cobra.Command, env console.Environment) (config, error) {
	if f.dev {
		made := devConfig(env)
		d := &strictyaml.Document{Name: "serve --dev"}
		f.override(c, &made, d)
		made.validate(d)
		made.load(d)
		return made, d.Err()
	}
	return loadConfig(f.configFile, env, func(made *config, d *strictyaml.Document) { f.override(c, made, d) })
}

func (f *serveFlags) override(c *cobra.Command, made *config, d *strictyaml.Document) {
	changed := c.Flags().Changed
	if changed("listen") {
		made.Listen = f.listen
	}
	if changed("data-dir") {
		made.DataDir = f.dataDir
	}
	if changed("log-format") {
		made.LogFormat = f.logFormat
	}
	if changed("log-level") && made.LogLevel.UnmarshalText([]byte(f.logLevel)) != nil {
		d.Fault(nil, "log.level", "must be debug, info, warn or error")
	}
}

// serve runs the server until the context ends; read reads its configuration again.
func (p *program) serve(ctx context.Context, c config, read func() (config, error)) error {
	var hangups chan os.Signal
	if !c.Dev { // which has no file, and ends with its terminal
		hangups = make(chan os.Signal, 1)
		signal.Notify(hangups, syscall.SIGHUP)
		defer signal.Stop(hangups)
	}
	log := newLog(p.Err, c)
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", c.Listen)
	if err != nil {
		return unheard(c.Listen, err)
	}
	if c.Dev {
		c.Issuer = "http://" + l.Addr().String()
	}
	s, err := wire(ctx, c, p.Version, log)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	url := "http://" + l.Addr().String()
	if c.certificate != nil {
		url = "https://" + l.Addr().String()
		c.certificate.warn(log, time.Now())
	}
	reloads, end := context.WithCancel(ctx)
	reloading := make(chan struct{})
	go func() {
		defer close(reloading)
		s.live.reloadOn(reloads, hangups, read, log, s.record)
	}()
	defer func() { <-reloading }()
	defer end()
	log.Info("listening", "url", url, "dataDir", c.DataDir, "version", p.Version, "policies", c.policies.Hash())
	s.recordStart(ctx, audit.DetailVersion, p.Version, audit.DetailPolicies, c.policies.Hash())
	began := time.Now()
	err = s.run(ctx, l, func() {
		if c.Dev {
			p.announceDev(url, c, s.sessions.Link(devAdmin(), devLinkWithin))
		}
		log.Info("ready", "url", url, "after", time.Since(began))
	})
	log.Info("stopped")
	return errors.Join(err, s.Close())
}

// unheard says why nothing listens at an address, and what to do.
func unheard(address string, err error) error {
	_, port, _ := net.SplitHostPort(address)
	another := "choose another address with the key listen, or with --listen"
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("another program listens on %s; stop it (it is in the list of: ss -ltnp 'sport = :%s'), or %s", address, port, another)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("this machine has no address %s; %s", address, another)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("the system does not let this user listen on port %s; %s, with a port above 1023", port, another)
	}
	return fmt.Errorf("%w; %s", err, another)
}

// newLog writes structured lines; times are in UTC, and errors say their cause, which callers are not told.
func newLog(w io.Writer, c config) *slog.Logger {
	options := &slog.HandlerOptions{Level: c.LogLevel, ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey && len(groups) == 0 && a.Value.Kind() == slog.KindTime {
			a.Value = slog.TimeValue(a.Value.Time().UTC())
		}
		return broker.LogCause(groups, a)
	}}
	if strings.EqualFold(c.LogFormat, "text") {
		return slog.New(slog.NewTextHandler(w, options))
	}
	return slog.New(slog.NewJSONHandler(w, options))
}
