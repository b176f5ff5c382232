package helm

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/remote"
	"github.com/vimbroker/vimbroker/broker/secret"
	"github.com/vimbroker/vimbroker/drivers/helm/chart"
	"github.com/vimbroker/vimbroker/drivers/manifests"
	"github.com/vimbroker/vimbroker/lifecycle"
)

const (
	// markLabel holds the mark of the work that has made a revision.
	markLabel = "vimbroker.io/operation"
	// history is the number of revisions that are kept, as in Helm.
	history = 10
	// ahead is how many revisions are looked for that are newer than what is recorded here: somebody else's.
	ahead = 16
	// maxRecord bounds a release as text, and as the Secret that holds it. Helm's have some ten members, and bounded
	// hooks.
	maxRecord       = 16 << 20
	maxRecordStored = 1 << 20
	maxMembers      = 64
	maxHooks        = 1000
)

// The states of a release, as Helm spells them.
const (
	deployed        = "deployed"
	superseded      = "superseded"
	failed          = "failed"
	pendingInstall  = "pending-install"
	pendingUpgrade  = "pending-upgrade"
	pendingRollback = "pending-rollback"
)

// record is one revision of a release, in Helm's form: fields that are not used here are kept
// unchanged.
type record struct {
	version int
	body    map[string]json.RawMessage
	info    map[string]json.RawMessage
	// from is the Secret that it was read from; nil for one in the making.
	from *manifests.StoredSecret
	// definitions are those of its chart, which Helm's form has no place for: subcharts are not in it. They are recorded
	// while the revision is pending, for the attempt that resumes; afterwards only their absence is recorded. defined
	// says that they are known.
	definitions []lifecycle.Manifest
	defined     bool
	// mark is the mark of the work that has made it; own: it is the instance's.
	mark string
	own  bool
}

// definitionsKey is the member of a record that holds the definitions. Helm ignores unknown members.
const definitionsKey = "vimbroker.io/definitions"

// recordPrefix begins the name of each record, of whichever release.
const recordPrefix = "sh.helm.release.v1."

// recordName is the Secret's that holds a revision.
func recordName(in lifecycle.PlanInput, version int) string {
	return recordPrefix + releaseName(in) + ".v" + strconv.Itoa(version)
}

// versions are those that can be there: what the instance is known to consist of, and what somebody else may have
// added.
func versions(in lifecycle.PlanInput) []int {
	var known []int
	newest := 0
	for _, r := range in.Standing {
		if digits, is := strings.CutPrefix(r.Name, recordPrefix+releaseName(in)+".v"); is &&
			r.Kind == "Secret" && r.Group == "" {
			if v, err := strconv.Atoi(digits); err == nil && v > 0 && v < 1<<30 {
				known, newest = append(known, v), max(newest, v)
			}
		}
	}
	for v := newest + 1; v <= newest+ahead; v++ {
		known = append(known, v)
	}
	slices.Sort(known)
	return known
}

// records reads the release's revisions, the oldest first: the newest whole, and the headers of the others. A Secret of
// another instance is none of them, whatever its name: where it is in the way, making the record says so.
func records(ctx context.Context, d *manifests.Draft, in lifecycle.PlanInput) ([]record, error) {
	asked := versions(in)
	found := make([]*manifests.StoredSecret, len(asked))
	side, within := errgroup.WithContext(ctx)
	side.SetLimit(8)
	for i, v := range asked {
		side.Go(func() error {
			s, err := d.Secret(within, recordName(in, v))
			if s != nil && (s.Owner == "" || s.Owner == in.Instance) {
				found[i] = s
			}
			return err
		})
	}
	if err := side.Wait(); err != nil {
		return nil, err
	}
	var all []record
	for i, s := range slices.Backward(found) { // one after the other: others choose their unpacked size
		if s == nil {
			continue
		}
		r, err := decode(s)
		if err == nil && r.version != asked[i] {
			err = fmt.Errorf("it says that it is revision %d", r.version)
		}
		if err != nil && s.Owner == "" {
			continue
		}
		if err != nil {
			return nil, &broker.Error{
				Kind: broker.ErrConflict, Detail: "Secret " + recordName(in, asked[i]) + " is no record of the release as Helm writes it",
				Remedy: "see who changed it; remove it if nobody needs it", Cause: err,
			}
		}
		if len(all) > 0 {
			r = r.header()
		}
		all = append(all, r)
	}
	slices.Reverse(all)
	return all, nil
}

