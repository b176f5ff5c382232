package postgres_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/drivers/postgres"
	"github.com/vimbroker/vimbroker/policy/audit"
	"github.com/vimbroker/vimbroker/test/conformance"
	"github.com/vimbroker/vimbroker/test/real"
)

var entry = audit.Entry{Time: time.Unix(1, 0), Principal: "alice", Action: "vim:register", Outcome: audit.Done}

func registered(id, name string) broker.VIM {
	return broker.VIM{
		ID: id, Project: "north", Name: name, Type: "kubernetes", State: broker.VIMRegistered,
		CreatedAt: time.Unix(1, 0), Health: broker.Health{Status: broker.HealthUnchecked},
		Current: broker.Generation{Number: 1, Sealed: "sealed", Key: "ref", KeyStore: "keydir", SealedAs: broker.SealedCurrent},
	}
}

func leaseOn(vim string) broker.Lease {
	return broker.Lease{
		ID: uuid.NewString(), VIM: vim, VIMName: "core", VIMGeneration: 1, Project: "north", Principal: "alice",
		Role: "edit", CreatedAt: time.Now(), Handle: "handle",
	}
}

func activate(l *broker.Lease) error {
	l.State, l.IssuedAt, l.ExpiresAt = broker.LeaseActive, l.CreatedAt, l.CreatedAt.Add(time.Hour)
	return nil
}

// BenchmarkIssue stores leases as issuing them does: the intent, within quotas,
// and the credential. The server waits for the disk. Of several replicas each has a
// pool of its own.
func BenchmarkIssue(b *testing.B) {
	for _, replicas := range []int{1, 3} {
		for _, clients := range []int{1, 8, 64} {
			b.Run(fmt.Sprintf("replicas=%d/clients=%d", replicas, clients), func(b *testing.B) {
				dsn := real.OwnPostgres(b).DSN(b)
				var stores []*postgres.Store
				for range replicas {
					stores = append(stores, mustOpen(b, dsn))
				}
				vim := uuid.NewString()
				if err := stores[0].CreateVIM(b.Context(), registered(vim, "core"), 0, entry); err != nil {
					b.Fatal(err)
				}
				var left atomic.Int64
				left.Store(int64(b.N))
				var all sync.WaitGroup
				b.ResetTimer()
				for i := range clients {
					all.Go(func() {
						s := stores[i%replicas]
						for left.Add(-1) >= 0 {
							l := leaseOn(vim)
							l.Principal = fmt.Sprint("client-", i)
							if _, err := s.CreateLease(b.Context(), l, broker.Quota{PerPrincipal: 1 << 40, PerVIM: 1 << 40, PerProject: 1 << 40}, entry); err != nil {
								b.Error(err)
								return
							}
							if _, err := s.UpdateLease(b.Context(), l.ID, activate, entry); err != nil {
								b.Error(err)
								return
							}
						}
					})
				}
				all.Wait()
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "leases/s")
			})
		}
	}
}

// BenchmarkWholeLease is the store's part of a lease, as that of SQLite is. Beside the time it says what is written to
// the log of the database, and the processor time of the server and of this process.
func BenchmarkWholeLease(b *testing.B) {
	s := mustOpen(b, real.OwnPostgres(b).DSN(b))
	vim := uuid.NewString()
	if err := s.CreateVIM(b.Context(), registered(vim, "core"), 0, entry); err != nil {
		b.Fatal(err)
	}
	for _, writers := range []int{1, 8} {
		b.Run(fmt.Sprint("writers-", writers), func(b *testing.B) {
			usedBefore, ownBefore, logged := s.Used(b)
			var left atomic.Int64
			left.Store(int64(b.N))
			var all sync.WaitGroup
			for range writers {
				all.Go(func() {
					for left.Add(-1) >= 0 {
						if err := conformance.WholeLease(b.Context(), s, vim); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			all.Wait()
			used, own, now := s.Used(b)
			b.ReportMetric((used-usedBefore).Seconds()*1000/float64(b.N), "server-ms/op")
			b.ReportMetric((own-ownBefore).Seconds()*1000/float64(b.N), "own-ms/op")
			b.ReportMetric(float64(now-logged)/1024/float64(b.N), "logged-KiB/op")
		})
	}
}
