// Package spec says what a virtual link or a volume is to be, for itself and for those who ask for one.
package spec

// LinkSpec is the network of a virtual link. On a cloud it is a network, and with CIDR or SubnetPool a subnet.
type LinkSpec struct {
	CIDR         string         `json:"cidr,omitempty" doc:"Prefix of its addresses" example:"10.0.0.0/24"`
	SubnetPool   string         `json:"subnetPool,omitempty" doc:"Id of a subnet pool of the cloud that gives the prefix"`
	Gateway      string         `json:"gateway,omitempty" doc:"Address of the gateway, or none; absent leaves it to the VIM"`
	Pools        []AddressRange `json:"allocationPools,omitempty" doc:"Addresses that are given out; absent means all" maxItems:"20"`
	DNS          []string       `json:"dns,omitempty" doc:"Addresses of name servers" maxItems:"10"`
	MTU          int            `json:"mtu,omitempty" doc:"Largest packet; absent leaves it to the VIM"`
	DHCP         *bool          `json:"dhcp,omitempty" doc:"Whether addresses are given by DHCP; absent leaves it to the VIM"`
	Segment      *LinkSegment   `json:"segment,omitempty" doc:"A network of the cloud's own; needs link:adopt"`
	Router       string         `json:"router,omitempty" doc:"Id of a router that gets an interface; needs link:adopt"`
	PortSecurity *bool          `json:"portSecurity,omitempty" doc:"false lets ports send as any address; needs link:adopt"`
	Rules        []SecurityRule `json:"securityRules,omitempty" doc:"Rules of a security group for ports on it: nothing else gets in or out" maxItems:"100"`
	NAD          *PodNetwork    `json:"nad,omitempty" doc:"How pods get an interface, on Kubernetes"`
}

// AddressRange are addresses from one to another.
type AddressRange struct {
	Start string `json:"start" doc:"First address"`
	End   string `json:"end" doc:"Last address"`
}

// LinkSegment is a network of the cloud's own.
type LinkSegment struct {
	Type     string `json:"type" doc:"Type" enum:"vlan,vxlan,flat"`
	Physical string `json:"physicalNetwork,omitempty" doc:"Name of the physical network"`
	ID       int    `json:"id,omitempty" doc:"VLAN or VNI"`
}

// SecurityRule permits traffic.
type SecurityRule struct {
	Direction string `json:"direction" doc:"Which way" enum:"ingress,egress"`
	Protocol  string `json:"protocol,omitempty" doc:"tcp, udp, icmp or sctp; absent means any"`
	From      int    `json:"portMin,omitempty" doc:"First port"`
	To        int    `json:"portMax,omitempty" doc:"Last port; absent means any"`
	Remote    string `json:"remote,omitempty" doc:"Prefix of the other side; absent means any"`
}

// PodNetwork says how pods get an interface. The configuration of the plugin is written from it, and from CIDR, MTU and DNS.
type PodNetwork struct {
	Type     string `json:"type" doc:"Plugin" enum:"bridge,macvlan,ipvlan,vlan,sriov,host-device,ovs"`
	Device   string `json:"device,omitempty" doc:"Bridge or interface of nodes; of host-device a PCI address too"`
	Mode     string `json:"mode,omitempty" doc:"Mode of macvlan or ipvlan"`
	VLAN     int    `json:"vlan,omitempty" doc:"VLAN"`
	Resource string `json:"resource,omitempty" doc:"Resource of a device plugin, of sriov"`
}

// Span is an administrator's word that the nodes of a cluster reach the network of a link on a cloud.
type Span struct {
	VIM       string `json:"vim" doc:"Id or name of the cluster; its id in answers" minLength:"1" example:"edge-1"`
	Physical  string `json:"physicalNetwork" doc:"The cloud's name of the physical network that the nodes are on" example:"physnet1"`
	Interface string `json:"interface" doc:"Interface of the nodes on it: the trunk, or that of the VLAN alone, as bond0.100" example:"bond0"`
	IPAM      string `json:"ipam,omitempty" doc:"What gives pods addresses; whereabouts, where the cluster has it, lets a workload have several" enum:"static,whereabouts" example:"whereabouts"`
}

// VolumeSpec is the claim of a volume, on Kubernetes.
type VolumeSpec struct {
	Namespace string   `json:"namespace,omitempty" doc:"Namespace of the claim, and of the instances that use it; absent means the VIM's" example:"edge"`
	Size      string   `json:"size,omitempty" doc:"How much it holds" example:"10Gi"`
	Class     string   `json:"storageClass,omitempty" doc:"Storage class; absent leaves it to the cluster"`
	Modes     []string `json:"accessModes,omitempty" doc:"How pods may mount it; absent means ReadWriteOnce" maxItems:"4"`
}
