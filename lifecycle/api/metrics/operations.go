package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/vimbroker/vimbroker/broker/api"
	"github.com/vimbroker/vimbroker/lifecycle"
)

// OperationVitals gives operators the figures of operations on VNF instances; [lifecycle.Lifecycle]
// implements it.
type OperationVitals interface {
	Vitals(ctx context.Context) lifecycle.Vitals
}

var (
	liveOperations = describe("vnf_operations", "Operations on VNF instances that have not ended, by type and state.", "type", "state")
	oldestIn       = describe("vnf_operation_oldest_timestamp_seconds",
		"When the operation came into the state that has been in it for longest; absent where there is none.", "state")
	waitingOperations = describe("vnf_operations_waiting",
		"Operations on VNF instances that wait for their turn, because a VIM or a project has as many under way as are allowed.")
	oldestWaiting = describe("vnf_operations_waiting_oldest_timestamp_seconds",
		"Since when the operation has waited for its turn that has waited for longest; absent where none waits.")
	operationsTook = describe("vnf_operation_duration_seconds",
		"Time from the request for an operation until it was in the state, since this process started.", "type", "state")
)

// Operations returns the metrics of operations on VNF instances.
func Operations(of OperationVitals) prometheus.Collector {
	return collector{
		[]*prometheus.Desc{liveOperations, oldestIn, operationsTook, waitingOperations, oldestWaiting},
		func(ctx context.Context, to scrape) { to.operations(of.Vitals(ctx)) },
	}
}

func (s scrape) operations(v lifecycle.Vitals) {
	for _, t := range operationTypes {
		for _, state := range operationEnds {
			s <- api.Histogram(operationsTook, v.Took[lifecycle.Ended{Type: t, State: state}], string(t), string(state))
		}
	}
	if v.Live == nil {
		return
	}
	counts := map[lifecycle.Ended]int{}
	oldest := map[lifecycle.OperationState]time.Time{}
	waiting, since := 0, time.Time{}
	for _, n := range v.Live {
		if n.Waiting > 0 && (waiting == 0 || n.OldestWaiting.Before(since)) {
			since = n.OldestWaiting
		}
		waiting += n.Waiting
		counts[lifecycle.Ended{Type: n.Type, State: n.State}] = n.Count
		if first, known := oldest[n.State]; !known || n.Oldest.Before(first) {
			oldest[n.State] = n.Oldest
		}
	}
	s.gauge(waitingOperations, float64(waiting))
	if waiting > 0 {
		s.gauge(oldestWaiting, float64(since.Unix()))
	}
	for _, state := range operationStates {
		for _, t := range operationTypes {
			s.gauge(liveOperations, float64(counts[lifecycle.Ended{Type: t, State: state}]), string(t), string(state))
		}
		if at, any := oldest[state]; any {
			s.gauge(oldestIn, float64(at.Unix()), string(state))
		}
	}
}

// The complete label values of the operation metrics: the types that the engine works, the
// states that are not final, and the states that work ends in.
var (
	operationTypes = []lifecycle.OperationType{
		lifecycle.Instantiate, lifecycle.ScaleVNF, lifecycle.Heal, lifecycle.ChangePackage, lifecycle.Terminate,
	}
	operationStates = []lifecycle.OperationState{lifecycle.Starting, lifecycle.Processing, lifecycle.FailedTemp, lifecycle.RollingBack}
	operationEnds   = []lifecycle.OperationState{lifecycle.Completed, lifecycle.FailedTemp, lifecycle.RolledBack}
)
