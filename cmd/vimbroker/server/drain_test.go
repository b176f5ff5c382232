package server

import (
	"context"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/api"
)

// replica is a server that runs, and is restarted.
type replica struct {
	t          *testing.T
	url, token string
	delayed    chan time.Duration // the delay has begun
	proceed    chan time.Time     // ends it
	stop       func()
	ended      chan error
}

// start returns once it is ready.
func (r *replica) start() {
	r.t.Helper()
	s, token := tryOut(r.t, func(c *config) { c.ShutdownDelay, c.Limits = time.Minute, api.Limits{} })
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		r.t.Fatal(err)
	}
	r.url, r.token = "http://"+l.Addr().String(), token
	r.delayed, r.proceed, r.ended = make(chan time.Duration, 1), make(chan time.Time), make(chan error, 1)
	s.after = func(d time.Duration) <-chan time.Time {
		r.delayed <- d
		return r.proceed
	}
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	ready := make(chan struct{})
	go func() { r.ended <- s.run(ctx, l, func() { close(ready) }) }()
	<-ready
}

// backend is a replica as a balancer knows it.
type backend struct {
	url, token string
	ready      atomic.Bool
}

// look asks whether the backend is ready.
func (b *backend) look(c *http.Client) {
	answer, err := c.Get(b.url + "/readyz")
	is := err == nil && answer.StatusCode == http.StatusOK
	if err == nil {
		_ = answer.Body.Close()
	}
	b.ready.Store(is)
}

// balancer sends requests to backends that are ready.
type balancer struct {
	client   *http.Client
	mu       sync.RWMutex // held while a request is under way
	backends []*backend
	answered chan struct{} // some of the answers
	sent     atomic.Int64
	failed   atomic.Int64
}

// send sends one request to a backend that is ready.
func (b *balancer) send(n int) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	for i := range b.backends {
		to := b.backends[(n+i)%len(b.backends)]
		if !to.ready.Load() {
			continue
		}
		b.sent.Add(1)
		r, _ := http.NewRequest("GET", to.url+"/v1/whoami", nil)
		r.Header.Set("Authorization", "Bearer "+to.token)
		answer, err := b.client.Do(r)
		if err != nil || answer.StatusCode != http.StatusOK {
			b.failed.Add(1)
		}
		if err == nil {
			_, _ = io.Copy(io.Discard, answer.Body)
			_ = answer.Body.Close()
		}
		select {
		case b.answered <- struct{}{}:
		default:
		}
		return
	}
	b.failed.Add(1)
}

// use waits for what is under way, and goes on with these.
func (b *balancer) use(backends ...*backend) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.backends = slices.Clone(backends)
}

// A rolling restart of two servers under load fails no request of a client that follows
// readiness: a server that is to end says so, and serves on until that is known.
func TestARollingRestartFailsNoRequest(t *testing.T) {
	transport := &http.Transport{MaxIdleConnsPerHost: 16}
	t.Cleanup(transport.CloseIdleConnections)
	lb := &balancer{client: &http.Client{Transport: transport}, answered: make(chan struct{})}
	replicas, backends := []*replica{{t: t}, {t: t}}, make([]*backend, 2)
	join := func(n int) {
		replicas[n].start()
		backends[n] = &backend{url: replicas[n].url, token: replicas[n].token}
		backends[n].look(lb.client)
		if !backends[n].ready.Load() {
			t.Fatalf("replica %d is not ready after its start", n)
		}
	}
	join(0)
	join(1)
	lb.use(backends...)
	var load sync.WaitGroup
	over := make(chan struct{})
	for worker := range 8 {
		load.Go(func() {
			for n := worker; ; n++ {
				select {
				case <-over:
					return
				default:
					lb.send(n)
				}
			}
		})
	}
	await := func(answers int) {
		for range answers {
			<-lb.answered
		}
	}
	for n, r := range replicas {
		await(50)
		r.stop()
		if d := <-r.delayed; d != time.Minute {
			t.Errorf("the delay is %v, not the configured one", d)
		}
		await(50) // not known yet: both are asked
		answer, err := http.Get(r.url + "/healthz")
		if err != nil || answer.StatusCode != http.StatusOK || !answer.Close {
			t.Fatalf("a server that is to end answers %v, %v; want that it serves on, each answer the last of its connection", answer, err)
		}
		_ = answer.Body.Close()
		backends[n].look(lb.client)
		if backends[n].ready.Load() {
			t.Fatal("a server that is to end is ready")
		}
		lb.use(backends...) // what was sent to it before is answered
		await(50)
		close(r.proceed)
		if err := <-r.ended; err != nil {
			t.Error(err)
		}
		if _, err := net.Dial("tcp", r.url[len("http://"):]); err == nil {
			t.Error("a server that has ended listens")
		}
		await(50)
		join(n)
		lb.use(backends...)
	}
	close(over)
	load.Wait()
	for _, r := range replicas {
		r.stop()
		close(r.proceed)
		if err := <-r.ended; err != nil {
			t.Error(err)
		}
	}
	if lb.failed.Load() > 0 {
		t.Errorf("%d of %d requests failed", lb.failed.Load(), lb.sent.Load())
	}
	t.Logf("%d requests", lb.sent.Load())
}
