// Command fakekube runs a fake Kubernetes API server as a process of its own, so
// that its state outlives the crashes of whoever is tested against it. It writes
// one line of JSON to stdout when it is ready, and ends on SIGINT or SIGTERM.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/vimbroker/vimbroker/test/fakekube"
)

// ready is the line on stdout.
type ready struct {
	Endpoint string `json:"endpoint"`
	// CA is the path of a PEM file, CACert what is in it.
	CA         string `json:"ca"`
	CACert     string `json:"caCert"`
	AdminToken string `json:"adminToken"`
	Username   string `json:"username"`
	Password   string `json:"password"`
	// Kubeconfig is the path of a kubeconfig with AdminToken.
	Kubeconfig string `json:"kubeconfig"`
	// Control is the URL of the control endpoint: see fakekube.Server.Control.
	Control string `json:"control"`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "fakekube:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("fakekube", flag.ContinueOnError)
	addr := flags.String("listen", "127.0.0.1:0", "where the API server listens")
	lag := flags.Duration("cache-lag", 0, "how long a token that was used is taken after it has died")
	maxTTL := flags.Duration("max-token-ttl", 0, "the most that a token lasts (0: 24h)")
	dir := flags.String("dir", "", "where the CA file and the kubeconfig go (default: a new temporary directory, removed at the end)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *dir == "" {
		made, err := os.MkdirTemp("", "fakekube-")
		if err != nil {
			return fmt.Errorf("making a directory: %w", err)
		}
		defer os.RemoveAll(made)
		*dir = made
	}
	s, err := fakekube.Start(fakekube.Options{Addr: *addr, CacheLag: *lag, MaxTokenTTL: *maxTTL})
	if err != nil {
		return err
	}
	defer s.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("starting control endpoint: %w", err)
	}
	control := &http.Server{Handler: s.Control(), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = control.Serve(listener) }()
	defer control.Close()

	line := ready{
		Endpoint: s.Endpoint, CA: filepath.Join(*dir, "ca.pem"), CACert: s.CA, AdminToken: s.AdminToken,
		Username: s.Username, Password: s.Password,
		Kubeconfig: filepath.Join(*dir, "kubeconfig"), Control: "http://" + listener.Addr().String(),
	}
	for path, text := range map[string]string{line.CA: s.CA, line.Kubeconfig: s.Kubeconfig()} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return fmt.Errorf("writing %s: %w", filepath.Base(path), err)
		}
	}
	if err := json.NewEncoder(stdout).Encode(line); err != nil {
		return fmt.Errorf("announcing: %w", err)
	}
	<-ctx.Done()
	return nil
}
