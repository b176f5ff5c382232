package manifests

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/test/golden"
)

// protocol notes what a run asks and tells, and when.
type protocol struct {
	script

	began time.Time
	mu    sync.Mutex
	lines []string
}

func (p *protocol) note(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lines = append(p.lines, fmt.Sprintf("%6s  ", time.Since(p.began).Round(time.Millisecond))+fmt.Sprintf(format, args...))
}

// RoundTrip implements [http.RoundTripper]. A request without an answer waits until its caller does no more.
func (p *protocol) RoundTrip(r *http.Request) (*http.Response, error) {
	line := r.Method + " " + r.URL.String()
	if r.Body != nil {
		body, _ := io.ReadAll(r.Body)
		if len(body) > 0 {
			line += " " + r.Header.Get("Content-Type") + " " + string(body)
		}
	}
	if a := r.Header.Get("Accept") + ", " + r.Header.Get("Authorization"); a != "application/json, Bearer t" {
		line += " with " + a
	}
	p.note("%s", strings.TrimPrefix(strings.Replace(line, "https://api.example", "", 1), "\n"))
	r.Body = nil
	response, err := p.script.RoundTrip(r)
	switch {
	case response != nil && response.StatusCode == hangs:
		<-r.Context().Done()
		return nil, r.Context().Err()
	case response != nil && response.StatusCode == slow:
		<-time.After(time.Millisecond)
		response.StatusCode = http.StatusNotFound
	}
	return response, err
}

// hangs and slow are statuses of a script: of a request that nobody answers, and of a 404 that takes time.
const hangs, slow = 998, 999

// untold leaves out of observations what they do not say.
var untold = regexp.MustCompile(`,?"[A-Za-z]*":(false|null|""|0)`)

func (p *protocol) end(err error) string {
	var out strings.Builder
	for _, line := range p.lines {
		out.WriteString(line + "\n")
	}
	switch e, is := errors.AsType[*broker.Error](err); {
	case is:
		fmt.Fprintf(&out, "%v; field %q\n  %s|\n", e.Kind, e.Field, e.Detail)
		if e.Remedy != "" {
			fmt.Fprintf(&out, "  %s\n", e.Remedy)
		}
	case err != nil:
		fmt.Fprintf(&out, "other: %v\n", err)
	}
	return out.String()
}

