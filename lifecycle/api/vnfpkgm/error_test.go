package vnfpkgm_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/lifecycle/api/vnfpkgm"
	"github.com/vimbroker/vimbroker/lifecycle/catalog"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
	"github.com/vimbroker/vimbroker/policy"
	"github.com/vimbroker/vimbroker/test/doors"
)

// shelf has one package, or an error in its place.
type shelf struct {
	err     error
	p       catalog.Package
	content io.ReadSeeker
	files   func() (*vnfpkg.CSAR, error)
}

func (s *shelf) Create(context.Context, policy.Principal, string) (catalog.Package, error) {
	return s.p, s.err
}

func (s *shelf) Upload(context.Context, policy.Principal, catalog.PackageRef, io.Reader) (catalog.Package, error) {
	return s.p, s.err
}

func (s *shelf) UploadFrom(context.Context, policy.Principal, catalog.PackageRef, catalog.Origin) (catalog.Package, error) {
	return s.p, s.err
}

func (s *shelf) Package(context.Context, policy.Principal, catalog.PackageRef) (catalog.Package, error) {
	return s.p, s.err
}

func (s *shelf) Packages(context.Context, policy.Principal, catalog.Query) ([]catalog.Package, string, error) {
	return []catalog.Package{s.p}, "", s.err
}

func (s *shelf) Modify(context.Context, policy.Principal, catalog.PackageRef, catalog.PackageUpdate) (catalog.Package, error) {
	return s.p, s.err
}

func (s *shelf) Delete(context.Context, policy.Principal, catalog.PackageRef) error { return s.err }

func (s *shelf) Read(context.Context, policy.Principal, catalog.PackageRef) (catalog.PackageReader, error) {
	return catalog.PackageReader{Package: s.p, Content: s.content, Files: s.files}, s.err
}

func (*shelf) MaxSize() int64 { return 1 << 20 }

// show serves a shelf.
func (s *shelf) show(t *testing.T) *client {
	t.Helper()
	c := &client{Client: doors.Serve(t, nil, vnfpkgm.Door(s)), t: t}
	c.Version = "2.1.0"
	return c
}

// opened is an archive, changed.
func opened(t *testing.T, text string, change func(*vnfpkg.CSAR)) func() (*vnfpkg.CSAR, error) {
	t.Helper()
	return func() (*vnfpkg.CSAR, error) {
		csar, err := vnfpkg.Reopen(strings.NewReader(text), int64(len(text)), vnfpkg.ArchiveLimits{})
		if err == nil {
			change(csar)
		}
		return csar, err
	}
}

