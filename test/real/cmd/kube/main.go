// Command kube starts a throw-away Kubernetes on loopback, says how to reach it,
// and stops it on Ctrl-C: what the README's story needs where there is no cluster
// at hand.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/vimbroker/vimbroker/test/process"
	"github.com/vimbroker/vimbroker/test/real"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "kube:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("kube", flag.ContinueOnError)
	flags.SetOutput(stderr)
	out := flags.String("write-kubeconfig", "", "also write the kubeconfig to this file (0600), and remove it at the end")
	vimFile := flags.String("write-vim-file", "", "write a Tacker VIM file with a bearer token of 24 h to this file (0600), and remove it at the end")
	if err := flags.Parse(args); err != nil {
		return err
	}
	dir, remove, err := process.Dir("vimbroker-kube-")
	if err != nil {
		return fmt.Errorf("making a directory: %w", err)
	}
	defer remove()
	fmt.Fprintln(stderr, "starting etcd, kube-apiserver, kube-controller-manager and a simulated node on loopback ...")
	began := time.Now()
	c, err := real.StartKubernetes(ctx, dir)
	if err != nil {
		return err
	}
	defer c.Stop()
	nodes, err := real.StartNodes(ctx, c)
	if err != nil {
		return err
	}
	defer nodes.Stop()
	kubeconfig := c.Kubeconfig
	if *out != "" {
		text, err := os.ReadFile(c.Kubeconfig)
		if err != nil {
			return fmt.Errorf("reading kubeconfig: %w", err)
		}
		if kubeconfig, err = leave(*out, text); err != nil {
			return err
		}
		defer os.Remove(kubeconfig)
	}
	if *vimFile != "" {
		token, err := c.NewAdminToken(ctx, real.MaxTokenTTL)
		if err != nil {
			return err
		}
		path, err := leave(*vimFile, fmt.Appendf(nil, "auth_url: %q\nbearer_token: %q\nssl_ca_cert: %q\nproject_name: \"default\"\ntype: \"kubernetes\"\n",
			c.Endpoint, token, strings.TrimSpace(c.CAPEM)))
		if err != nil {
			return err
		}
		defer os.Remove(path)
		fmt.Fprintf(stderr, "VIM file: %s\n", path)
	}
	fmt.Fprintf(stderr, "ready after %s at %s; logs in %s; Ctrl-C stops it and removes everything\n",
		time.Since(began).Round(100*time.Millisecond), c.Endpoint, c.Dir)
	fmt.Fprintf(stdout, "export KUBECONFIG=%s\nexport PATH=%s:$PATH\n", quote(kubeconfig), quote(filepath.Dir(c.Kubectl)))
	<-ctx.Done()
	return nil
}

// leave writes a file that must not be there yet, and returns its full path.
func leave(path string, text []byte) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("finding %s: %w", path, err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return "", fmt.Errorf("writing %s: %w", filepath.Base(path), err)
	}
	_, err = f.Write(text)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		_ = os.Remove(path)
		return "", fmt.Errorf("writing %s: %w", filepath.Base(path), err)
	}
	return path, nil
}

// quote makes a word of a shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
