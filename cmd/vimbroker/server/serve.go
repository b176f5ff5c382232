package server

import (
	"cmp"
	"context"
	_ "embed"
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
//
//go:embed serve.txt
var serveHelp string

func (p *program) serveCommand() *cobra.Command {
	var f serveFlags
	c := &cobra.Command{
		Use:   "serve --config FILE | --dev",
		Short: "Run the server",
		Long:  strings.TrimSpace(serveHelp),
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
				_, err = fmt.Fprintf(p.Out, "%s has no fault\n", cmp.Or(f.configFile, "serve --dev"))
				return err
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
	console.MustChoose(c, "log-level", "debug", "info", "warn", "error")
	console.MustChoose(c, "log-format", "json", "text")
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
