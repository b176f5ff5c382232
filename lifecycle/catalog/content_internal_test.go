package catalog

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/lifecycle/tosca"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
)

// chunks is a store that has chunks of one content, each of its letter.
type chunks struct {
	Store
	last  int // bytes of the last
	n     int
	reads int
	fails error
}

func (c *chunks) Chunk(_ context.Context, _ string, number int) ([]byte, error) {
	if c.reads++; c.fails != nil {
		return nil, c.fails
	}
	if number >= c.n {
		return nil, broker.ErrNotFound
	}
	size := chunkSize
	if number == c.n-1 {
		size = c.last
	}
	return []byte(strings.Repeat(string(rune('a'+number)), size)), nil
}

func TestAContentIsReadByChunks(t *testing.T) {
	s := &chunks{n: 3, last: 5}
	c := &content{ctx: t.Context(), store: s, size: 2*chunkSize + 5}
	for _, r := range []struct {
		off  int64
		len  int
		want string
		err  error
	}{
		{0, 2, "aa", nil},
		{chunkSize - 1, 2, "ab", nil},
		{2*chunkSize - 1, 6, "bccccc", nil},
		{2*chunkSize + 4, 1, "c", nil},
		{c.size - 1, 2, "c", io.EOF},
		{c.size, 1, "", io.EOF},
		{c.size + 1, 1, "", io.EOF},
		{-1, 1, "", io.EOF},
		{2 * chunkSize, 0, "", nil},
		{c.size, 0, "", io.EOF},
	} {
		p := make([]byte, r.len)
		n, err := c.ReadAt(p, r.off)
		if !errors.Is(err, r.err) || r.err == nil && err != nil || string(p[:n]) != r.want {
			t.Errorf("%d bytes at %d: %q, %v, want %q, %v", r.len, r.off, p[:n], err, r.want, r.err)
		}
	}
	if s.reads != 3 {
		t.Errorf("three chunks were read %d times", s.reads)
	}
	// Whatever was read before, each chunk is its own, and the four that were read last are kept.
	s = &chunks{n: 6, last: chunkSize}
	c = &content{ctx: t.Context(), store: s, size: 6 * chunkSize}
	order := []int{0, 1, 2, 3, 0, 3, 1, 2, 0, 3, 4, 1, 0, 3, 4, 5, 0, 3, 5, 4, 1, 2, 1, 5}
	for i, at := range order {
		one, before := make([]byte, 1), s.reads
		n, err := c.ReadAt(one, int64(at)*chunkSize)
		if err != nil || n != 1 || one[0] != byte('a'+at) {
			t.Fatalf("read %d, of chunk %d, is %q, %v", i, at, one[:n], err)
		}
		recent := []int{}
		for k := i - 1; k >= 0 && len(recent) < maxKept; k-- {
			if was := order[k]; !slices.Contains(recent, was) {
				recent = append(recent, was)
			}
		}
		if kept := s.reads == before; kept != slices.Contains(recent, at) {
			t.Errorf("read %d, of chunk %d behind %v: it is kept: %t", i, at, recent, kept)
		}
	}
	p := make([]byte, 3)
	short := &content{ctx: t.Context(), store: &chunks{n: 1, last: 5}, size: 7}
	for off, want := range map[int64]int{4: 1, 5: 0, 6: 0} {
		if n, err := short.ReadAt(p, off); n != want || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("a chunk that is shorter than it was, at %d: %d, %v", off, n, err)
		}
	}
	gone := &content{ctx: t.Context(), store: &chunks{}, size: 7}
	if _, err := gone.ReadAt(p, 0); !errors.Is(err, broker.ErrConflict) || errors.Is(err, broker.ErrNotFound) && !strings.Contains(err.Error(), "deleted meanwhile") {
		t.Errorf("a package that is gone: %v", err)
	}
	away := errors.New("away")
	gone.store = &chunks{fails: away}
	if n, err := gone.ReadAt(p, 0); !errors.Is(err, away) || n != 0 {
		t.Errorf("a store that is away: %d, %v", n, err)
	}
}

