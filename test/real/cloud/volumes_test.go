package cloud_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/vimbroker/vimbroker/broker/api/sol003"
	"github.com/vimbroker/vimbroker/test/field"
	"github.com/vimbroker/vimbroker/test/real"
	"github.com/vimbroker/vimbroker/test/story"
)

// volumes is as much of Cinder as the real Heat asks for.
type volumes struct {
	mu  sync.Mutex
	all map[string]bool
}

func (v *volumes) ids() (ids []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for id := range v.all {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

func (v *volumes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v.mu.Lock()
	defer v.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	id := filepath.Base(r.URL.Path)
	switch {
	case strings.HasSuffix(r.URL.Path, "/volumes") && r.Method == http.MethodPost:
		id = uuid.NewString()
		v.all[id] = true
		w.WriteHeader(http.StatusAccepted)
	case !v.all[id]:
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(`{"itemNotFound": {"code": 404, "message": "no such volume"}}`))
		return
	case r.Method == http.MethodDelete:
		delete(v.all, id)
		w.WriteHeader(http.StatusAccepted)
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"volume": map[string]any{
		"id": id, "status": "available", "name": id, "size": 1, "attachments": []any{}, "metadata": map[string]any{},
	}})
}

// TestFieldVolumesOfAStack: the volumes that the real Heat makes, in a nested stack too, are the storages of the instance,
// by the ids of whoever keeps them; Debian's cloud here has no Cinder, so the test is one.
func TestFieldVolumesOfAStack(t *testing.T) {
	field.Only(t)
	o := real.OwnOpenStack(t, real.OpenStackOptions{})
	tenant := o.Project(t)
	cinder := &volumes{all: map[string]bool{}}
	server := httptest.NewServer(cinder)
	t.Cleanup(server.Close)
	var made struct{ Service struct{ ID string } }
	o.Do(t, http.MethodPost, o.AuthURL+"/services", map[string]any{"service": map[string]any{"name": "cinder", "type": "volumev3"}}, &made)
	o.Do(t, http.MethodPost, o.AuthURL+"/endpoints", map[string]any{"endpoint": map[string]any{
		"service_id": made.Service.ID, "interface": "public", "region_id": "RegionOne", "url": server.URL + "/v3/%(tenant_id)s",
	}}, nil)
	s := story.NewSite(t, story.Build(t, t.TempDir()), "sol003: {enabled: true}\n")
	s.Write(t, "root/clouds.yaml", fmt.Sprintf("clouds: {one: {auth: {auth_url: %q, user_id: %q, password: %q, project_id: %q}}}\n",
		o.AuthURL, tenant.UserID, tenant.Password, tenant.ProjectID))
	dir := filepath.Join(s.Dir, "vnf", "BaseHOT", "simple")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "top.yaml"), []byte(`heat_template_version: 2018-08-31
resources:
  shared: {type: OS::Cinder::Volume, properties: {size: 1}}
  data:
    type: OS::Heat::ResourceGroup
    properties: {count: 2, resource_def: {type: OS::Cinder::Volume, properties: {size: 1}}}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"vim register --clouds-yaml clouds.yaml --cloud one cloud", "package create vnf --vnfd vnf --out vnf.csar", "package upload vnf.csar",
		"vnf create --vnfd vnf disks", "vnf instantiate disks --vim cloud --wait",
	} {
		s.Must(t, "vimbroker "+line)
	}
	var shown sol003.VNFInstance
	if err := json.Unmarshal([]byte(s.Must(t, "vimbroker vnf show -o json disks")), &shown); err != nil || shown.Instantiated == nil {
		t.Fatalf("the instance is %+v, %v", shown, err)
	}
	var ids, names []string
	for _, one := range shown.Instantiated.Storages {
		ids, names = append(ids, one.Storage.ResourceID), append(names, one.Storage.Type+" "+one.DescID)
	}
	slices.Sort(ids)
	if want := cinder.ids(); !slices.Equal(ids, want) || len(want) != 3 {
		t.Errorf("the storages are %q, and Cinder's volumes %q", ids, want)
	}
	if want := "OS::Cinder::Volume data, OS::Cinder::Volume data, OS::Cinder::Volume shared"; strings.Join(names, ", ") != want {
		t.Errorf("they are called %q, want %s", names, want)
	}
	s.Must(t, "vimbroker vnf terminate disks --wait")
	if left := cinder.ids(); len(left) > 0 {
		t.Errorf("after terminate there are %q", left)
	}
}
