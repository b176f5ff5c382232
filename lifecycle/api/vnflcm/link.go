package vnflcm

import (
	"cmp"
	"net/netip"
	"slices"

	"github.com/vimbroker/vimbroker/broker"
	"github.com/vimbroker/vimbroker/broker/api/sol003"
	"github.com/vimbroker/vimbroker/lifecycle"
	"github.com/vimbroker/vimbroker/lifecycle/vnfpkg"
)

// Bounds on the networks of a request.
const maxLinks, maxCPs, maxFixed = 200, 200, 16

// links are the virtual links that a request would have an instance use; nil where it says nothing of them.
func links(asked sol003.AskedLinks) (all []lifecycle.Link, err error) {
	if len(asked.External) > maxLinks || len(asked.Managed) > maxLinks {
		return nil, broker.Invalid("extVirtualLinks", "or extManagedVirtualLinks has more than %d links", maxLinks)
	}
	for _, of := range asked.External {
		switch {
		case of.ResourceID == "" || len(of.CPs) == 0 || len(of.CPs) > maxCPs:
			return nil, broker.Invalid("extVirtualLinks", "%s needs a resourceId, and 1 to %d extCps", vnfpkg.Printable(of.ID), maxCPs)
		case len(of.Ports) > 0:
			return nil, broker.Invalid("extVirtualLinks", "%s has extLinkPorts, and no port of others is taken", vnfpkg.Printable(of.ID))
		}
		for _, p := range of.CPs {
			if fault := wrong(p); fault != "" {
				return nil, broker.Invalid("extVirtualLinks", "connects %s and %s", vnfpkg.Printable(p.CPDID), fault)
			}
		}
		all = append(all, lifecycle.Link{Ext: of.ID, Name: of.ResourceID, CPs: of.CPs})
	}
	for _, of := range asked.Managed {
		if of.ResourceID == "" || of.DescID == "" {
			return nil, broker.Invalid("extManagedVirtualLinks", "%s needs a resourceId and a vnfVirtualLinkDescId", vnfpkg.Printable(of.ID))
		}
		all = append(all, lifecycle.Link{Ext: of.ID, Name: of.ResourceID, VL: of.DescID})
	}
	return all, nil
}

// wrong is what is wrong with a connection point of a request. All that it says is done, or is refused.
func wrong(p sol003.ExtCP) string {
	if p.CPDID == "" || len(p.Config) > 1 || vnfpkg.Printable(p.ConfigID()) != p.ConfigID() {
		return "needs a cpdId and at most one cpConfig"
	}
	of := p.Config[p.ConfigID()]
	if of.PortID != "" {
		return "names a linkPortId: no port of others is taken"
	}
	for _, data := range of.Protocol {
		if data.Layer != "IP_OVER_ETHERNET" || data.Address.MAC != "" {
			return "asks for another layer than IP_OVER_ETHERNET, or for a MAC address"
		}
		for _, ips := range data.Address.IPs {
			if len(ips.Fixed) > maxFixed || ips.Dynamic > 1 || len(ips.Fixed) > 0 && ips.Dynamic > 0 || len(ips.Addresses) > 0 {
				return "asks for too many addresses, or for fixed and dynamic ones at once"
			}
			for _, ip := range ips.Fixed {
				if _, err := netip.ParseAddr(ip); err != nil {
					return "has a fixed address that is none"
				}
			}
		}
	}
	return ""
}

// network is what a link is on its VIM.
func network(on lifecycle.Shape, k lifecycle.Link) sol003.ResourceHandle {
	h := sol003.ResourceHandle{VIMConnectionID: connectionOf(on, k.Part), ResourceID: k.Made.Network, Type: "OS::Neutron::Net"}
	if k.Spec.NAD != nil {
		h.ResourceID, h.Type = k.Name, "NetworkAttachmentDefinition"
	}
	return h
}

func externalLinks(on lifecycle.Shape, all []lifecycle.Link) (shown []sol003.ExtLinkInfo) {
	for _, k := range all {
		if k.VL != "" {
			continue
		}
		one := sol003.ExtLinkInfo{ID: cmp.Or(k.Ext, k.ID), Handle: network(on, k), CPs: k.CPs}
		for _, p := range k.Ports {
			one.Ports = append(one.Ports, sol003.ExtLinkPort{ID: p.Name, Handle: sol003.ResourceHandle{ResourceID: p.ID, Type: "OS::Neutron::Port"}})
		}
		at := slices.IndexFunc(shown, func(other sol003.ExtLinkInfo) bool { return other.ID == one.ID })
		if at < 0 {
			shown = append(shown, one)
			continue
		}
		shown[at].CPs, shown[at].Ports = slices.Concat(shown[at].CPs, one.CPs), slices.Concat(shown[at].Ports, one.Ports) // of two parts
	}
	return shown
}

// connected adds the virtual links of an instance to what is shown of it.
func connected(info *sol003.InstantiatedVNFInfo, s lifecycle.Shape) {
	info.ExtLinks = externalLinks(s, s.Links)
	for _, k := range s.Links {
		if k.VL == "" {
			continue
		}
		one := linkInfo(s, k)
		if info.Links = append(info.Links, one); !k.Own {
			one.ID = cmp.Or(k.Ext, k.ID)
			info.Managed = append(info.Managed, one)
		}
	}
}

func linkInfo(on lifecycle.Shape, k lifecycle.Link) sol003.LinkInfo {
	return sol003.LinkInfo{ID: k.ID, DescID: k.VL, Network: network(on, k)}
}

func affectedLinks(on lifecycle.Shape, all []lifecycle.AffectedLink) (shown []sol003.LinkInfo) {
	for _, k := range all {
		one := linkInfo(on, k.Link)
		one.ChangeType = string(k.Change)
		shown = append(shown, one)
	}
	return shown
}
