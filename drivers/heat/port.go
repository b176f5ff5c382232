package heat

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/vimbroker/vimbroker/lifecycle"
)

const (
	// portType is the type of resources that connect servers.
	portType = "OS::Neutron::Port"
	// maxPorts bounds the ports of a stack whose addresses are asked for: Heat asks Neutron about each.
	maxPorts = 256
)

// port is a resource of that type, with what Neutron says of it.
type port struct {
	Name       string `json:"resource_name"`
	Physical   string `json:"physical_resource_id"`
	Attributes struct {
		Device string    `json:"device_id"`
		MAC    string    `json:"mac_address"`
		IPs    []address `json:"fixed_ips"`
	} `json:"attributes"`
}

type address struct {
	Subnet  string `json:"subnet_id"`
	Address string `json:"ip_address"`
}

// connected are the connection points of servers, by the servers' ids. A stack with too many ports has none here.
func (s *server) connected(ctx context.Context, k *stack, all []part) (map[string][]lifecycle.CP, error) {
	ports := 0
	for _, p := range all {
		if p.Type == portType {
			ports++
		}
	}
	if ports == 0 || ports > maxPorts {
		return nil, nil
	}
	var body struct {
		Resources []port `json:"resources"`
	}
	query := url.Values{"nested_depth": {"10"}, "type": {portType}, "with_detail": {"true"}}
	if err := s.call(ctx, http.MethodGet, k.path()+"/resources?"+query.Encode(), nil, &body,
		"look at the ports of stack "+k.Name); err != nil {
		return nil, err
	}
	points := map[string][]lifecycle.CP{}
	for _, p := range body.Resources[:min(len(body.Resources), maxPorts)] {
		if isID(p.Physical) && printable(p.Name) == p.Name {
			points[p.Attributes.Device] = append(points[p.Attributes.Device], p.point())
		}
	}
	for _, of := range points {
		slices.SortFunc(of, func(a, b lifecycle.CP) int { return strings.Compare(a.CPD+" "+a.ID, b.CPD+" "+b.ID) })
	}
	return points, nil
}

// maxAddresses bounds the addresses of a port that are kept.
const maxAddresses = 16

// point is a port in the form of a connection point. Values that are no addresses are left out.
func (p port) point() lifecycle.CP {
	c := lifecycle.CP{CPD: p.Name, ID: p.Physical}
	if mac, err := net.ParseMAC(p.Attributes.MAC); err == nil {
		c.MAC = mac.String()
	}
	for _, a := range p.Attributes.IPs[:min(len(p.Attributes.IPs), maxAddresses)] {
		if ip, err := netip.ParseAddr(a.Address); err == nil && ip.Zone() == "" && isID(a.Subnet) {
			if c.Addresses == nil {
				c.Addresses = map[string][]string{}
			}
			c.Addresses[a.Subnet] = append(c.Addresses[a.Subnet], ip.String())
		}
	}
	return c
}
