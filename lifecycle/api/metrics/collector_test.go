package metrics_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/api/metrics"
	"github.com/vimbroker/vimbroker/lifecycle/catalog"
	"github.com/vimbroker/vimbroker/lifecycle/subscription"
	"github.com/vimbroker/vimbroker/test/golden"
	"github.com/vimbroker/vimbroker/test/testlog"
)

// figures are of which no two are the same; with an error there are none of the store's.
type figures struct{ err error }

func (f figures) Count(context.Context) (lifecycle.InstanceCount, error) {
	return lifecycle.InstanceCount{
		States:  map[lifecycle.InstanceState]int{lifecycle.NotInstantiated: 1, lifecycle.Instantiated: 2},
		Drifted: 3, Unseen: 4,
	}, f.err
}

type packages figures

func (p packages) Count(context.Context) (map[catalog.State]int, error) {
	return map[catalog.State]int{catalog.Created: 5, catalog.Uploading: 6, catalog.Processing: 7, catalog.Enabled: 8, catalog.Disabled: 9}, p.err
}

type operations struct {
	figures
	live []lifecycle.OperationCount
}

func (o operations) Vitals(context.Context) lifecycle.Vitals {
	lag := broker.Lag{Count: 11, Sum: 12 * time.Second}
	for i := range broker.LagBounds {
		lag.Buckets = append(lag.Buckets, i+1)
	}
	v := lifecycle.Vitals{Took: map[lifecycle.Ended]broker.Lag{{Type: lifecycle.Heal, State: lifecycle.RolledBack}: lag}}
	if o.err == nil {
		v.Live = append([]lifecycle.OperationCount{}, o.live...)
	}
	return v
}

type subscriptions figures

func (s subscriptions) Vitals(context.Context) subscription.Vitals {
	v := subscription.Vitals{Deliveries: subscription.Deliveries{Sent: 31, Failed: 32, GivenUp: 33}}
	if waiting := 34; s.err == nil {
		v.Waiting = &waiting
	}
	return v
}

// page is what a scrape shows of ours, and what the log has of it.
func page(t *testing.T, err error, live ...lifecycle.OperationCount) (text, log string) {
	t.Helper()
	var told strings.Builder
	logs := testlog.To(t, slog.NewTextHandler(&told, nil))
	r := prometheus.NewPedanticRegistry()
	for _, c := range []prometheus.Collector{
		metrics.Instances(figures{err}, logs), metrics.Operations(operations{figures{err}, live}), metrics.Packages(packages{err}, logs),
		metrics.Subscriptions(subscriptions{err}),
	} {
		described := make(chan *prometheus.Desc, 10)
		c.Describe(described)
		if r.MustRegister(c); len(described) == 0 {
			t.Errorf("%T describes nothing", c)
		}
	}
	w := httptest.NewRecorder()
	promhttp.HandlerFor(r, promhttp.HandlerOpts{ErrorHandling: promhttp.HTTPErrorOnError}).ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	return strings.Join(regexp.MustCompile(`(?m)^(?:# HELP )?vimbroker_.*\n`).FindAllString(w.Body.String(), -1), ""), told.String()
}