// header holds the fields that stay unpacked of a record that is not the newest.
func (r record) header() record {
	status := r.status()
	return record{
		version: r.version, mark: r.mark, own: r.own, from: r.from,
		info: map[string]json.RawMessage{"status": quoted(status[:min(len(status), 32)])}, // a known one is no longer
	}
}

// whole is the record with all that it holds: its Secret was decoded before.
func (r record) whole() record {
	if r.body == nil {
		r, _ = decode(r.from)
	}
	return r
}

// releaseLimit bounds the size of a release: anyone who may write Secrets in the namespace can
// write it.
var releaseLimit = remote.Limit{Values: 100_000, Items: 10_000}

// decode reads a record: the Secret's value is the release as JSON, packed by gzip, in base64.
func decode(s *manifests.StoredSecret) (r record, err error) {
	packed, err := base64.StdEncoding.AppendDecode(nil, s.Data["release"])
	if err != nil {
		return r, err
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return r, err
	}
	text, err := io.ReadAll(io.LimitReader(unpacked, maxRecord))
	if err != nil {
		return r, err
	}
	if err := releaseLimit.Check(text); err != nil {
		return r, err
	}
	if err := json.Unmarshal(text, &r.body); err != nil {
		return r, err
	}
	if err := json.Unmarshal(r.body["info"], &r.info); err != nil {
		return r, err
	}
	if r.info == nil || len(r.body) > maxMembers || len(r.info) > maxMembers {
		return r, errors.New("it is no release")
	}
	r.mark, r.own, r.from = s.Labels[markLabel], s.Owner != "", s
	if text, has := r.body[definitionsKey]; has {
		var files []chart.ChartFile
		if err := json.Unmarshal(text, &files); err != nil {
			return r, err
		}
		r.definitions, r.defined = filesAs(files), true
		delete(r.body, definitionsKey)
	}
	return r, json.Unmarshal(r.body["version"], &r.version)
}

func (r record) written(in lifecycle.PlanInput) (lifecycle.Manifest, error) {
	definitions := r.defined && (r.pending() || len(r.definitions) == 0)
	value, err := r.packed(definitions)
	if definitions && errors.Is(err, broker.ErrInvalid) {
		value, err = r.packed(false) // the attempt that resumes renders the chart again
	}
	if err != nil {
		return lifecycle.Manifest{}, err
	}
	var since time.Time
	_ = json.Unmarshal(r.info["last_deployed"], &since) // without it the record is as old as it can be
	object, _ := json.Marshal(map[string]any{           // cannot fail for these types
		"apiVersion": "v1", "kind": "Secret", "type": "helm.sh/release.v1",
		"metadata": map[string]any{"name": recordName(in, r.version), "labels": map[string]string{
			"name": releaseName(in), "owner": "helm", "status": r.status(), "version": strconv.Itoa(r.version),
			"createdAt": strconv.FormatInt(max(since.Unix(), 0), 10),
		}},
		"data": map[string][]byte{"release": []byte(value)},
	})
	return lifecycle.Manifest{Path: "release", Text: secret.NewText(string(object))}, nil
}

