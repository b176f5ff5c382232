package crash_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/vimbroker/vimbroker/broker/api/client"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
	"github.com/vimbroker/vimbroker/test/quickstore"
)

// packed is a VNF package of more than one chunk.
func packed(t testing.TB) []byte {
	t.Helper()
	noise := make([]byte, 1<<20+1<<19) // which no compression makes smaller
	state := uint32(1)
	for i := range noise {
		state = state*1664525 + 1013904223
		noise[i] = byte(state >> 24)
	}
	var b bytes.Buffer
	err := vnfpkg.Pack(&b, vnfpkg.Assembly{
		VNFDID: "crash-kit", Provider: "Acme", ProductName: "web", SoftwareVersion: "1.0", Version: "1.0",
		Manifests: []vnfpkg.ManifestFile{{Path: "a.yaml", Text: []byte("kind: Service\n")}, {Path: "noise", Text: noise}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func upload(s *scene, id string) error {
	content := packed(s.t)
	return s.UploadPackage(s.ctx(), id, bytes.NewReader(content), int64(len(content)))
}

func packages(s *scene) (all []client.Package) {
	s.t.Helper()
	for p, err := range s.AllPackages(s.ctx()) {
		if err != nil {
			s.t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}

var (
	uploading = scenario{
		name: "upload a package",
		prepare: func(s *scene) {
			if _, err := s.CreatePackage(s.ctx(), nil); err != nil {
				s.t.Fatal(err)
			}
		},
		act:   func(s *scene) error { return upload(s, packages(s)[0].ID) },
		after: uploadedAgain,
	}

	uploadingInVain = scenario{
		name:    "upload what is no package",
		prepare: uploading.prepare,
		act: func(s *scene) error {
			return s.UploadPackage(s.ctx(), packages(s)[0].ID, bytes.NewReader(make([]byte, 100)), 100)
		},
		after: uploadedAgain,
	}
)

// uploadedAgain proves that the package is onboarded, or waits for its content and gets it
// by a repeat; and that there are no bytes but those of the one content.
func uploadedAgain(s *scene) {
	eventually(s.t, "no upload is under way", func() error {
		if p := packages(s)[0]; p.OnboardingState != "CREATED" && p.OnboardingState != "ONBOARDED" {
			return fmt.Errorf("the package is %s", p.OnboardingState)
		}
		return nil
	})
	p := packages(s)[0]
	if p.OnboardingState == "CREATED" {
		if n := chunks(s); n != 0 {
			s.t.Errorf("%d chunks are left of an upload that was killed", n)
		}
		if err := upload(s, p.ID); err != nil {
			s.t.Errorf("the repeated upload = %v", err)
		}
	}
	if p = packages(s)[0]; p.OnboardingState != "ONBOARDED" || p.OperationalState != "ENABLED" || p.VNFDID != "crash-kit" {
		s.t.Errorf("the package is %+v", p)
	}
	if n := chunks(s); n != 2 {
		s.t.Errorf("a package of two chunks is stored in %d", n)
	}
	var whole bytes.Buffer
	if _, err := s.DownloadPackage(s.ctx(), p.ID, &whole); err != nil || !bytes.Equal(whole.Bytes(), packed(s.t)) {
		s.t.Errorf("its content has %d bytes, %v", whole.Len(), err)
	}
}

// query reads a number from the database.
func (s *scene) query(text string, into any) error {
	db, err := quickstore.Raw(filepath.Join(s.dir, "vimbroker.db"))
	if err != nil {
		return err
	}
	defer db.Close()
	return db.QueryRowContext(s.ctx(), text).Scan(into)
}

// chunks counts what the database has of all contents.
func chunks(s *scene) (n int) {
	s.t.Helper()
	if err := s.query(`SELECT count(*) FROM vnf_package_chunks`, &n); err != nil {
		s.t.Fatal(err)
	}
	return n
}