func TestAddressesOfPackages(t *testing.T) {
	const at = "https://a.example/"
	for uri, says := range map[string]string{
		at: "", at + strings.Repeat("x", 2048-len(at)): "", "http://127.0.0.1:9/x": "", "http://[::1]/": "",
		at + strings.Repeat("x", 2049-len(at)): "at most 2048 bytes", "https://a/%zz": "must be a URI", "https:///x": "must be a URI", "/x": "must be a URI", "": "must be a URI",
		"https://u@a/": "holds a user", "http://a.example/": "must begin with https://", "http://10.0.0.1/": "must begin with https://", "ftp://127.0.0.1/": "must begin with https://",
	} {
		u, err := Origin{URI: uri}.address()
		known, is := errors.AsType[*broker.Error](err)
		if says == "" && (err != nil || u.String() != uri) || says != "" && (!is || known.Field != originField || !strings.Contains(known.Detail, says)) {
			t.Errorf("%.40s: %v, %v, want %q", uri, u, err, says)
		}
	}
}

func TestPackagesThatCannotBeUsed(t *testing.T) {
	for state, says := range map[State]string{Enabled: "", Disabled: "is disabled", Created: "is not onboarded"} {
		err := Package{State: state}.unusable()
		if says == "" && err != nil || says != "" && (!errors.Is(err, broker.ErrConflict) || !strings.Contains(err.Error(), says)) {
			t.Errorf("%s: %v, want %q", state, err, says)
		}
	}
	whole := Package{ID: "p", Project: "core"}
	if got, err := OfDocument(whole.Document()); err != nil || got.ID != "p" {
		t.Errorf("a document is read as %+v, %v", got, err)
	}
	if _, err := OfDocument("{"); !errors.Is(err, broker.ErrUnavailable) {
		t.Errorf("half a document: %v", err)
	}
	if _, err := (Package{State: Created}).Moved(Package{State: Enabled}); !errors.Is(err, broker.ErrConflict) {
		t.Errorf("a move that there is not: %v", err)
	}
	away := errors.New("away")
	if err := unreadable(away); !errors.Is(err, away) || errors.Is(err, broker.ErrUnavailable) {
		t.Errorf("an error of the store is told as %v", err)
	}
	if err := unanswered(away); !errors.Is(err, broker.ErrUnreachable) || err.Error() != "addressInformation: the package's server has not sent the whole package; try again" {
		t.Errorf("an error of the way is told as %v", err)
	}
	c := &Catalog{}
	c.Store = noPackages{}
	if _, err := c.Held(t.Context(), "no id"); !errors.Is(err, broker.ErrNotFound) {
		t.Errorf("Held() of no id = %v", err)
	}
	if _, err := c.Held(t.Context(), "c0a8f7de-3b1d-4c55-8a4b-90b1c3d2e5f6"); !errors.Is(err, errNoPackage) {
		t.Errorf("Held() without the store = %v", err)
	}
}

var errNoPackage = errors.New("no package is to be had")

type noPackages struct{ Store }

func (noPackages) Package(context.Context, string) (Package, error) { return Package{}, errNoPackage }

// simple is a descriptor as Tacker's tutorials have it.
const simple = `tosca_definitions_version: tosca_simple_profile_for_nfv_1_0_0
topology_template:
  node_templates:
    VDU1: {type: tosca.nodes.nfv.VDU.Tacker, properties: {vnfcs: {web: {image: nginx}}}}
`

