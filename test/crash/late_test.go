package crash_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// gateway is a proxy in front of a cluster that holds one request back.
type gateway struct {
	*httptest.Server
	// arrived is closed when the request is there. It goes on when release is
	// called, whether its sender still lives or not; done is closed after that.
	arrived, done chan struct{}
	release       func()
	once          sync.Once
}

// holdBack starts a gateway that holds back the first request to make a lease's account.
func holdBack(t *testing.T, kube *cluster) *gateway {
	t.Helper()
	target, err := url.Parse(kube.endpoint)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(kube.ca))
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}
	proxy.ErrorLog = log.New(io.Discard, "", 0)
	released := make(chan struct{})
	g := &gateway{arrived: make(chan struct{}), done: make(chan struct{}), release: sync.OnceFunc(func() { close(released) })}
	g.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		first := false
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/serviceaccounts") {
			g.once.Do(func() { first = true })
		}
		if first {
			defer close(g.done)
			body, err := io.ReadAll(r.Body) // so that it does not end with its sender
			if err != nil {
				t.Error(err)
			}
			close(g.arrived)
			<-released
			// With a Done of its own: without any, the proxy would ask the connection
			// whether its sender has gone.
			ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
			defer cancel()
			r = r.WithContext(ctx)
			r.Body = io.NopCloser(bytes.NewReader(body))
		}
		proxy.ServeHTTP(w, r)
	}))
	g.Config.ErrorLog = proxy.ErrorLog
	g.StartTLS()
	t.Cleanup(func() { g.release(); g.Close() })
	return g
}

func (g *gateway) ca() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: g.Certificate().Raw}))
}

// TestARequestOutlivesItsServer kills a server whose request to make a lease's
// account is still on its way. It arrives when the next server has found nothing
// upstream and closed the lease; the pass that compares removes what it made.
func TestARequestOutlivesItsServer(t *testing.T) {
	t.Parallel()
	kube := fakeCluster(t)
	behind := holdBack(t, kube)
	s := newScene(t, kube)
	r := kube.registration(t, "edge")
	r.Endpoint, r.CACert = behind.URL, behind.ca()
	if _, err := s.RegisterVIM(t.Context(), r, ""); err != nil {
		t.Fatal(err)
	}
	var caller sync.WaitGroup
	caller.Go(func() {
		if _, err := s.IssueLease(t.Context(), s.up.request("edge"), ""); !cutOff(err) {
			t.Errorf("IssueLease = %v, want to be cut off", err)
		}
	})
	<-behind.arrived
	s.Kill()
	caller.Wait()
	s.restart()
	s.proveSettled()
	if l := s.leases()[0]; l.State != "revoked" || l.Reason != "abandoned" {
		t.Fatalf("the lease is %s (%s), want revoked, abandoned", l.State, l.Reason)
	}

	var landed atomic.Bool
	kube.fake.After(http.MethodPost, "/serviceaccounts$", func() { landed.Store(true) })
	behind.release()
	<-behind.done
	if !landed.Load() {
		t.Fatal("the request that was held back did not take effect")
	}
	s.stop()
	s.restart() // which runs every pass, should the one of the server before have missed it
	eventually(t, "the late account is removed", func() error {
		if left := kube.objects(t); len(left) > 0 {
			return fmt.Errorf("upstream there is %q", left)
		}
		return nil
	})
	s.prove()
}
