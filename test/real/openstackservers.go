package real

import (
	"bytes"
	"embed"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"text/template"
)

//go:embed openstack/*.py
var openStackPrograms embed.FS

// serverFiles adds the files of the services that servers need.
func (s settings) serverFiles(templates *template.Template, files map[string][]byte) error {
	for service, file := range map[string]string{
		"placement": "placement/placement.conf", "glance": "glance.conf", "neutron": "neutron.conf", "nova": "nova.conf",
	} {
		var text bytes.Buffer
		if err := templates.ExecuteTemplate(&text, service+".conf", s.As(service)); err != nil {
			return fmt.Errorf("making %s: %w", file, err)
		}
		files[file] = text.Bytes()
	}
	// Those who have this role are shown where networks are.
	var policy bytes.Buffer
	for _, of := range []string{"network_type", "physical_network", "segmentation_id"} {
		fmt.Fprintf(&policy, "\"get_network:provider:%s\": \"role:admin or role:creator\"\n", of)
	}
	files["neutron-policy.yaml"] = policy.Bytes()
	for _, name := range []string{"cells.py", "networks.py", "servers.py"} {
		text, err := openStackPrograms.ReadFile("openstack/" + name)
		if err != nil {
			return fmt.Errorf("reading %s: %w", name, err)
		}
		files[name] = text
	}
	return nil
}

// Image makes an image of a name, which everybody may boot.
func (o *Cloud) Image(t testing.TB, name string) {
	t.Helper()
	var image struct{ ID string }
	o.Do(t, http.MethodPost, o.URL(Glance)+"/v2/images", object{
		"name": name, "disk_format": "raw", "container_format": "bare", "visibility": "public",
	}, &image)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, o.URL(Glance)+"/v2/images/"+image.ID+"/file", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	o.mu.Lock()
	request.Header.Set("X-Auth-Token", o.token)
	o.mu.Unlock()
	request.Header.Set("Content-Type", "application/octet-stream")
	response, err := plainClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusNoContent {
		t.Fatalf("Glance takes no image: %s", response.Status)
	}
}

// Flavor makes a flavor with a name, which is its id too, and so many MiB of memory. Servers of the flavor "slow" are
// built until they are deleted.
func (o *Cloud) Flavor(t testing.TB, name string, memory int) {
	t.Helper()
	o.Do(t, http.MethodPost, o.URL(Nova)+"/v2.1/flavors", object{
		"flavor": object{"id": name, "name": name, "ram": memory, "vcpus": 1, "disk": 1},
	}, nil)
}

// Network makes a network of a name with one subnet, in a tenant's project.
func (o *Cloud) Network(t testing.TB, who Tenant, name, cidr string) {
	t.Helper()
	var made struct{ Network struct{ ID string } }
	o.Do(t, http.MethodPost, o.URL(Neutron)+"/v2.0/networks", object{"network": object{"name": name, "project_id": who.ProjectID}}, &made)
	o.Do(t, http.MethodPost, o.URL(Neutron)+"/v2.0/subnets", object{"subnet": object{
		"network_id": made.Network.ID, "ip_version": 4, "cidr": cidr, "project_id": who.ProjectID,
	}}, nil)
}

// Provider makes a network of a VLAN on physnet1, on which the cloud's host is, or with 0 a flat one, for a tenant, and returns its
// id. Addresses go from .10 to last.
func (o *Cloud) Provider(t testing.TB, who Tenant, name, prefix, last string, vlan int) string {
	t.Helper()
	if err := o.sql(t.Context(), `update neutron.agents set configurations = '{"bridge_mappings": {"physnet1": "br-ex"},
		"tunnel_types": ["vxlan"], "tunneling_ip": "127.0.0.1", "datapath_type": "system"}'`); err != nil {
		t.Fatal(err)
	}
	var made struct{ Network struct{ ID string } }
	network := object{
		"name": name, "project_id": who.ProjectID, "provider:network_type": "flat", "provider:physical_network": "physnet1", "mtu": 1400,
	}
	if vlan != 0 {
		network["provider:network_type"], network["provider:segmentation_id"] = "vlan", vlan
	}
	o.Do(t, http.MethodPost, o.URL(Neutron)+"/v2.0/networks", object{"network": network}, &made)
	o.Do(t, http.MethodPost, o.URL(Neutron)+"/v2.0/subnets", object{"subnet": object{
		"network_id": made.Network.ID, "ip_version": 4, "cidr": prefix + "0/24", "project_id": who.ProjectID,
		"allocation_pools": []object{{"start": prefix + "10", "end": prefix + last}},
	}}, nil)
	return made.Network.ID
}

// Server is one of Nova's, as its tenant sees it.
type Server struct {
	ID, Status string
	Flavor     struct{ ID string }
	// Addresses are by the names of networks.
	Addresses map[string][]struct{ Addr string }
}

// Servers are those of a tenant's project, by their ids.
func (o *Cloud) Servers(t testing.TB, who Tenant) map[string]Server {
	t.Helper()
	var all struct{ Servers []Server }
	o.asTenant(t, who, o.URL(Nova)+"/v2.1/servers/detail", &all)
	servers := map[string]Server{}
	for _, s := range all.Servers {
		servers[s.ID] = s
	}
	return servers
}

// Networking are the ids of what Neutron has in a tenant's project: of kind "ports", "networks" or "security-groups".
func (o *Cloud) Networking(t testing.TB, who Tenant, kind string) (ids []string) {
	t.Helper()
	var all map[string][]struct{ ID string }
	o.asTenant(t, who, o.URL(Neutron)+"/v2.0/"+kind, &all)
	for _, list := range all {
		for _, one := range list {
			ids = append(ids, one.ID)
		}
	}
	slices.Sort(ids)
	return ids
}

func (o *Cloud) asTenant(t testing.TB, who Tenant, url string, into any) {
	t.Helper()
	token, err := o.LogIn(t.Context(), who, nil)
	if err != nil {
		t.Fatal(err)
	}
	if status := o.As(t, token, http.MethodGet, url, nil, into); status != http.StatusOK {
		t.Fatalf("GET %s answers %d", url, status)
	}
}
