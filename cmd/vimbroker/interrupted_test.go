package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestAnUploadThatIsInterruptedLeavesNothing: the package that was made for it is deleted, although the command ends.
func TestAnUploadThatIsInterruptedLeavesNothing(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	var asked []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.Path)
		switch r.Method {
		case http.MethodPost:
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusCreated)
			_, _ = io.WriteString(w, `{"id": "p-1"}`)
		case http.MethodPut:
			_, _ = io.Copy(io.Discard, r.Body)
			interrupt()
			<-r.Context().Done() // the command has hung up
		default:
			w.WriteHeader(http.StatusNoContent)
		}
	}))
	defer s.Close()
	var out, errs bytes.Buffer
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.yaml"), []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	code := run(ctx, []string{"package", "upload", dir}, nil, &out, &errs, []string{"VIMBROKER_ADDR=" + s.URL, "VIMBROKER_TOKEN=t", "HOME=" + dir})
	const packages = "/vnfpkgm/v2/vnf_packages"
	if want := []string{"POST " + packages, "PUT " + packages + "/p-1/package_content", "DELETE " + packages + "/p-1"}; !slices.Equal(asked, want) || code == 0 {
		t.Errorf("asked %q, exit %d, %s; want %q", asked, code, &errs, want)
	}
}
