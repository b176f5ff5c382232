package bench

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/broker/api/client"
	v1 "github.com/vimbroker/vimbroker/broker/api/v1"
	"github.com/vimbroker/vimbroker/test/fakekube"
)

const (
	// rotations are made one after the other, each of another of so many clusters in turn.
	rotations, rotatedClusters = 50, 10
	// rotationRest is how often the VIM is looked at meanwhile.
	rotationRest = 5 * time.Millisecond
)

// onboardRotated measures how long it takes from a secret that holds another credential to the
// first lease under it: the watch shows the secret, it is read and checked, an account is made by
// it, the VIM works as that from then on, and a lease is issued.
func onboardRotated(b *testing.B, p *program) *figure {
	b.Helper()
	n := newNursery(b, p)
	defer n.program.Kill()
	kubes := make([]*fakekube.Server, rotatedClusters)
	for i := range kubes {
		kubes[i] = fakekube.New(b, fakekube.Options{})
		n.grow(fmt.Sprintf("c%03d", i), kubes[i].Kubeconfig())
	}
	if all := n.await("registered", rotatedClusters); len(all) < rotatedClusters {
		b.Fatalf("%d clusters are registered, want %d", len(all), rotatedClusters)
	}
	var adopted, leased sample
	for i := range rotations {
		name, k := fmt.Sprintf("c%03d", i%rotatedClusters), kubes[i%rotatedClusters]
		w := n.one(name)
		before := n.vim(w.VIM).Generation
		began := time.Now()
		n.hub.PutSecret(fakekube.ClusterSecret(tenant, name, w.UID, strings.Replace(k.Kubeconfig(), k.AdminToken, k.AdminTokenFor(0), 1)))
		for n.vim(w.VIM).Generation == before {
			if time.Since(began) > onboardLimit {
				b.Fatalf("rotation %d is not adopted after %v", i, onboardLimit)
			}
			time.Sleep(rotationRest)
		}
		adopted = append(adopted, time.Since(began))
		l, err := n.IssueLease(b.Context(), v1.LeaseRequest{VIM: w.VIM, Role: "view", Namespaces: []string{"default"}}, "")
		if err != nil {
			b.Fatal(err)
		}
		if l.VIMGeneration <= before {
			b.Fatalf("the lease is of generation %d, want a later one than %d", l.VIMGeneration, before)
		}
		leased = append(leased, time.Since(began))
	}
	return &figure{
		Title: fmt.Sprintf("A secret that holds another credential, %d times", rotations),
		Rows:  []row{timed("until the VIM works with it", adopted), timed("until the first lease under it", leased)},
	}
}

// one is a cluster by its name.
func (n *nursery) one(name string) v1.WorkloadCluster {
	n.b.Helper()
	l, err := n.Clusters(n.b.Context(), client.ClusterQuery{Namespace: tenant, Name: name})
	if err != nil {
		n.b.Fatal(err)
	}
	if len(l.Items) != 1 {
		return v1.WorkloadCluster{} // it was not seen yet
	}
	return l.Items[0]
}

func (n *nursery) vim(id string) v1.VIM {
	n.b.Helper()
	v, err := n.VIM(n.b.Context(), id)
	if err != nil {
		n.b.Fatal(err)
	}
	return v
}
