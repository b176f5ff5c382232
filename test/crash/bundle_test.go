package crash_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"

	"github.com/vimbroker/vimbroker/test/csar"
)

// onap asks at ONAP's door.
func onap(s *scene, want int, method, path string, body []byte, kind ...string) error {
	r, err := http.NewRequestWithContext(s.ctx(), method, s.URL+"/onap/v1"+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.SetBasicAuth("sdk", s.token)
	if len(kind) > 0 {
		r.Header.Set("Content-Type", kind[0])
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	if answer.StatusCode != want {
		return fmt.Errorf("%s %s = %d: %s", method, path, answer.StatusCode, text)
	}
	return nil
}

const rb = "/rb/definition/rb/1"

func define(s *scene) {
	s.t.Helper()
	err := onap(s, 201, "POST", "/rb/definition", []byte(`{"rb-name": "rb", "rb-version": "1"}`))
	if err == nil {
		err = onap(s, 201, "POST", rb+"/profile", []byte(`{"profile-name": "p", "namespace": "default"}`))
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

func uploadChart(s *scene) error {
	return onap(s, 200, "POST", rb+"/content", csar.TarGz("web/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n"))
}

func uploadValues(s *scene) error {
	return onap(s, 200, "POST", rb+"/profile/p/content",
		csar.TarGz("manifest.yaml", "version: v1\ntype: {values: a.yaml}\n", "a.yaml", "password: canary-of-the-crash-kit\n"))
}

var (
	// uploadingAChart: the content can be uploaded again, one package is left, and it goes with the definition.
	uploadingAChart = scenario{
		name: "upload the content of a definition", prepare: define, act: uploadChart,
		after: func(s *scene) {
			eventually(s.t, "the content can be uploaded", func() error { return uploadChart(s) })
			var n int
			if err := s.query(`SELECT count(*) FROM vnf_packages`, &n); err != nil || n != 1 {
				s.t.Errorf("%d packages, %v, want 1", n, err)
			}
			if err := onap(s, 204, "DELETE", rb, nil); err != nil {
				s.t.Error(err)
			}
			if err := s.query(`SELECT count(*) FROM vnf_packages`, &n); err != nil || n != 0 {
				s.t.Errorf("%d packages, %v, want none", n, err)
			}
		},
	}

	// sealingAProfile: the row settles at the next start, and takes another content.
	sealingAProfile = scenario{
		name: "upload the content of a profile", prepare: define, act: uploadValues,
		after: func(s *scene) {
			eventually(s.t, "the row is settled", func() error {
				var n int
				err := s.query(`SELECT count(*) FROM vnf_bundles WHERE state <> 'active'`, &n)
				if err == nil && n > 0 {
					err = fmt.Errorf("%d are not", n)
				}
				return err
			})
			if err := uploadValues(s); err != nil {
				s.t.Error(err)
			}
			if err := onap(s, 204, "DELETE", rb, nil); err != nil {
				s.t.Error(err)
			}
		},
	}

	// recordingARegion: a region whose records were not sealed can be deleted, and made with them.
	recordingARegion = scenario{
		name: "register a region with records", prepare: func(*scene) {}, act: postRegion,
		after: func(s *scene) {
			if err := onap(s, 204, "DELETE", "/connectivity-info/edge", nil); err != nil {
				s.t.Error(err)
			}
			eventually(s.t, "the region is made again", func() error { return postRegion(s) }) // the VIM of before may be draining
		},
	}
)

func postRegion(s *scene) error {
	var out bytes.Buffer
	w := multipart.NewWriter(&out)
	f, err := w.CreateFormFile("file", "file")
	if err != nil {
		return err
	}
	r := s.kube.registration(s.t, "edge")
	_, _ = fmt.Fprintf(f, `{"apiVersion": "v1", "kind": "Config", "current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
		"clusters": [{"name": "c", "cluster": {"server": %q, "certificate-authority-data": %q}}], "users": [{"name": "u", "user": {"token": %q}}]}`,
		r.Endpoint, base64.StdEncoding.EncodeToString([]byte(r.CACert)), r.Credential.Token.Reveal())
	_ = w.WriteField("metadata", `{"cloud-region": "edge", "cloud-owner": "me", "other-connectivity-list": {"connectivity-records": [
		{"connectivity-record-name": "ovn", "password": "canary-of-the-crash-kit"}]}}`)
	_ = w.Close()
	return onap(s, 201, "POST", "/connectivity-info", out.Bytes(), w.FormDataContentType())
}