func TestAnOpenedPackageIsTranslated(t *testing.T) {
	open := func(text string) Opened {
		t.Helper()
		csar, err := vnfpkg.Open(strings.NewReader(text), int64(len(text)), vnfpkg.ArchiveLimits{})
		if err != nil {
			t.Fatal(err)
		}
		d, err := csar.Descriptor()
		if err != nil {
			t.Fatal(err)
		}
		return Opened{VNFD: d, csar: csar}
	}
	o := open(simple)
	if made, err := o.Translate("simple", tosca.Options{}); err != nil || !strings.Contains(string(made.Manifests), "image: ") {
		t.Errorf("Translate() = %s, %v", made.Manifests, err)
	}
	if _, err := o.Translate("other", tosca.Options{}); !errors.Is(err, broker.ErrUnavailable) {
		t.Errorf("Translate() of no flavour = %v", err)
	}
	if _, err := open(strings.Replace(simple, "image: nginx", "x: y", 1)).Translate("simple", tosca.Options{}); !errors.Is(err, broker.ErrInvalid) {
		t.Errorf("Translate() of what is not translated = %v", err)
	}
	if files, err := o.Files([]string{"vnfd.yaml"}); err != nil || len(files) != 1 || string(files[0].Text) != simple {
		t.Errorf("Files() = %v, %v", files, err)
	}
	for name, says := range map[string]string{"none": "not in the package: none", "": "it has no name"} {
		if _, err := o.Files([]string{"vnfd.yaml", name}); !errors.Is(err, broker.ErrInvalid) || !strings.Contains(err.Error(), says) {
			t.Errorf("Files() of %q = %v", name, err)
		}
	}
}

// touched is a store in which an upload is another's by now, after so many touches.
type touched struct {
	Store
	after int
}

func (s *touched) TouchPackage(context.Context, string, string, time.Time) error {
	if s.after--; s.after < 0 {
		return broker.ErrConflict
	}
	return nil
}

// An upload says that it is alive until another has taken over, which ends it.
func TestAnUploadEndsWhenAnotherHasTakenOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(Options{Store: &touched{after: 2}})
		began := time.Now()
		kept, end := c.keep(t.Context(), Package{})
		<-kept.Done()
		if took := time.Since(began); took != 3*sayAlive || !errors.Is(context.Cause(kept), errOvertaken) {
			t.Errorf("it ends after %v with %v, want %v", took, context.Cause(kept), 3*sayAlive)
		}
		end()
	})
}

// An upload begins where the package waits for one: not beside another that is alive, in either of its states, for a minute.
func TestWhenAnUploadBegins(t *testing.T) {
	now := time.Unix(1000, 0)
	c := New(Options{Now: func() time.Time { return now }})
	for _, silent := range []time.Duration{0, Abandoned - 1, Abandoned, Abandoned + 1} {
		for state, alive := range map[State]bool{Created: false, Uploading: true, Processing: true, Enabled: true, Disabled: true} {
			p := Package{State: state, Content: "old", TouchedAt: now.Add(-silent)}
			err := c.begin("new")(&p)
			begins := !alive || !state.Onboarded() && silent >= Abandoned
			if begins != (err == nil) || begins != (p.Content == "new" && p.State == Uploading && p.TouchedAt.Equal(now)) || !begins && !errors.Is(err, broker.ErrConflict) {
				t.Errorf("of a package that is %s and silent for %v: %v, %+v", state, silent, err, p)
			}
		}
	}
}

// The labels of a package are the texts among its user data, whatever else is there.
func TestLabelsOfAPackage(t *testing.T) {
	for data, want := range map[string]map[string]string{
		"": nil, "[]": nil, `{}`: {}, `{"a":"b"}`: {"a": "b"}, `{"a":1,"b":"c","d":null,"e":["f"],"g":{"h":"i"},"j":true,"k":""}`: {"b": "c", "k": ""},
	} {
		p := Package{UserData: data}
		if got := p.Resource().Labels; !maps.Equal(got, want) || (got == nil) != (want == nil) {
			t.Errorf("the labels of %s are %v, want %v", data, got, want)
		}
	}
}
