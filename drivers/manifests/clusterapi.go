package manifests

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// clusterAPI is the version of Cluster API whose objects' conditions and counters are read
// here. kstatus counts these objects as ready as soon as they exist.
var clusterAPI = schema.GroupVersion{Group: "cluster.x-k8s.io", Version: "v1beta2"}

// clusterParts are the conditions that a Cluster's condition Available sums up.
var clusterParts = []string{"InfrastructureReady", "ControlPlaneAvailable", "RemoteConnectionProbe", "WorkersAvailable"}

// ofClusterAPI is how ready an object of Cluster API is (its book, "Cluster API v1beta2
// conditions"): a Cluster when it is available, workers included, and a MachineDeployment when all
// of its machines are available and as its template says.
func (o *found) ofClusterAPI() state {
	switch o.Kind {
	case "Cluster":
		return o.cluster()
	case "MachineDeployment":
		return o.machines()
	}
	return state{ready: true}
}

func (o *found) cluster() state {
	var says []string
	for _, c := range o.conditions() {
		switch {
		case c.Type == "Available" && c.Status == "True":
			return state{ready: true}
		case c.Status != "True" && slices.Contains(clusterParts, c.Type):
			says = append(says, fmt.Sprintf("%s is %s%s", c.Type, word(c.Status), c.words()))
		}
	}
	if len(says) == 0 {
		return state{message: "is not available"}
	}
	return state{message: "is not available: " + strings.Join(says, ", ")}
}

func (o *found) machines() state {
	wanted, _ := mapAt(o.whole, "spec")["replicas"].(int64)
	status := mapAt(o.whole, "status")
	for _, counter := range []struct{ key, words string }{
		{"upToDateReplicas", "up to date"}, {"availableReplicas", "available"}, {"replicas", "there"},
	} {
		if n, _ := status[counter.key].(int64); n != wanted {
			return state{message: fmt.Sprintf("is not ready: %d of %d machines are %s", n, wanted, counter.words)}
		}
	}
	return state{ready: true}
}