func sent(r lifecycle.Resource, more string) lifecycle.Object {
	version := r.Version
	if r.Group != "" {
		version = r.Group + "/" + version
	}
	return lifecycle.Object{Resource: r, Manifest: secret.NewText(fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":%q}%s}`, version, r.Kind, r.Name, more))}
}

// applied is an object that stands, as the instance made it.
func applied(o lifecycle.Object) lifecycle.Object {
	o.Applied = "none"
	return o
}

func standing(r lifecycle.Resource) lifecycle.Object { return lifecycle.Object{Resource: r} }

// there is an object of the instance on the cluster.
func there(r lifecycle.Resource, more string) string { return thereWith(r, "", more) }

func thereWith(r lifecycle.Resource, meta, more string) string {
	version := r.Version
	if r.Group != "" {
		version = r.Group + "/" + version
	}
	return fmt.Sprintf(`{"kind":%q,"apiVersion":%q,"metadata":{"name":%q,"uid":"uid-%[3]s","generation":1,"labels":{"vimbroker.io/instance":"i"}%s}%s}`, r.Kind, version, r.Name, meta, more)
}

func gone(r lifecycle.Resource) string { return refusing(404, "NotFound", r.Plural, r.Name) }

func conflictOf(r lifecycle.Resource) string { return refusing(409, "Conflict", r.Plural, r.Name) }

// numbered is the status of a workload that has so many of its pods ready.
func numbered(wanted, ready int) string {
	return fmt.Sprintf(`,"spec":{"replicas":%d},"status":{"observedGeneration":1,"replicas":%[1]d,"readyReplicas":%[2]d,"availableReplicas":%[2]d,"updatedReplicas":%[1]d,"currentReplicas":%[1]d,`+
		`"conditions":[{"type":"Available","status":"True"}]}`, wanted, ready)
}

const (
	managedBy  = `,"managedFields":[{"manager":"us","operation":"Apply","time":"2","fieldsV1":{"f:data":{}}},{"manager":%q,"operation":"Update","time":%q,"fieldsV1":{"f:x":{}}}]`
	ownsNumber = `,"resourceVersion":"77","managedFields":[{"manager":"us","operation":"Apply","time":"2","fieldsV1":{"f:spec":{"f:replicas":{},"f:a":{}}}}]`
	withClaims = `,"volumeClaimTemplates":[{"metadata":{"name":"data"}}]`
)

var (
	anotherMap = lifecycle.Resource{Version: "v1", Kind: "ConfigMap", Plural: "configmaps", Namespace: "n", Name: "b"}
	aSecret    = lifecycle.Resource{Version: "v1", Kind: "Secret", Plural: "secrets", Namespace: "n", Name: "s"}
	aClaim     = lifecycle.Resource{Version: "v1", Kind: claimKind, Plural: claimPlural, Namespace: "n", Name: "c"}
	aSet       = lifecycle.Resource{Group: "apps", Version: "v1", Kind: "StatefulSet", Plural: "statefulsets", Namespace: "n", Name: "db", VDU: "web"}
	bareSet    = lifecycle.Resource{Group: "apps", Version: "v1", Kind: "StatefulSet", Plural: "statefulsets", Namespace: "n", Name: "db"}
	webInM     = lifecycle.Resource{Group: "apps", Version: "v1", Kind: "Deployment", Plural: "deployments", Namespace: "m", Name: "web", VDU: "web"}
	otherWeb   = lifecycle.Resource{Group: "apps", Version: "v1", Kind: "Deployment", Plural: "deployments", Namespace: "n", Name: "other", VDU: "other"}
	aJob       = lifecycle.Resource{Group: "batch", Version: "v1", Kind: "Job", Plural: "jobs", Namespace: "n", Name: "j"}
	passingJob = lifecycle.Resource{Group: "batch", Version: "v1", Kind: "Job", Plural: "jobs", Namespace: "n", Name: "j", Passes: true}
	aPod       = lifecycle.Resource{Version: "v1", Kind: "Pod", Plural: "pods", Namespace: "n", Name: "solo", VDU: "web"}
	custom     = lifecycle.Resource{Group: "g", Version: "v1", Kind: "A", Plural: "as", Namespace: "n", Name: "x", VDU: "web"}
	customOfH  = lifecycle.Resource{Group: "h", Version: "v1", Kind: "A", Plural: "as", Namespace: "n", Name: "x"}
	aNamespace = lifecycle.Resource{Version: "v1", Kind: "Namespace", Plural: "namespaces", Name: "ns"}
)

func getOf(r lifecycle.Resource) string    { return "GET " + pathOf(r) }
func patchOf(r lifecycle.Resource) string  { return "PATCH " + pathOf(r) }
func deleteOf(r lifecycle.Resource) string { return "DELETE " + pathOf(r) }
func scaleOf(r lifecycle.Resource) string  { return "PATCH " + pathOf(r) + "/scale" }

const (
	listClaims  = "GET /api/v1/namespaces/n/persistentvolumeclaims"
	listScalers = "GET /apis/autoscaling/v2/namespaces/n/horizontalpodautoscalers"
	done        = `{"kind":"Status"}`
	scaleDone   = `{"kind":"Scale"}`
)

func scalersOf(owner string, names ...string) string {
	var all []string
	for _, name := range names {
		all = append(all, fmt.Sprintf(`{"metadata":{"name":"h","labels":{"vimbroker.io/instance":%q}},"spec":{"scaleTargetRef":{"kind":"Deployment","name":%q}}}`, owner, name))
	}
	return `{"kind":"HorizontalPodAutoscalerList","items":[` + strings.Join(all, ",") + `]}`
}

func claimsOf(phases ...string) string {
	var all []string
	for i, phase := range phases {
		all = append(all, fmt.Sprintf(`{"metadata":{"name":"data-db-%d","uid":"claim-%[1]d"},"status":{"phase":%q}}`, len(phases)-1-i, phase))
	}
	return `{"kind":"PersistentVolumeClaimList","items":[` + strings.Join(append(all, `{"metadata":{"name":"data-db-x"}}`, `{"metadata":{"name":"other-db-0"}}`), ",") + `]}`
}

type answers map[string][]string

func with(all ...answers) answers {
	sum := answers{}
	for _, one := range all {
		for key, v := range one {
			sum[key] = v
		}
	}
	return sum
}

func deedOf(deed lifecycle.Deed, all ...lifecycle.Object) lifecycle.Wave {
	return lifecycle.Wave{Deed: deed, Objects: all}
}

func replacing(uid string, all ...lifecycle.Object) lifecycle.Wave {
	w := deedOf(lifecycle.Replace, all...)
	w.VNFCs = []lifecycle.VNFC{{VDU: "web", Kind: "Pod", Namespace: "n", Name: "old", UID: uid}}
	return w
}

// TestRunsOfACorpus: what each wave asks the cluster for, byte by byte and in its order, what it tells, when, and how it ends.
func TestRunsOfACorpus(t *testing.T) {
	var got []string
	for _, c := range runs() {
		synctest.Test(t, func(t *testing.T) {
			p := &protocol{script: script{answers: c.answers}, began: time.Now()}
			r := &run{server: on(&p.script), pause: cmp.Or(c.timing.pause, 40*time.Millisecond), instance: "i", wave: c.wave, progress: func(o lifecycle.Observation) {
				text, _ := json.Marshal(o)
				p.note("told %s", untold.ReplaceAllString(string(text), ""))
			}}
			r.http.Transport = p
			ctx, end := context.WithTimeout(t.Context(), cmp.Or(c.timing.late, time.Minute))
			defer end()
			if c.timing.stop > 0 {
				defer time.AfterFunc(c.timing.stop, end).Stop()
			}
			deeds := map[lifecycle.Deed]func(context.Context) error{lifecycle.Apply: r.applyAll, lifecycle.Scale: r.scaleAll, lifecycle.Replace: r.replaceAll, lifecycle.Delete: r.deleteAll}
			err := deeds[c.wave.Deed](ctx)
			if c.timing.sorted {
				slices.SortStableFunc(p.lines, cmp.Compare[string])
			}
			got = append(got, "== "+c.name+"\n"+p.end(err))
		})
	}
	golden.Compare(t, "testdata/runs.txt", strings.Join(got, "\n"))
}