// spoilt is a package in which a byte of a file is another.
func spoilt(t *testing.T, text, name string) string {
	t.Helper()
	r, err := zip.NewReader(strings.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.File {
		if f.Name == name {
			at, err := f.DataOffset()
			if err != nil {
				t.Fatal(err)
			}
			b := []byte(text)
			b[at+int64(f.CompressedSize64)/2] ^= 0xff
			return string(b)
		}
	}
	t.Fatalf("there is no %s", name)
	return ""
}

// TestErrorsOfPackages: whatever the catalogue refuses is answered as its kind, and a body that is none before it is asked.
func TestErrorsOfPackages(t *testing.T) {
	s := &shelf{err: &broker.Error{Kind: broker.ErrDenied, Detail: "policy says no"}}
	c := s.show(t)
	const one = "/v2/vnf_packages/p"
	for _, ask := range [][3]string{
		{"POST", "/v2/vnf_packages", `{}`},
		{"GET", "/v2/vnf_packages", ""},
		{"GET", one, ""},
		{"PATCH", one, `{"operationalState":"ENABLED"}`},
		{"DELETE", one, ""},
		{"GET", one + "/package_content", ""},
		{"GET", one + "/vnfd", ""},
		{"GET", one + "/manifest", ""},
		{"GET", one + "/artifacts", ""},
		{"GET", one + "/artifacts/a", ""},
		{"POST", one + "/package_content/upload_from_uri", `{"addressInformation":"https://a/"}`},
	} {
		c.want(http.StatusForbidden, "policy says no", ask[0], ask[1], ask[2])
	}
	c.want(http.StatusForbidden, "policy says no", "PUT", one+"/package_content", "x", "Content-Type", zipped)
	s.err = nil
	for _, ask := range [][2]string{{"POST", "/v2/vnf_packages"}, {"PATCH", one}, {"POST", one + "/package_content/upload_from_uri"}} {
		c.want(http.StatusBadRequest, "", ask[0], ask[1], `{"a":`)
	}
	c.want(http.StatusBadRequest, "", "POST", "/v2/vnf_packages", "{")
	c.want(http.StatusUnprocessableEntity, "must be a JSON object", "POST", "/v2/vnf_packages", `{"userDefinedData":7}`)
	c.want(http.StatusBadRequest, "must have operationalState or userDefinedData", "PATCH", one, `{"userDefinedData":null}`)
	c.want(http.StatusOK, `"usageState":"NOT_IN_USE"`, "GET", one, "")
	s.p.InUse = true
	c.want(http.StatusOK, `"usageState":"IN_USE"`, "GET", one, "")
	s.files = func() (*vnfpkg.CSAR, error) {
		return nil, &broker.Error{Kind: broker.ErrUnavailable, Detail: "it cannot be opened"}
	}
	for _, part := range []string{"/vnfd", "/manifest", "/artifacts", "/artifacts/a"} {
		c.want(http.StatusServiceUnavailable, "it cannot be opened", "GET", one+part, "")
	}
}

// failing is a content that fails at its nth move.
type failing struct {
	io.ReadSeeker
	left int
}

func (f *failing) Seek(at int64, from int) (int64, error) {
	if f.left--; f.left < 0 {
		return 0, errors.New("no more")
	}
	return f.ReadSeeker.Seek(at, from)
}

// TestWhatIsStoredIsSpoilt: what cannot be read of a package is said, or cuts off what is sent already.
func TestWhatIsStoredIsSpoilt(t *testing.T) {
	const one, file = "/v2/vnf_packages/p", "Files/kubernetes/secret.yaml"
	text := packed(t, "vnfd-1")
	entry, err := opened(t, text, func(*vnfpkg.CSAR) {})()
	if err != nil {
		t.Fatal(err)
	}
	s := &shelf{content: &failing{strings.NewReader(text), 2}}
	c := s.show(t)
	c.want(http.StatusInternalServerError, "", "GET", one+"/package_content", "", "Range", "bytes=99999999-")
	s.files = opened(t, spoilt(t, text, file), func(*vnfpkg.CSAR) {})
	c.want(http.StatusServiceUnavailable, "the stored VNF package cannot be read", "GET", one+"/artifacts/"+file, "")
	s.files = opened(t, spoilt(t, text, entry.Entry), func(*vnfpkg.CSAR) {})
	for _, part := range []string{"/vnfd", "/artifacts"} {
		if answer, text := c.ask("GET", one+part, ""); answer.StatusCode < 500 {
			t.Errorf("of a descriptor that is spoilt %s = %d, %d bytes", part, answer.StatusCode, len(text))
		}
	}
	whole := opened(t, text, func(*vnfpkg.CSAR) {})
	for name, files := range map[string]func() (*vnfpkg.CSAR, error){
		"whole": whole, "spoilt": opened(t, spoilt(t, text, file), func(*vnfpkg.CSAR) {}),
		"gone": opened(t, text, func(f *vnfpkg.CSAR) { f.Artifacts = append(f.Artifacts, vnfpkg.Artifact{Path: "gone"}) }),
	} {
		s.files = files
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.URL+"/vnfpkgm"+one+"/artifacts", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer alice")
		r.Header.Set("Version", c.Version)
		answer, err := http.DefaultClient.Do(r)
		if err == nil {
			var b []byte
			b, err = io.ReadAll(answer.Body)
			answer.Body.Close()
			if err == nil {
				_, err = zip.NewReader(bytes.NewReader(b), int64(len(b)))
			}
		}
		if (err == nil) != (name == "whole") {
			t.Errorf("artifacts that are %s end with %v", name, err)
		}
	}
}

// TestWhichFilesAreSent: of the artifacts neither manifest nor descriptor, and a descriptor as text where it is one file and no
// archive is taken.
func TestWhichFilesAreSent(t *testing.T) {
	const one = "/v2/vnf_packages/p"
	text := packed(t, "vnfd-1")
	s := &shelf{files: opened(t, text, func(f *vnfpkg.CSAR) {
		f.Manifest = "Files/kubernetes/secret.yaml"
		f.Artifacts = append(f.Artifacts, vnfpkg.Artifact{Path: f.Entry}, vnfpkg.Artifact{Path: f.Manifest})
	})}
	c := s.show(t)
	if got := entries(t, second(c.ask("GET", one+"/artifacts", ""))); strings.Contains(strings.Join(got, " "), "secret.yaml") || strings.Contains(strings.Join(got, " "), "efinitions") || len(got) == 0 {
		t.Errorf("the artifacts are %q", got)
	}
	for accept, kind := range map[string]string{"text/plain": "text/plain", "text/plain, application/zip": zipped, zipped: zipped} {
		if answer, _ := c.ask("GET", one+"/vnfd", "", "Accept", accept); answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Type") != kind {
			t.Errorf("to who takes %s the descriptor is %d of %s", accept, answer.StatusCode, answer.Header.Get("Content-Type"))
		}
	}
	var two bytes.Buffer
	w := zip.NewWriter(&two)
	for _, f := range [][2]string{
		{vnfpkg.MetaFile, "TOSCA-Meta-File-Version: 1.0\nCSAR-Version: 1.1\nCreated-By: x\nEntry-Definitions: Definitions/a.yaml\n"},
		{"Definitions/a.yaml", "tosca_definitions_version: tosca_simple_yaml_1_2\nimports:\n  - b.yaml\n"},
		{"Definitions/b.yaml", "tosca_definitions_version: tosca_simple_yaml_1_2\n"},
	} {
		part, err := w.Create(f[0])
		if err == nil {
			_, err = io.WriteString(part, f[1])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	s.files = opened(t, two.String(), func(*vnfpkg.CSAR) {})
	c.want(http.StatusNotAcceptable, "the VNFD has more files than one: accept application/zip", "GET", one+"/vnfd", "", "Accept", "text/plain")
	if got := strings.Join(entries(t, second(c.ask("GET", one+"/vnfd", "", "Accept", zipped))), " "); got != vnfpkg.MetaFile+" Definitions/a.yaml Definitions/b.yaml" {
		t.Errorf("the descriptor of two files is sent as %s", got)
	}
}