// Every figure is shown by its name, with its labels: testdata/metrics.txt has the page. Of what waits, and of what is in a
// state, the oldest is shown, in whatever order they come.
func TestEveryFigureIsShown(t *testing.T) {
	at := func(n int64) time.Time { return time.Unix(1_700_000_000+n, 0) }
	count := func(of lifecycle.OperationType, in lifecycle.OperationState, n int, oldest int64) lifecycle.OperationCount {
		return lifecycle.OperationCount{Type: of, State: in, Count: n, Oldest: at(oldest)}
	}
	waits := func(c lifecycle.OperationCount, n int, oldest int64) lifecycle.OperationCount {
		c.Waiting, c.OldestWaiting = n, at(oldest)
		return c
	}
	live := []lifecycle.OperationCount{
		count(lifecycle.Instantiate, lifecycle.Processing, 13, 50), count(lifecycle.Heal, lifecycle.Processing, 14, 40),
		count(lifecycle.Terminate, lifecycle.Processing, 15, 60), count(lifecycle.ScaleVNF, lifecycle.FailedTemp, 16, 10),
		waits(count(lifecycle.Heal, lifecycle.Starting, 17, 70), 18, 72), waits(count(lifecycle.ScaleVNF, lifecycle.Starting, 19, 80), 20, 71),
		waits(count(lifecycle.ChangePackage, lifecycle.Starting, 21, 65), 22, 73), count(lifecycle.Terminate, lifecycle.Starting, 23, 66),
	}
	got, log := page(t, nil, live...)
	if golden.Compare(t, "testdata/metrics.txt", got); log != "" {
		t.Errorf("the log says %s", log)
	}
	one, _ := page(t, nil, waits(count(lifecycle.Heal, lifecycle.Starting, 1, 5), 1, 6))
	if !strings.Contains(one, "vimbroker_vnf_operations_waiting 1\n") || !strings.Contains(one, "waiting_oldest_timestamp_seconds 1.700000006e+09") {
		t.Errorf("the page of one that waits is\n%s", one)
	}
	idle, _ := page(t, nil)
	for line, is := range map[string]bool{
		"vimbroker_vnf_operations_waiting 0": true, `vimbroker_vnf_operations{state="STARTING",type="HEAL"} 0`: true,
		"vimbroker_vnf_operations_waiting_oldest": false, "vimbroker_vnf_operation_oldest": false,
	} {
		if strings.Contains(idle, "\n"+line) != is {
			t.Errorf("the page of no operations has %s: %t\n%s", line, !is, idle)
		}
	}
	down, log := page(t, errors.New("down"), live...)
	for _, name := range []string{"vnf_instances", "packages", "vnf_operations", "vnf_notifications_waiting"} {
		if strings.Contains(down, "vimbroker_"+name) {
			t.Errorf("%s is shown of a store that is down:\n%s", name, down)
		}
	}
	if !strings.Contains(down, `vimbroker_vnf_operation_duration_seconds_count{state="ROLLED_BACK",type="HEAL"} 11`) ||
		!strings.Contains(down, `vimbroker_vnf_notifications_total{outcome="given-up"} 33`) {
		t.Errorf("what this process knows by itself is not shown:\n%s", down)
	}
	for _, what := range []string{"counting VNF instances for a scrape", "counting VNF packages for a scrape"} {
		if strings.Count(log, what) != 1 {
			t.Errorf("the log does not say %q:\n%s", what, log)
		}
	}
}

// Operations of each type that the engine works are shown, in each state that is not final: those of MODIFY_INFO end with
// their request.
func TestOperationsOfEachTypeAreShown(t *testing.T) {
	source, err := os.ReadFile("../../driver.go")
	if err != nil {
		t.Fatal(err)
	}
	types := regexp.MustCompile(`(?m)^\t\w+ +OperationType = "(\w+)"$`).FindAllStringSubmatch(string(source), -1)
	var live []lifecycle.OperationCount
	var want []string
	for n, of := range types {
		for _, in := range []lifecycle.OperationState{lifecycle.Starting, lifecycle.Processing, lifecycle.FailedTemp, lifecycle.RollingBack} {
			if of := lifecycle.OperationType(of[1]); of != lifecycle.ModifyInfo {
				live = append(live, lifecycle.OperationCount{Type: of, State: in, Count: n + 1, Oldest: time.Unix(1_700_000_000, 0)})
				want = append(want, fmt.Sprintf("vimbroker_vnf_operations{state=%q,type=%q} %d\n", in, of, n+1))
			}
		}
	}
	if len(types) < 7 {
		t.Errorf("types of operations are %q", types)
	}
	got, _ := page(t, nil, live...)
	for _, line := range want {
		if !strings.Contains(got, line) {
			t.Errorf("the page has no %s", line)
		}
	}
}
