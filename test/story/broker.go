package story

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"os/exec"
	"regexp"
	"time"

	"github.com/vimbroker/vimbroker/test/process"
)

// Broker is a running server.
type Broker struct {
	*process.Process
	// URL is where it says that it listens.
	URL string
}

var listeningLine = regexp.MustCompile(`msg"?[=:]"?listening"?[, ]"?url"?[=:]"?(https?://[0-9.:]+)`)

// Serve starts "vimbroker serve" in dir with this environment, and returns when
// it says that it is ready. Its log is added to serve.log in dir, which may
// hold that of an earlier one. It fails with the log if the server ends before.
func Serve(bin, dir string, env []string, args ...string) (*Broker, error) {
	return ServeBy((*exec.Cmd).Start, bin, dir, env, args...)
}

// ServeBy is Serve where the process is started by begin.
func ServeBy(begin func(*exec.Cmd) error, bin, dir string, env []string, args ...string) (*Broker, error) {
	b, err := Launch(begin, bin, dir, env, args...)
	if err != nil {
		return nil, err
	}
	if b.URL == "" {
		return nil, fmt.Errorf("the server ended before it was ready; its log: %s", b.Log)
	}
	if err := b.AwaitReady(); err != nil {
		b.Kill()
		return nil, err
	}
	return b, nil
}

// Launch is ServeBy that returns when the server listens, or has ended: then it has
// no URL.
func Launch(begin func(*exec.Cmd) error, bin, dir string, env []string, args ...string) (*Broker, error) {
	c := exec.Command(bin, append([]string{"serve"}, args...)...)
	c.Dir, c.Env = dir, env
	p, err := process.StartBy(begin, c, "serve")
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), process.Patience)
	defer cancel()
	b := &Broker{Process: p}
	if line, err := p.Log.Next(ctx, "listening"); err == nil {
		b.URL = listeningLine.FindStringSubmatch(line)[1]
	} else if ctx.Err() != nil {
		p.Kill()
		return nil, err
	}
	return b, nil
}

// AwaitReady waits until the server says that it is ready, in its log and at /readyz.
func (b *Broker) AwaitReady() error {
	ctx, cancel := context.WithTimeout(context.Background(), process.Patience)
	defer cancel()
	if _, err := b.Log.Next(ctx, "msg=ready ", `"msg":"ready"`); err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, b.URL+"/readyz", nil)
	if err != nil {
		return err
	}
	// Whether it is ready, not who it is.
	anyone := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}} //nolint:gosec // see above
	for {
		answer, err := anyone.Do(request)
		if err != nil {
			return fmt.Errorf("asking whether the server is ready: %w", err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode == http.StatusOK {
			return nil
		}
		select {
		case <-ctx.Done(): // a look at the stores may have taken too long once
			return fmt.Errorf("asking a server that says it is ready: %s", answer.Status)
		case <-time.After(100 * time.Millisecond):
		}
	}
}