// packed is the value of a record's Secret.
func (r record) packed(definitions bool) (string, error) {
	body := maps.Clone(r.body)
	body["info"], _ = json.Marshal(r.info) // cannot fail, here and below: it is from JSON
	if definitions {
		files := []chart.ChartFile{}
		for _, d := range r.definitions {
			files = append(files, chart.ChartFile{Path: d.Path, Text: []byte(d.Text.Reveal())})
		}
		body[definitionsKey], _ = json.Marshal(files)
	}
	text, _ := json.Marshal(body)
	if len(text) > maxRecord { // nothing would read it again
		return "", faultOf(fmt.Sprintf("its release takes more than %d MiB unpacked", maxRecord>>20))
	}
	if releaseLimit.Check(text) != nil {
		return "", faultOf(fmt.Sprintf("its release holds more than %d values, a list of more than %d items, or nests too deep",
			releaseLimit.Values, releaseLimit.Items))
	}
	var packed bytes.Buffer
	w, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression) // cannot fail, nor can writing into memory
	_, _ = w.Write(text)
	_ = w.Close()
	value := base64.StdEncoding.EncodeToString(packed.Bytes())
	if len(value) > maxRecordStored {
		return "", faultOf(fmt.Sprintf("its release takes %d bytes, and the Secret that records it holds %d", len(value), maxRecordStored))
	}
	return value, nil
}

// marks are the labels of this driver on a record.
func (r record) marks() manifests.Marks {
	if r.mark == "" {
		return manifests.Marks{}
	}
	return manifests.Marks{Labels: map[string]string{markLabel: r.mark}}
}

func (r record) text(of map[string]json.RawMessage, name string) (s string) {
	_ = json.Unmarshal(of[name], &s) // what is no text is none
	return s
}

func (r record) status() string { return r.text(r.info, "status") }

func (r record) pending() bool {
	return slices.Contains([]string{pendingInstall, pendingUpgrade, pendingRollback}, r.status())
}

// as is the record in another state.
func (r record) as(status, description string) record {
	r.info = maps.Clone(r.info)
	r.info["status"], r.info["description"] = quoted(status), quoted(description)
	return r
}

func quoted(s string) json.RawMessage {
	text, _ := json.Marshal(s) // a text always can be
	return text
}

// objects are the objects of the revision, without hooks.
func (r record) objects() []lifecycle.Manifest {
	text := r.text(r.body, "manifest")
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return []lifecycle.Manifest{{Path: "revision-" + strconv.Itoa(r.version), Text: secret.NewText(text)}}
}

// hook is an object that is made at events of a release.
type hook struct {
	Name     string   `json:"name"`
	Kind     string   `json:"kind"`
	Path     string   `json:"path"`
	Manifest string   `json:"manifest"`
	Events   []string `json:"events"`
	Weight   int      `json:"weight"`
	Policies []string `json:"delete_policies"`
}

// hooks are those of an event, in the order in which they are run; of all events but tests where it is empty.
func (r record) hooks(event string) ([]hook, error) {
	var all []hook
	list := json.NewDecoder(bytes.NewReader(r.body["hooks"]))
	if begin, _ := list.Token(); begin == json.Delim('[') { // it is null, or missing, where there are none
		for list.More() {
			var h hook
			if list.Decode(&h) != nil {
				return nil, faultOf("its record holds hooks that cannot be read")
			}
			if all = append(all, h); len(all) > maxHooks {
				return nil, faultOf(fmt.Sprintf("it has more than %d hooks", maxHooks))
			}
		}
	}
	all = slices.DeleteFunc(all, func(h hook) bool {
		if event == "" {
			return len(h.Events) == 1 && h.Events[0] == "test"
		}
		return !slices.Contains(h.Events, event)
	})
	// They are in the order of their kinds.
	slices.SortStableFunc(all, func(a, b hook) int { return cmp.Or(cmp.Compare(a.Weight, b.Weight), cmp.Compare(a.Name, b.Name)) })
	return all, nil
}

func (h hook) manifest() []lifecycle.Manifest {
	return []lifecycle.Manifest{{Path: oneLine(h.Path), Text: secret.NewText(h.Manifest)}}
}
