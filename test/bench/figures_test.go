package bench

import (
	"flag"
	"os"
	"testing"
	"time"

	"github.com/vimbroker/vimbroker/test/real"
)

var figuresFile = flag.String("figures", "", "also write the figures to this file, as JSON")

func TestMain(m *testing.M) { real.Main(m) }

// BenchmarkFigures measures every figure, or those that -bench names, and prints
// the table of them.
func BenchmarkFigures(b *testing.B) {
	real.Kubernetes(b) // without one there is nothing to print
	r := &report{Date: time.Now().UTC(), Machine: thisMachine()}
	p := &program{dir: b.TempDir()}
	for _, f := range []struct {
		name    string
		measure func(*testing.B) *figure
	}{
		{"issue-1", func(b *testing.B) *figure { return issue(b, false, 1, 300, 1) }},
		{"issue-8", func(b *testing.B) *figure { return issue(b, false, 8, 20, 4) }},
		{"issue-64", func(b *testing.B) *figure { return issue(b, false, 64, 6, 4) }},
		{"issue-durable-1", func(b *testing.B) *figure { return issue(b, true, 1, 300, 1) }},
		{"issue-durable-8", func(b *testing.B) *figure { return issue(b, true, 8, 20, 4) }},
		{"open", open},
		{"vims", vims},
		{"start", func(b *testing.B) *figure { return start(b, p) }},
		{"idle", func(b *testing.B) *figure { return idle(b, p) }},
		{"due", due},
		{"cost", cost},
		{"vault-1", func(b *testing.B) *figure { return vaultOpen(b, 1, 40, 50) }},
		{"vault-8", func(b *testing.B) *figure { return vaultOpen(b, 8, 20, 25) }},
		{"vault-64", func(b *testing.B) *figure { return vaultOpen(b, 64, 12, 8) }},
		{"openstack-1", func(b *testing.B) *figure { return onOpenStack(b, 1, 40, 2) }},
		{"openstack-8", func(b *testing.B) *figure { return onOpenStack(b, 8, 6, 2) }},
		{"barbican-1", func(b *testing.B) *figure { return barbicanOpen(b, 1, 20, 10) }},
		{"barbican-8", func(b *testing.B) *figure { return barbicanOpen(b, 8, 10, 5) }},
		{"login", func(b *testing.B) *figure { return login(b, p) }},
		{"callers", func(b *testing.B) *figure { return callers(b, p) }},
		{"tacker", func(b *testing.B) *figure { return tackerAPI(b, p) }},
		{"replicas", func(b *testing.B) *figure { return replicas(b, p) }},
		{"million", million},
		{"page", func(b *testing.B) *figure { return page(b, p) }},
		{"outage", outage},
		{"bystander", bystander},
		{"onboard", func(b *testing.B) *figure { return onboardAtOnce(b, p) }},
		{"onboard-trouble", func(b *testing.B) *figure { return onboardTrouble(b, p) }},
		{"onboard-steady", onboardSteady},
		{"onboard-rotated", func(b *testing.B) *figure { return onboardRotated(b, p) }},
		{"plugin", func(b *testing.B) *figure { return plugin(b, p) }},
		{"tenants", tenants},
		{"bombs", func(b *testing.B) *figure { return hostile(b, p) }},
		{"engine-apply", func(b *testing.B) *figure { return engineApply(b, p) }},
		{"engine-load", func(b *testing.B) *figure { return engineLoad(b, p) }},
		{"helm", func(b *testing.B) *figure { return helmChart(b, p) }},
		{"heat", func(b *testing.B) *figure { return heatStack(b, p) }},
		{"audit", func(b *testing.B) *figure { return auditLog(b, p) }},
		{"grants-1", func(b *testing.B) *figure { return grants(b, p, 1, 4, 25) }},
		{"grants-64", func(b *testing.B) *figure { return grants(b, p, 64, 3, 3) }},
		{"standing", func(b *testing.B) *figure { return standing(b, p) }},
		{"notifications", func(b *testing.B) *figure { return notifications(b, p) }},
	} {
		b.Run(f.name, func(b *testing.B) {
			var found *figure
			for b.Loop() {
				found = f.measure(b)
			}
			found.Name = f.name
			r.set(found)
			b.ReportMetric(0, "ns/op") // the time of the measurement says nothing
		})
	}
	r.Machine.LoadAfter = load()
	if err := r.writeTable(os.Stdout); err != nil {
		b.Fatal(err)
	}
	if *figuresFile == "" {
		return
	}
	out, err := os.Create(*figuresFile)
	if err != nil {
		b.Fatal(err)
	}
	defer out.Close()
	if err := r.writeJSON(out); err != nil {
		b.Fatal(err)
	}
	if err := out.Close(); err != nil {
		b.Fatal(err)
	}
}
