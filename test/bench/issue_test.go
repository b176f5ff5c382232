package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/test/real"
)

// issueGoal is what issuing a lease may cost, the bare calls being one.
const issueGoal = 1.25

// issue measures how much more a lease costs than the two calls to the API
// server that it rests on. The shared cluster's etcd does not wait for the disk, so
// that the bare calls make no durable write and a lease makes two; that of a durable
// cluster does, as in production. Each has as many clients at once, and so many turns of
// so many calls for each client. What the disk takes for one of the two writes
// that a lease waits for, which the bare calls do not make, is shown beside it.
func issue(b *testing.B, durable bool, clients, rounds, each int) *figure {
	b.Helper()
	cluster, title := real.Kubernetes, "Issuing a lease, clients at once: %d"
	if durable {
		cluster, title = real.DurableKubernetes, "Issuing a lease where etcd waits for the disk too, clients at once: %d"
	}
	s := newStackOn(b, cluster(b))
	v := s.mustRegister(b, "cluster")
	underneath, over := newBare(b, s), s.serve(b)
	ctx := b.Context()
	const bareCalls, domainCall, overHTTP, disk = "bare ServiceAccount + TokenRequest", "lease, domain call", "lease, over HTTP", "one fsync of 64 KiB"
	file, err := os.Create(filepath.Join(s.dir, "fsync"))
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	block := make([]byte, 64<<10)
	out, err := turns(rounds, clients, each,
		contender{bareCalls, func(int) error { return underneath.issue(ctx) }},
		contender{domainCall, func(int) error {
			_, _, err := s.IssueLease(ctx, admin, broker.LeaseRequest{VIM: v.Name, TTL: time.Hour, Role: "view"})
			return err
		}},
		contender{overHTTP, func(int) error {
			_, err := over.IssueLease(ctx, v1.LeaseRequest{VIM: v.Name, TTL: "1h", Role: "view"}, "")
			return err
		}},
		contender{disk, func(int) error {
			if _, err := file.WriteAt(block, 0); err != nil {
				return err
			}
			return file.Sync()
		}},
	)
	if err != nil {
		b.Fatal(err)
	}
	base := timed(bareCalls, out[0].sample)
	domain := timed(domainCall, out[1].sample).over(base)
	http := timed(overHTTP, out[2].sample).over(base)
	base.PerSecond, domain.PerSecond, http.PerSecond = out[0].perSecond(), out[1].perSecond(), out[2].perSecond()
	if clients < 64 {
		domain, http = domain.ratioGoal(issueGoal), http.ratioGoal(issueGoal)
	}
	b.ReportMetric(domain.Ratio, "x-domain")
	b.ReportMetric(http.Ratio, "x-http")
	return &figure{Title: fmt.Sprintf(title, clients), Rows: []row{base, domain, http, timed(disk, out[3].sample)}}
}
